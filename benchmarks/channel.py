"""What each retrieval policy is worth to the literal reader: the table of `+experiment=channel`.

    balrog-rag run +experiment=channel                                  # about half an hour of one core
    PYTHONPATH=. python benchmarks/channel.py results/SWEEP             # its folder, or the arms' run folders

The gain is the difference from the arm `none`, paired by game. The share is the part of the oracle's gain,
with an interval by drawing games. Detected is what so many pairs show with a power of 80 %, two-sided
at 5 %.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from balrog_rag.episode.journal import Step, read
from balrog_rag.results.episodes import Episode
from balrog_rag.results.runs import load
from balrog_rag.results.statistics.values import verdict

DRAWS, SEED = 10_000, 0
POWER = 1.96 + 0.84
"""Standard errors between no difference and one that is shown with a power of 80 %."""
NONE, ORACLE = "none", "oracle"
HELD = "held"
COLUMNS = (
    *("arm", "games", "progression, %", "gain over none", "share of the oracle's gain", "held, %"),
    *("preventable deaths", "look-ups", "tokens"),
)
"""Look-ups in a hundred steps, tokens of reference text in a prompt."""


class ArmOutcome(NamedTuple):
    """One arm: its episodes by game, and tokens of reference text in all of its prompts."""

    episodes: Mapping[str, Episode]
    tokens: int

    def scores(self, games: Sequence[str]) -> NDArray[np.float64]:
        """Return the progression of these games in percent."""
        return np.array([self.episodes[game].percent for game in games])


def outcome(folders: Sequence[Path]) -> ArmOutcome:
    """Read the runs of an arm."""
    episodes = {each.game_name: each for folder in folders for each in load(folder).episodes}
    tokens = sum(shown(journal) for folder in folders for journal in folder.rglob("*.journal.jsonl"))
    return ArmOutcome(episodes, tokens)


def shown(journal: Path) -> int:
    """Return the tokens of reference text in the prompts of one episode."""
    steps = (entry for entry in read(journal).entries if isinstance(entry, Step))
    return sum(int(step.notes.get("tokens", 0)) for step in steps)


def share(gain: NDArray[np.float64], most: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the mean gain as a part of another one, and its 95 % interval over games."""
    drawn = np.random.default_rng(SEED).integers(len(gain), size=(DRAWS, len(gain)))
    parts = gain[drawn].mean(axis=1) / most[drawn].mean(axis=1)
    low, high = np.quantile(parts, (0.025, 0.975))
    return float(gain.mean() / most.mean()), float(low), float(high)


def lines(arms: Mapping[str, ArmOutcome]) -> Iterator[str]:
    """Return the table's rows, each over the games that the arm shares with `none` and the oracle."""
    yield f"| {' | '.join(COLUMNS)} |"
    yield "| --- " * len(COLUMNS) + "|"
    shows = []
    for name, arm in arms.items():
        games = sorted(set.intersection(*(set(arms[each].episodes) for each in (name, NONE, ORACLE))))
        none, oracle, scores = (arms[each].scores(games) for each in (NONE, ORACLE, name))
        yield f"| {name} | {len(games)} | {' | '.join(cells(name, arm, games, none, oracle))} |"
        if name != NONE:
            shows.append(f"{name} {POWER * np.std(scores - none, ddof=1) / sqrt(len(games)):.1f}")
    yield f"\nDetected against none, in points: {', '.join(shows)}"


def cells(
    name: str,
    arm: ArmOutcome,
    games: Sequence[str],
    none: NDArray[np.float64],
    oracle: NDArray[np.float64],
) -> Iterator[str]:
    """Return the cells of an arm's row."""
    scores, episodes = arm.scores(games), [arm.episodes[game] for game in games]
    gained = verdict(scores, none, paired=True)
    part, low, high = share(scores - none, oracle - none)
    steps = sum(each.steps for each in arm.episodes.values())
    yield f"{scores.mean():.1f}"
    yield (
        ""
        if name == NONE
        else (f"{gained.difference:+.1f} [{gained.interval.low:.1f}, {gained.interval.high:.1f}]")
    )
    yield "" if name in (NONE, ORACLE) else f"{part:.0%} [{low:.0%}, {high:.0%}]"
    yield f"{np.mean([held_of(each) for each in episodes]):.1f}"
    yield f"{sum(each.preventable for each in episodes) / len(episodes):.0%}"
    yield f"{100 * sum(each.lookups.steps for each in arm.episodes.values()) / steps:.1f}"
    yield f"{arm.tokens / steps:.0f}"


def held_of(episode: Episode) -> float:
    """Return the progression that the hero survived to keep, in percent; not a number if unknown."""
    value = episode.followed.get(HELD)
    return float("nan") if value is None else value


def arm_folders(given: Iterable[Path]) -> dict[str, list[Path]]:
    """Return the run folders by arm, of sweeps and of runs; `NAME+2` holds more games of NAME."""
    found: dict[str, list[Path]] = {}
    for folder in given:
        inner = sorted(path.parent for path in folder.glob("*/config.json"))
        for run in [folder] if (folder / "config.json").exists() else inner:
            found.setdefault(run.name.rpartition("-")[2].partition("+")[0], []).append(run)
    return found


def main() -> None:
    """Print the table."""
    arms = {name: outcome(folders) for name, folders in arm_folders(map(Path, sys.argv[1:])).items()}
    missing = [name for name in (NONE, ORACLE) if name not in arms]
    if missing:
        sys.exit(
            f"no arm {missing[0]} among {', '.join(arms) or 'these folders'}; give the folder of a sweep"
        )
    print(*lines(arms), sep="\n")


if __name__ == "__main__":
    main()
