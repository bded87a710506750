"""How well env=decisions tells players apart: shares resolved, discordance, the states that a verdict needs.

    python benchmarks/decisions.py RUN RUN [RUN...] [--difference 20]

For every two runs: the states that both played, the share resolved differently (discordance), and how many
states McNemar's exact test needs for a power of 80 % if the true difference is `--difference` points at that
discordance; also what 40 states detect. States of one game are counted as pairs of their own here; verdicts
(`balrog-rag compare`) resample by game.
"""

import argparse
from functools import cache
from itertools import combinations
from math import comb
from pathlib import Path

from balrog_rag.results.runs import load

LEVEL, POWER, PLANNED, MOST, IN_A_ROW = 0.05, 0.8, 40, 200, 3


@cache
def fewest(discordant: int) -> int:
    """Return the most discordant pairs in favour of one side with which the test rejects; -1: never."""
    tail, found = 0, -1
    for count in range(discordant // 2 + 1):
        tail += comb(discordant, count)
        if 2 * tail / 2**discordant <= LEVEL:
            found = count
    return found


def power(states: int, discordance: float, difference: float) -> float:
    """The probability that the test rejects."""
    share, total = min(1.0, (discordance + difference) / 2 / discordance), 0.0
    for discordant in range(states + 1):
        edge = fewest(discordant)
        counts = [*range(edge + 1), *range(discordant - edge, discordant + 1)]
        rejected = sum(chance(count, discordant, share) for count in counts)
        total += chance(discordant, states, discordance) * rejected
    return total


def chance(count: int, total: int, share: float) -> float:
    """The binomial probability."""
    return comb(total, count) * share**count * (1 - share) ** (total - count)


def needed(discordance: float, difference: float) -> int:
    """The fewest states with enough power; an exact test's power falls now and then, so three in a row."""
    row = 0
    for states in range(5, MOST):
        row = row + 1 if power(states, discordance, difference) >= POWER else 0
        if row == IN_A_ROW:
            return states - IN_A_ROW + 1
    return MOST


def detects(states: int, discordance: float) -> int:
    """The smallest difference, in steps of two points, that so many states detect."""
    for points in range(2, 100, 2):
        if power(states, max(discordance, points / 100), points / 100) >= POWER:
            return points
    return 100


def shares(run: Path) -> dict[str, float]:
    """By state, whether it was resolved."""
    return {episode.name: episode.progression for episode in load(run).episodes}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--difference", type=float, default=20.0, help="points (default: %(default)s)")
    chosen = parser.parse_args()
    played = {run.name: shares(run) for run in chosen.runs}
    tasks = list(dict.fromkeys(name.split("/")[1] for each in played.values() for name in each))
    print("| situation | " + " | ".join(played) + " |\n| --- |" + " --- |" * len(played))
    for task in [*tasks, ""]:
        cells = []
        for own in played.values():
            found = [value for name, value in own.items() if not task or name.split("/")[1] == task]
            cells.append(f"{100 * sum(found) / len(found):.0f} ({len(found)})" if found else "")
        print(f"| {task or 'all'} | " + " | ".join(cells) + " |")
    print("\n| pair | states | difference | discordance | states needed | 40 states detect |")
    print("| --- | --- | --- | --- | --- | --- |")
    for (one, ours), (other, theirs) in combinations(played.items(), 2):
        both = ours.keys() & theirs.keys()
        apart = sum(ours[name] != theirs[name] for name in both) / len(both)
        gain = 100 * sum(ours[name] - theirs[name] for name in both) / len(both)
        supposed = max(apart, chosen.difference / 100)
        print(
            f"| {one} - {other} | {len(both)} | {gain:+.1f} | {apart:.0%} | "
            f"{needed(supposed, chosen.difference / 100)} | {detects(PLANNED, apart)} points |"
        )


if __name__ == "__main__":
    main()
