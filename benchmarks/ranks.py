"""How often a leaderboard's ranks hold the truth, and how wide they are, for several methods.

    python benchmarks/ranks.py [--repeats 400] [--counts 5,10,25] [--methods welch,board] [--boards spread]

Each cell holds three numbers: the percentage of boards on which every row's interval of ranks holds that
row's true ranks, the same percentage over single rows, and the mean width of an interval in ranks (1: exact,
6: nothing is known). The true ranks of a row run from one more than the rows of higher mean to the number of
rows less those of lower mean, so a claim about two rows of equal mean is always wrong.

A method gives one p for each pair of rows and a correction over all pairs:

- `welch`: Welch's t test;
- `permutation`: a permutation test of Welch's t (1,999 relabellings);
- `maxt`: the greatest t of all pairs in a bootstrap of centred scores (999 samples), step by step (Romano and
  Wolf 2005), which corrects for the number of pairs by itself;
- `board`: what `balrog-rag leaderboard` does (results/leaderboard/ranks.py): `permutation holm` and, at a
  level of 7 %, `maxt` must agree; here with 1,999 relabellings instead of 19,999;
- `holm`, `shaffer`: the correction; Shaffer's (1986) uses that of six means only so many pairs can be equal.
"""

import argparse
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from false_verdicts import drawn

from balrog_rag.results.leaderboard.ranks import ranks
from balrog_rag.results.statistics import permutation as relabelling
from balrog_rag.results.statistics.permutation import holm
from balrog_rag.results.statistics.units import Floats, Score

ARMS = 6
PAIRS = list(combinations(range(ARMS), 2))
RELABELLINGS, BOOTSTRAPS = 1_999, 999
ALPHA = 0.05
Board = tuple[Callable[[np.random.Generator, int], Floats], Sequence[float]]
"""Draws so many scores of each row; and the rows' true means, of which only the order counts."""


def mixed(shares: Sequence[float]) -> Board:
    """Rows that play this share of their games like a strong model and the others like the published ones."""

    def draw(rng: np.random.Generator, count: int) -> Floats:
        strong, weak = (scale * drawn(kind, rng, (ARMS, count)) for kind, scale in SCALES)
        return np.where(rng.random((ARMS, count)) < np.array(shares)[:, None], strong, weak)

    return draw, shares


SCALES = (("strong", 5.39), ("published", 0.95))
"""What turns populations of mean 1 back into percent of progression."""


def shaped(kinds: Sequence[str]) -> Board:
    """Rows of equal means."""

    def draw(rng: np.random.Generator, count: int) -> Floats:
        return np.array([drawn(kind, rng, (count,)) for kind in kinds])

    return draw, [1.0] * ARMS


def solved(shares: Sequence[float]) -> Board:
    """Rows that solve this share of their games."""

    def draw(rng: np.random.Generator, count: int) -> Floats:
        return 100.0 * (rng.random((ARMS, count)) < np.array(shares)[:, None])

    return draw, shares


BOARDS: dict[str, Board] = {
    "spread": mixed((0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
    "near": mixed((0.0, 0.1, 0.2, 0.3, 0.4, 0.5)),
    "one ahead": mixed((0.0, 0.0, 0.0, 0.0, 0.0, 1.0)),
    "alike": mixed((0.0,) * ARMS),
    "shapes": shaped(("normal", "published", "strong", "lognormal", "exponential", "mostly zero")),
    "hard shapes": shaped(("steady", "lognormal", "mostly zero", "one in five", "all or nothing", "narrow")),
    "solved": solved((0.05, 0.15, 0.3, 0.45, 0.6, 0.8)),
    "solved alike": solved((0.1,) * ARMS),
}


def welch_t(means: Floats, variances: Floats, counts: int) -> tuple[Floats, Floats]:
    """The t of every pair, last axis, and Satterthwaite's degrees of freedom."""
    first, second = np.array(PAIRS).T
    errors = variances / counts
    both = errors[..., first] + errors[..., second]
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = means[..., first] - means[..., second]
        t = np.where(np.abs(gap) < 1e-9, 0.0, gap / np.sqrt(both))
        freedom = both**2 / ((errors[..., first] ** 2 + errors[..., second] ** 2) / (counts - 1))
    return t, np.where(np.isfinite(freedom), freedom, 1.0)


def welch(scores: Floats, _rng: np.random.Generator) -> Floats:
    """The p of Welch's t of every pair."""
    from scipy.special import stdtr

    t, freedom = welch_t(scores.mean(axis=1), scores.var(axis=1, ddof=1), scores.shape[1])
    return np.asarray(2 * stdtr(freedom, -np.abs(t)))


def permutation(scores: Floats, rng: np.random.Generator) -> Floats:
    """The p of a permutation test of Welch's t of every pair; one set of relabellings for all of them."""
    count = scores.shape[1]
    order = np.argsort(rng.random((RELABELLINGS, 2 * count)), axis=1)
    picks = np.zeros((RELABELLINGS, 2 * count))
    np.put_along_axis(picks, order[:, :count], 1.0, axis=1)
    picks[0] = np.arange(2 * count) < count
    found = []
    for a, b in PAIRS:
        pool = np.concatenate([scores[a], scores[b]])
        pool = pool - pool.mean()
        ours = picks @ pool
        within = (pool**2).sum() - 2 * ours**2 / count
        t = np.abs(ours) / np.sqrt(np.maximum(within, 1e-12 * (pool**2).sum()) + 1e-300)
        found.append((t >= t[0] - 1e-9).mean())
    return np.array(found)


def maxt(scores: Floats, rng: np.random.Generator) -> Floats:
    """Adjusted p by the greatest t of the pairs not yet decided, in a bootstrap of centred scores."""
    count = scores.shape[1]
    seen = np.abs(welch_t(scores.mean(axis=1), scores.var(axis=1, ddof=1), count)[0])
    centred = scores - scores.mean(axis=1, keepdims=True)
    picked = rng.integers(0, count, (BOOTSTRAPS, ARMS, count))
    again = centred[np.arange(ARMS)[None, :, None], picked]
    drawn_t = np.abs(welch_t(again.mean(axis=2), again.var(axis=2, ddof=1), count)[0])
    adjusted, highest = np.ones(len(PAIRS)), 0.0
    order = np.argsort(-seen)
    for place, pair in enumerate(order):
        greatest = drawn_t[:, order[place:]].max(axis=1)
        highest = max(highest, (1 + (greatest >= seen[pair]).sum()) / (BOOTSTRAPS + 1))
        adjusted[pair] = highest
    return adjusted


def equal_pairs(arms: int) -> set[int]:
    """How many pairs of so many means can be equal."""
    if arms <= 1:
        return {0}
    return {size * (size - 1) // 2 + rest for size in range(1, arms + 1) for rest in equal_pairs(arms - size)}


def shaffer(ps: Sequence[float]) -> list[float]:
    """Shaffer's adjustment over all pairs of six rows."""
    possible, adjusted, highest = sorted(equal_pairs(ARMS)), [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        left = max(number for number in possible if number <= len(ps) - rank)
        highest = max(highest, min(1.0, max(left, 1) * ps[place]))
        adjusted[place] = highest
    return adjusted


def intervals(adjusted: Sequence[float], means: Floats) -> list[tuple[int, int]]:
    """The ranks that each row may hold."""
    better, worse = [0] * ARMS, [0] * ARMS
    for (a, b), p in zip(PAIRS, adjusted, strict=True):
        if p <= ALPHA and means[a] != means[b]:
            winner, loser = (a, b) if means[a] > means[b] else (b, a)
            better[loser] += 1
            worse[winner] += 1
    return [(1 + up, ARMS - down) for up, down in zip(better, worse, strict=True)]


METHODS: dict[str, Callable[[Floats, np.random.Generator], Sequence[float]]] = {
    "welch holm": lambda scores, rng: holm(list(welch(scores, rng))),
    "welch shaffer": lambda scores, rng: shaffer(list(welch(scores, rng))),
    "permutation holm": lambda scores, rng: holm(list(permutation(scores, rng))),
    "permutation shaffer": lambda scores, rng: shaffer(list(permutation(scores, rng))),
    "maxt": lambda scores, rng: list(maxt(scores, rng)),
}


def ranked(method: str, scores: Floats, rng: np.random.Generator) -> list[tuple[int, int]]:
    """The intervals of ranks of one board."""
    if method == "board":
        rows = [[Score(float(value), "nle", "T") for value in row] for row in scores]
        return [(rank.first, rank.last) for rank in ranks(rows)]
    return intervals(METHODS[method](scores, rng), scores.mean(axis=1))


def cell(method: str, name: str, count: int, repeats: int) -> tuple[float, float, float]:
    """In percent: boards and rows that hold the truth; and the mean width."""
    draw, means = BOARDS[name]
    truth = [(1 + sum(other > mine for other in means), ARMS - sum(other < mine for other in means))
             for mine in means]  # fmt: skip
    rng = np.random.default_rng(1)
    held, widths = [], []
    for _ in range(repeats):
        found = ranked(method, draw(rng, count), np.random.default_rng(2))
        held.append([low <= first and high >= last for (low, high), (first, last)
                     in zip(found, truth, strict=True)])  # fmt: skip
        widths += [high - low + 1 for low, high in found]
    hits = np.array(held)
    return 100 * float(hits.all(axis=1).mean()), 100 * float(hits.mean()), float(np.mean(widths))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--counts", default="5,10,25", help="episodes of each row, with commas")
    parser.add_argument("--methods", default=",".join([*METHODS, "board"]), help="beginnings, with commas")
    parser.add_argument("--boards", default=",".join(BOARDS), help="names, with commas")
    options = parser.parse_args()
    relabelling.RANDOM, relabelling.EXACT_UP_TO = RELABELLINGS, 2_000
    counts = [int(count) for count in options.counts.split(",")]
    wanted = tuple(options.methods.split(","))
    print(f"{'':34}" + "".join(f"{f'n = {count}':>22}" for count in counts))
    for name in options.boards.split(","):
        for method in [each for each in (*METHODS, "board") if each.startswith(wanted)]:
            cells = [cell(method, name, count, options.repeats) for count in counts]
            shown = "".join(f"{boards:>9.1f} {rows:>6.1f} {width:>5.2f}" for boards, rows, width in cells)
            print(f"{name:14}{method:20}{shown}", flush=True)


if __name__ == "__main__":
    main()
