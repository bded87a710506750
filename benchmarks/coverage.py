"""How often a 95 % interval holds the truth, simulated on progression's lumpy values and on solved-or-not.

    python benchmarks/coverage.py [--repeats 10000]
    python benchmarks/coverage.py --differences [--repeats 500]
    python benchmarks/coverage.py --verdicts [--repeats 2000] [--few]
    python benchmarks/coverage.py --claims [--repeats 1000] [--only false]
    python benchmarks/coverage.py --planning [--repeats 200]
    python benchmarks/coverage.py --until [--repeats 1000]

The rows of the coverage table in docs/notes/2026-11-statistics.md; the same for the difference of two arms as
a verdict prints it, with the share of clear verdicts; false verdicts over many designs (false_verdicts.py);
both claims, with their power beside Welch's test and Mann and Whitney's (claims.py); and whether designs
detect what they promise (planning.py).
"""

import argparse
import sys

import claims
import false_verdicts
import numpy as np
import planning
import until_verdict

from balrog_rag.results.statistics.interval import from_draws, mean_interval, smooth_means, unseen
from balrog_rag.results.statistics.units import Bounds, Score
from balrog_rag.results.statistics.verdict import Comparison, compare

POPULATIONS = {
    "published": [(0, 60), (1.539, 6), (1.754, 5), (1.848, 13), (2.081, 9), (2.122, 2), (2.416, 2),
                  (2.648, 1), (2.911, 1), (4.846, 1)],
    "paper": [(0, 20), (1.539, 10), (1.754, 10), (1.848, 25), (2.081, 25), (2.122, 3), (2.416, 3),
              (2.648, 2), (3.543, 1), (4.846, 1)],
    "strong": [(0, 3), (1.848, 8), (2.081, 10), (2.416, 10), (2.911, 10), (3.689, 12), (5.076, 12),
               (6.958, 8), (7.454, 8), (9.771, 6), (11.705, 5), (12.559, 4), (17.91, 3), (25.48, 1)],
    "weak": [(0, 88), (1.539, 5), (1.848, 4), (2.081, 2), (4.846, 1)],
}  # fmt: skip
"""Progression in percent, and how often: published episodes', the paper's, a strong and a weak model's."""
MEANS_OF = ("published", "paper", "strong")
COUNTS = (5, 8, 10, 15, 20, 50, 99, 100, 200)
TRUTHS: tuple[tuple[str | float, str | float], ...] = (
    (0.05, 0.15), (0.1, 0.0), (0.05, 0.1), (0.3, 0.5), (0.5, 0.8), ("weak", "weak"), ("weak", "published"),
    ("published", "published"), ("paper", "published"), ("strong", "published"),
)  # fmt: skip
"""Two arms each: a population, or the share of games solved."""
PLAYED = (6, 8, 10, 20)
ALIKE = (0.0, 0.5)
"""How alike shared games make two arms' scores (a Gaussian copula's correlation)."""


def coverage(kind: str, count: int, repeats: int, method: str) -> float:
    """In percent."""
    pairs = np.array(POPULATIONS[kind], float)
    values, shares = pairs[:, 0], pairs[:, 1] / pairs[:, 1].sum()
    truth, dice, hits = float(values @ shares), np.random.default_rng(1), 0
    for _ in range(repeats):
        drawn = dice.choice(values, count, p=shares)
        if method == "smooth":
            found = from_draws(
                smooth_means(drawn, *unseen(drawn, Bounds()), dice, 2000), drawn.mean()
            ).interval
        else:
            scores = [Score(float(value)) for value in drawn]
            found = mean_interval(scores, Bounds(), method=method, seed=int(dice.integers(2**31)))
        hits += found.low <= truth <= found.high
    return 100 * hits / repeats


def quantiles(kind: str | float, shares: np.ndarray) -> np.ndarray:
    """The scores that these shares of a population stay below."""
    if isinstance(kind, float):
        return 100.0 * (shares > 1 - kind)
    pairs = np.array(POPULATIONS[kind], float)
    edges = np.cumsum(pairs[:, 1]) / pairs[:, 1].sum()
    return pairs[np.minimum(np.searchsorted(edges, shares), len(pairs) - 1), 0]


def mean_of(kind: str | float) -> float:
    """A population's mean."""
    if isinstance(kind, float):
        return 100 * kind
    pairs = np.array(POPULATIONS[kind], float)
    return float(np.average(pairs[:, 0], weights=pairs[:, 1]))


def verdict(
    kinds: tuple[str | float, str | float], count: int, alike: float | None, dice: np.random.Generator
) -> Comparison:
    """Two arms drawn from these populations and compared; in the same games unless `alike` is None."""
    from scipy.stats import norm

    shared = [[1.0, alike or 0.0], [alike or 0.0, 1.0]]
    shares = norm.cdf(dice.multivariate_normal([0, 0], shared, count))
    arms = [
        [Score(float(value), "nle", "T", f"{'' if alike is not None else side}{game}")
         for game, value in enumerate(quantiles(kind, shares[:, side]))]
        for side, kind in enumerate(kinds)
    ]  # fmt: skip
    return compare(arms[0], arms[1], bounds={"nle": Bounds(binary=isinstance(kinds[0], float))})


def difference_coverage(
    kinds: tuple[str | float, str | float], count: int, alike: float | None, repeats: int
) -> tuple[float, float]:
    """In percent: intervals that hold the truth, clear verdicts."""
    truth, dice = mean_of(kinds[0]) - mean_of(kinds[1]), np.random.default_rng(1)
    made = [verdict(kinds, count, alike, dice) for _ in range(repeats)]
    held = [one.interval.low - 1e-9 <= truth <= one.interval.high + 1e-9 for one in made]
    return 100 * float(np.mean(held)), 100 * float(np.mean([one.clear for one in made]))


def differences(repeats: int) -> None:
    """Print the table for differences: other games, the same games, the same games with scores alike."""
    print("coverage / clear, in percent")
    print(f"{'truth':>22} {'n':>3}{'other games':>20}" + "".join(f"{f'pairs, r = {r}':>20}" for r in ALIKE))
    for kinds in TRUTHS:
        for count in PLAYED:
            cells = [difference_coverage(kinds, count, alike, repeats) for alike in (None, *ALIKE)]
            shown = "".join(f"{held:>14.1f} /{clear:>4.0f}" for held, clear in cells)
            print(f"{kinds[0]!s:>10} v {kinds[1]!s:>9} {count:>3}{shown}", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--differences", action="store_true", help="of two arms instead of one mean")
    parser.add_argument("--verdicts", action="store_true", help="false verdicts over many designs")
    parser.add_argument("--only", choices=("arms", "paired", "holm", "false", "power"), help="one table")
    parser.add_argument("--few", action="store_true", help="only the verdicts that the docs show")
    parser.add_argument("--claims", action="store_true", help="both claims, and their power")
    parser.add_argument("--until", action="store_true", help="false verdicts of limits.until=verdict")
    parser.add_argument("--planning", action="store_true", help="what a design detects, and how often")
    options = parser.parse_args()
    if options.claims:
        sys.exit(0 if claims.table(options.repeats or 1_000, options.only) else 1)
    if options.until:
        sys.exit(0 if until_verdict.table(options.repeats or 1_000) else 1)
    if options.planning:
        planning.table(options.repeats or 200)
        return
    if options.verdicts:
        designs = false_verdicts.HARD if options.few else false_verdicts.EVERY
        sys.exit(0 if false_verdicts.table(options.repeats or 2_000, options.only, designs) else 1)
    if options.differences:
        differences(options.repeats or 500)
    else:
        means(options.repeats or 10_000)


def means(repeats: int) -> None:
    """Print the table for means."""
    methods = [("smooth", repeats), ("bca", max(1, repeats // 5))]
    print(f"{'episodes':>8} {'method':8}" + "".join(f"{kind:>12}" for kind in MEANS_OF))
    for count in COUNTS:
        for method, each in methods:
            cells = [f"{coverage(kind, count, each, method):>12.1f}" for kind in MEANS_OF]
            print(f"{count:>8} {method:8}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
