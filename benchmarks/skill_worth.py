"""Measure what single plan skills are worth to a player that explores, fights and takes stairs.

    python benchmarks/skill_worth.py --out FOLDER [--games 20] [--skills strike rest ...]

The player has a fixed order of wishes and none of the skills that play by themselves (`dive`, `play_on`,
`fetch_digger`; `benchmarks/plan.py without` measures those). It plays the same games with all of them and
without one at a time; a game that it has played is read from FOLDER, so the command continues what was
stopped. Characters are random.
"""

import argparse
import json
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from balrog_rag.bots.floor import ENEMY
from balrog_rag.results.statistics.interval import mean_interval
from balrog_rag.results.statistics.units import Bounds, Score
from benchmarks.plan import played, shown
from examples.rule_model import DIGGER, HP, HUNGER, PRAYED

FIRST_SEED = 7000
PAUSE = 12
"""Calls for which a skill that failed, or was done at once, is left out."""
TIME = re.compile(r"T:(\d+)")
SKILLS = (
    *("pray", "retreat", "hold_out", "rest", "eat", "throw_at", "melee_attack", "strike", "equip", "collect"),
    *("go_to", "search_hidden", "dig_down"),
)


class Careful:
    """The fixed order of wishes, without one skill; it remembers what was in vain."""

    def __init__(self, without: str) -> None:
        """`without` is the name of a skill that it never calls; "" for none."""
        self._vain, self._calls, self._without, self._last, self._time = dict[str, int](), 0, without, "", ""

    def __call__(self, now: str, told: str) -> str:
        """Return the next call."""
        self._calls += 1
        time = found[1] if (found := TIME.search(now)) else ""
        if "failed" in told or time == self._time:
            self._vain[self._last] = self._calls
        self._time = time
        for call in self._wishes(now):
            name = call.split()[0]
            if name != self._without and self._calls - self._vain.get(name, -PAUSE) >= PAUSE:
                self._last = name
                return call
        return "press_key s"

    def _wishes(self, now: str) -> Iterator[str]:
        hp, most = map(int, found.groups()) if (found := HP.search(now)) else (1, 1)
        prayed, enemy = PRAYED.search(now), ENEMY.search(now.partition("close monsters:")[2].split("\n\n")[0])
        if (hp * 7 < most or hp <= 5) and (prayed is None or int(prayed[1]) > 900):
            yield "pray"
        if HUNGER.search(now):
            yield from ("eat", "pray")
        if enemy and hp * 3 < most:
            yield from ("retreat", "hold_out 20")
        if enemy:
            where = f"{enemy[1]} {enemy[2]}"
            yield from (f"throw_at {where}", "strike", f"melee_attack {where}")
        if hp * 2 < most:
            yield "rest"
        if not self._calls % PAUSE:
            yield from ("equip", "collect useful")
        if DIGGER.search(now):
            yield "dig_down"
        yield from ("down", "explore_level", "go_to door", "search_hidden", "move_to 40 10")


def measured(without: str, games: int, folder: Path) -> list[float]:
    """Play the games that were not played yet; return the progression of all."""
    file, known = folder / f"without_{without or 'nothing'}.jsonl", dict[int, float]()
    if file.is_file():
        known = {line["seed"]: line["percent"] for line in map(json.loads, file.read_text().splitlines())}
    for seed in range(FIRST_SEED, FIRST_SEED + games):
        if seed not in known:
            known[seed], calls = played(Careful(without), seed)
            with file.open("a") as lines:
                lines.write(json.dumps({"seed": seed, "percent": known[seed], "calls": calls}) + "\n")
    return [known[FIRST_SEED + game] for game in range(games)]


def main() -> None:
    """Print what the player loses without each skill."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--skills", nargs="*", choices=SKILLS, default=SKILLS)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    whole = measured("", options.games, options.out)
    print(f"all skills: {shown(whole)}", flush=True)
    for skill in options.skills:
        less = measured(skill, options.games, options.out)
        gains = [Score(own - other) for own, other in zip(whole, less, strict=True)]
        found = mean_interval(gains, Bounds(-100.0))
        mean = statistics.mean(gain.value for gain in gains)
        print(f"{skill:14} {mean:+.2f} [{found.low:+.2f}, {found.high:+.2f}], n {options.games}", flush=True)


if __name__ == "__main__":
    main()
