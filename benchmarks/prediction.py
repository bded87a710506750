"""Prediction intervals of several methods, for few tasks: `PYTHONPATH=. python benchmarks/prediction.py`.

Each repeat draws the true effects of 3 to 8 tasks with normal scores (standard deviation 10 points),
plays both arms of every task, and makes each method's 95 % prediction interval for the effect of another
task. A cell is the share of intervals that hold it, and their median width divided by the width of the
range that truly holds 95 % of effects (in points where all effects are equal). `ours` is
`results/statistics/pooled.py`; HTS is Higgins, Thompson and Spiegelhalter's interval with DerSimonian's
and Laird's variance; HK is Hartung's and Knapp's variance of the mean; `t of estimates` is Student's
interval for another task's estimate.
"""

import argparse
from collections.abc import Iterator
from math import sqrt

import numpy as np
from scipy.special import stdtrit

from balrog_rag.results.statistics.pooled import between_variance, pooled
from benchmarks.pooled import EFFECT, drawn

TASKS = range(3, 9)
SPREADS = (0.0, 2.0, 4.0, 10.0)
EPISODES = 20
METHODS = (
    "ours",
    "Nagashima et al.",
    "HTS, t(k-2)",
    "HTS, t(k-1)",
    "REML + HK, t(k-2)",
    "REML + HK, t(k-1)",
    "t of estimates",
)


def dersimonian_laird(values: np.ndarray, variances: np.ndarray) -> float:
    """The variance of the true effects, by DerSimonian and Laird."""
    weights = 1 / variances
    q = (weights * (values - np.average(values, weights=weights)) ** 2).sum()
    total = weights.sum()
    return max(0.0, (q - len(values) + 1) / (total - (weights**2).sum() / total))


def reml(values: np.ndarray, variances: np.ndarray) -> float:
    """The variance of the true effects, by restricted maximum likelihood."""
    between = between_variance(values, variances)
    for _ in range(200):
        weights = 1 / (variances + between)
        squares = (values - np.average(values, weights=weights)) ** 2 - variances
        better = max(0.0, (weights**2 * squares).sum() / (weights**2).sum() + 1 / weights.sum())
        if abs(better - between) < 1e-6 * (1 + between):
            break
        between = better
    return between


def nagashima(values: np.ndarray, variances: np.ndarray) -> tuple[float, float]:
    """The interval of Nagashima, Noma and Furukawa (2019): spreads are drawn from a confidence distribution.

    At the true spread the generalised Q has a chi-squared distribution, so each draw of that gives a spread
    that the effects are compatible with, and a mean and its error at that spread.
    """
    free, draws, luck = len(values) - 1, 4000, np.random.default_rng(0)

    def at(between: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        weights = 1 / (variances + between[:, None])
        totals = weights.sum(axis=1)
        means = (weights * values).sum(axis=1) / totals
        return means, totals, (weights * (values - means[:, None]) ** 2).sum(axis=1)

    largest = max(float(np.var(values, ddof=1)), float(variances.max()))
    grid = np.concatenate([[0.0], np.geomspace(largest * 1e-6, largest * 1e4, 300)])
    between = np.interp(-luck.chisquare(free, draws), -at(grid)[2], grid)  # Q falls as the spread rises
    means, totals, q = at(between)
    another = means + luck.standard_normal(draws) * np.sqrt(between)
    another -= luck.standard_t(free, draws) * np.sqrt(q / free / totals)
    low, high = np.quantile(another, [0.025, 0.975])
    return float(low), float(high)


def intervals(values: np.ndarray, variances: np.ndarray) -> Iterator[tuple[float, float]]:
    """The prediction interval of each method, in the order of METHODS."""
    ours, count = pooled(values.tolist(), np.sqrt(variances).tolist()), len(values)
    assert ours is not None
    yield ours.next_low, ours.next_high
    yield nagashima(values, variances)
    for estimate, adjusted in ((dersimonian_laird, False), (reml, True)):
        between = estimate(values, variances)
        weights = 1 / (variances + between)
        mean = float(np.average(values, weights=weights))
        error = 1 / weights.sum()
        if adjusted:  # Hartung and Knapp's variance of the mean
            error *= (weights * (values - mean) ** 2).sum() / (count - 1)
        for free in (count - 2, count - 1):
            reach = stdtrit(free, 0.975) * sqrt(between + error)
            yield mean - reach, mean + reach
    reach = stdtrit(count - 1, 0.975) * values.std(ddof=1) * sqrt(1 + 1 / count)
    yield values.mean() - reach, values.mean() + reach


def measured(tasks: int, spread: float, repeats: int) -> list[str]:
    """Coverage and width of every method."""
    luck = np.random.default_rng([tasks, int(spread)])
    held, widths = np.zeros(len(METHODS)), np.empty((repeats, len(METHODS)))
    for repeat in range(repeats):
        true = EFFECT + spread * luck.standard_normal(tasks)
        arms = [[drawn(luck, mean, EPISODES, False) for mean in (each, 0.0)] for each in true]
        values = np.array([ours.mean() - theirs.mean() for ours, theirs in arms])
        variances = np.array([(ours.var(ddof=1) + theirs.var(ddof=1)) / EPISODES for ours, theirs in arms])
        another = EFFECT + spread * luck.standard_normal()
        for place, (low, high) in enumerate(intervals(values, variances)):
            held[place] += low <= another <= high
            widths[repeat, place] = high - low
    unit = 2 * 1.96 * spread or 1.0
    return [
        f"{share / repeats:6.1%} {width / unit:5.1f}"
        for share, width in zip(held, np.median(widths, axis=0), strict=True)
    ]


def main() -> None:
    """Print one line per method and spread, with a cell per number of tasks."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=1000)
    repeats = options.parse_args().repeats
    print(f"spread  {'method':18}" + "".join(f"{count:>10} tasks" for count in TASKS))
    for spread in SPREADS:
        columns = [measured(count, spread, repeats) for count in TASKS]
        for place, method in enumerate(METHODS):
            cells = "".join(f"{column[place]:>16}" for column in columns)
            print(f"{spread:6.0f}  {method:18}{cells}", flush=True)
    print(f"standard error of a share of 95 %: {sqrt(0.95 * 0.05 / repeats):.1%}")


if __name__ == "__main__":
    main()
