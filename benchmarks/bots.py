"""Evaluate the player without a model: many games directly on the engine, by role, with intervals.

    python benchmarks/bots.py [--games 100] [--seed 0] [--character @] [--processes 1] [--log FILE]
    python benchmarks/bots.py --compare FILE OTHER      # the same games of two logs, in pairs

Game n of a seed has the game seeds of episode n of a run with that `run.seed`. `--plan mines=3 murder=false`
sets what `agent.options` can. A log has the last messages, the hit points on arrival at each depth, and a
digest of the keys: equal digests mean that two versions pressed the same keys. Games that a log has are not
played again.
"""

import argparse
import hashlib
import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import mean, median, stdev

from rich.console import Console
from rich.table import Table

from balrog_rag.bots.nethack.delver import delver
from balrog_rag.bots.nethack.delver.state import Plan, plan_of
from balrog_rag.contracts.data import GameSpec
from balrog_rag.envs.nethack.game import NetHackEngine
from balrog_rag.envs.nethack.held_progression import HeldProgression
from balrog_rag.envs.nethack.progression import table as worth
from balrog_rag.episode.spec import episode_name, episode_seeds

TASK = "nle/NetHackChallenge-v0"
KEYS, STANDSTILL = 100_000, 150
RESAMPLES = 10_000
XP, DEPTH, TURN, DNUM, DLEVEL, HP, MAX_HP, HUNGER = 18, 12, 20, 23, 24, 10, 11, 21
MINES = 2
LAST = 12
"""Messages kept in the log."""


def spec(seed: int, number: int, character: str) -> GameSpec:
    env, _, task = TASK.partition("/")
    seeds = episode_seeds(seed, episode_name(TASK, number))
    return GameSpec(env, task, seeds, max_steps=KEYS, options={"character": character})


def play(number: int, seed: int, character: str, plan: Plan) -> dict:
    """Play one game with BALROG's limits."""
    engine = NetHackEngine(spec(seed, number, character), None)
    engine.start()
    begun = time.process_time()
    facts = _play(engine, delver(engine.arrays, plan))
    facts |= {"number": number, "seconds": time.process_time() - begun}
    engine.close()
    return facts


def _play(engine: NetHackEngine, program) -> dict:
    stats, live = engine.arrays["blstats"], engine.arrays["blstats"].copy()
    deepest, grown, stood, turn, pressed, ended = 1, 1, 0, -1, 0, ""
    longest, held, level = 0, HeldProgression(), 0
    events: dict[str, tuple[int, int, int]] = {}
    arrivals: dict[int, tuple[int, int, int, int]] = {}
    told: deque[str] = deque(maxlen=LAST)
    digest = hashlib.sha256()
    key = next(program)
    while True:
        digest.update(key.to_bytes(2, "little"))
        press = engine.press(key)
        pressed += 1
        if stats[11] > 0:
            live[:] = stats
            deepest, grown = max(deepest, int(stats[DEPTH])), max(grown, int(stats[XP]))
            stood = stood + 1 if turn == stats[TURN] else 0
            turn = int(stats[TURN])
            if stats[DEPTH] != level:
                level = int(stats[DEPTH])
                held.see(moment(live), gap=False)
            longest = max(longest, stood)
            arrivals.setdefault(level, (turn, int(stats[XP]), int(stats[HP]), int(stats[MAX_HP])))
            now = (turn, int(stats[XP]), int(stats[DEPTH]))
            if stats[DNUM] == MINES:
                events.setdefault("mines", now)
            carried = engine.arrays["inv_strs"].tobytes()
            if b"pick-axe" in carried or b"mattock" in carried or b"broad pick" in carried:
                events.setdefault("digger", now)
                if stats[DNUM] == 0:
                    events.setdefault("digger in main", now)
        message = engine.arrays["message"].tobytes().split(b"\0")[0].decode("latin-1")
        if message and not (told and told[-1] == message):
            told.append(message)
        ended = press.ended or ("steps" if pressed >= KEYS else "no_progress" if stood >= STANDSTILL else "")
        if ended:
            break
        key = program.send(engine.arrays)
    held.see(moment(live), gap=False)
    end = engine.facts(ended, live)
    value = max(worth().get(f"Dlvl:{deepest}", 0), worth().get(f"Xp:{grown}", 0))
    return {
        "role": end["xlogfile"]["role"],
        "race": end["xlogfile"]["race"],
        "progression": value,
        "held": held.result({}) / 100,
        "depth": deepest,
        "level": grown,
        "ended": str(ended),
        "death": end["death"],
        "where": f"{int(live[DNUM])}:{int(live[DLEVEL])}",
        "turns": int(live[TURN]),
        "keys": pressed,
        "longest_standstill": longest,
        "hunger": int(live[HUNGER]),
        "events": events,
        "arrivals": arrivals,
        "messages": list(told),
        "digest": digest.hexdigest()[:16],
    }


def moment(stats) -> dict[str, int]:
    """The input of held progression; it needs a moment at every change of level and the last one."""
    return {"depth": int(stats[DEPTH]), "turn": int(stats[TURN]), "experience_level": int(stats[XP])}


def settings(pairs: list[str]) -> Plan:
    """The plan with these settings changed: NAME=VALUE, a switch or a number."""
    return plan_of({name: json.loads(text) for name, _, text in (pair.partition("=") for pair in pairs)})


def read(path: Path) -> dict[int, dict]:
    """The games of a log by number."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {game["number"]: game for game in map(json.loads, lines)}


def compare(path: Path, other: Path) -> None:
    """Print the difference of two logs in the games that both have."""
    first, second = read(path), read(other)
    pairs = [(first[number], second[number]) for number in sorted(first.keys() & second.keys())]
    equal = sum(one["digest"] == two["digest"] for one, two in pairs)
    print(f"{len(pairs)} games in both, {equal} with the same keys")
    for measure in ("progression", "held"):
        change = [100 * (two[measure] - one[measure]) for one, two in pairs]
        means = [100 * mean(pair[side][measure] for pair in pairs) for side in (0, 1)]
        error = stdev(change) / len(change) ** 0.5
        print(f"{measure}: {means[0]:.1f} and {means[1]:.1f} %, difference {mean(change):+.1f} ± {error:.1f}")


def games(args: argparse.Namespace) -> Iterator[dict]:
    run = partial(play, seed=args.seed, character=args.character, plan=settings(args.plan))
    done = read(args.log) if args.log else {}
    numbers = [number for number in range(args.first, args.first + args.games) if number not in done]
    if args.processes == 1:
        yield from map(run, numbers)
        return
    with get_context("spawn").Pool(args.processes) as pool:
        yield from pool.imap_unordered(run, numbers)


def interval(values: list[float]) -> tuple[float, float]:
    """95 % bootstrap interval of the mean."""
    dice = Random(0)
    means = sorted(mean(dice.choices(values, k=len(values))) for _ in range(RESAMPLES // 5))
    return means[len(means) // 40], means[-len(means) // 40 - 1]


def percent(values: list[float]) -> str:
    low, high = interval(values)
    return f"{100 * mean(values):.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def by(played: list[dict], title: str, key: Callable[[dict], str], console: Console) -> None:
    groups: dict[str, list[dict]] = defaultdict(list)
    for game in played:
        groups[key(game)].append(game)
    out = Table(title, "games", "progression %", "median depth", "experience", "turns", "keys")
    for name, group in sorted(groups.items(), key=lambda item: -mean(g["progression"] for g in item[1])):
        out.add_row(
            name,
            str(len(group)),
            percent([game["progression"] for game in group]),
            *(f"{median(game[what] for game in group):g}" for what in ("depth", "level", "turns", "keys")),
        )
    console.print(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first game")
    parser.add_argument("--seed", type=int, default=0, help="run.seed")
    parser.add_argument("--character", default="@")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--plan", nargs="*", default=[], help="NAME=VALUE of agent.options, as JSON")
    parser.add_argument("--log", type=Path, help="append each game's facts as one line of JSON")
    parser.add_argument(
        "--compare", nargs=2, type=Path, metavar="FILE", help="print the paired difference of two logs"
    )
    args = parser.parse_args()
    if args.compare:
        compare(*args.compare)
        return
    played = []
    for game in games(args):
        played.append(game)
        if args.log:
            with args.log.open("a") as log:
                log.write(json.dumps(game) + "\n")
    if played:
        report(played, Console())


def report(played: list[dict], console: Console) -> None:
    by(played, "role", lambda game: game["role"], console)
    by(played, "race", lambda game: game["race"], console)
    by(played, "deepest", lambda game: f"{min(game['depth'], 30):2}", console)
    for title, count in (
        ("end", Counter(game["ended"] for game in played)),
        ("death", Counter(game["death"].split(",")[0] for game in played)),
    ):
        console.print(title, ", ".join(f"{name} {n}" for name, n in count.most_common(40)))
    for event in ("mines", "digger", "digger in main"):
        group = [game for game in played if event in game["events"]]
        if group:
            console.print(
                f"{event}: {len(group)} games, mean {percent([g['progression'] for g in group])} %, "
                f"at experience level {mean(g['events'][event][1] for g in group):.1f}"
            )
    keys, seconds = sum(game["keys"] for game in played), sum(game["seconds"] for game in played)
    stopped = sum(game["ended"] == "no_progress" for game in played)
    console.print(f"games {len(played)}, mean progression {percent([g['progression'] for g in played])} %")
    console.print(f"progression held {percent([game['held'] for game in played])} %")
    console.print(
        f"stopped by the {STANDSTILL}-key rule {stopped}, longest standstill "
        f"{max(game['longest_standstill'] for game in played)} keys"
    )
    console.print(
        f"{keys / seconds:,.0f} key presses a second of processor time, {seconds / len(played):.2f} s a game"
    )


if __name__ == "__main__":
    main()
