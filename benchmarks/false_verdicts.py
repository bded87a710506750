"""How often a verdict finds a difference between equal means, over many designs.

    python benchmarks/coverage.py --verdicts [--repeats 2000] [--only paired] [--few]

Every line is a pair of populations of equal means, every column a design; a cell holds three percentages:
false verdicts, comparisons left undecided (the test alone would have been wrong), and intervals that hold
the truth. A verdict here is the one that `compare` gives, from 999 relabellings and 1,000 possible means
instead of 19,999 and 10,000, so that the table takes minutes.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from balrog_rag.results.statistics import permutation, verdict
from balrog_rag.results.statistics.comparison import Comparison, adjust
from balrog_rag.results.statistics.units import Bounds, Floats, Score

MOST = 6.0
"""Percent of false verdicts that no cell may pass."""
SLACK = 3.0
"""Standard errors by which a simulated share may pass it."""
LUMPS = {
    "published": [(0, 60), (1.539, 6), (1.754, 5), (1.848, 13), (2.081, 9), (2.122, 2), (2.416, 2),
                  (2.648, 1), (2.911, 1), (4.846, 1)],
    "strong": [(0, 3), (1.848, 8), (2.081, 10), (2.416, 10), (2.911, 10), (3.689, 12), (5.076, 12),
               (6.958, 8), (7.454, 8), (9.771, 6), (11.705, 5), (12.559, 4), (17.91, 3), (25.48, 1)],
    "one in five": [(2.08, 2), (2.12, 1), (6.96, 1), (20.61, 1)],
    "all or nothing": [(0, 80), (6.958, 20)],
}  # fmt: skip
"""Progression in percent, and how often: BALROG's published episodes', a strong model's, those of its best
published model (one game in five makes the mean), and one that mostly gets nowhere."""
Sampler = Callable[[np.random.Generator, tuple[int, ...]], Floats]
DRAWN: dict[str, Sampler] = {
    "normal": lambda dice, size: dice.normal(1, 0.5, size),
    "narrow": lambda dice, size: dice.normal(1, 0.15, size),
    "steady": lambda dice, size: 1 + 0.14 * dice.choice([-1.0, 1.0], size),
    "exponential": lambda dice, size: dice.exponential(1, size),
    "lognormal": lambda dice, size: dice.lognormal(-0.5, 1, size),
    "mostly zero": lambda dice, size: (dice.random(size) < 0.3) * dice.exponential(1 / 0.3, size),
}
"""Populations of mean 1; "steady" is two values close together, "mostly zero" is 0 in 7 cases of 10."""
PAIRS_OF = (
    ("normal", "normal"), ("normal", "narrow"), ("published", "published"), ("strong", "published"),
    ("lognormal", "lognormal"), ("mostly zero", "lognormal"), ("exponential", "steady"),
    ("lognormal", "steady"), ("mostly zero", "steady"), ("published", "steady"), ("strong", "steady"),
    ("one in five", "steady"), ("all or nothing", "steady"),
)  # fmt: skip
SIZES = ((5, 5), (5, 20), (20, 5), (10, 10), (10, 50), (20, 20), (20, 100), (50, 50), (50, 200), (200, 50))
PAIRED = (6, 8, 10, 20, 30, 50, 100)
ARMS = 12
ARM_SIZES = (5, 10, 20, 50)


class Designs(NamedTuple):
    """Which populations are compared, and how many are drawn of each."""

    arms: Sequence[tuple[str, str]] = PAIRS_OF
    paired: Sequence[tuple[str, str]] = PAIRS_OF
    holm: Sequence[tuple[str, str]] = PAIRS_OF
    sizes: Sequence[tuple[int, int]] = SIZES
    pairs: Sequence[int] = PAIRED
    arm_sizes: Sequence[int] = ARM_SIZES


EVERY = Designs()
HARD = Designs(
    (("lognormal", "steady"), ("mostly zero", "steady"), ("one in five", "steady"),
     ("all or nothing", "steady"), ("strong", "steady"), ("strong", "published")),
    (("published", "published"), ("strong", "published"), ("mostly zero", "lognormal"),
     ("lognormal", "steady")),
    (("published", "published"), ("strong", "published"), ("lognormal", "steady")),
    ((5, 5), (5, 20), (20, 100), (50, 200)), (6, 10, 20, 50, 100), (5, 20),
)  # fmt: skip
"""Where verdicts are wrong most often: the rows of docs/notes/2026-11-statistics.md."""


def drawn(kind: str, dice: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """Scores of mean 1."""
    if kind in DRAWN:
        return DRAWN[kind](dice, size)
    pairs = np.array(LUMPS[kind], float)
    shares = pairs[:, 1] / pairs[:, 1].sum()
    return dice.choice(pairs[:, 0] / (pairs[:, 0] @ shares), size, p=shares)


def alike(kinds: Sequence[str], dice: np.random.Generator, size: tuple[int, int]) -> list[Floats]:
    """Two arms in the same games, whose scores are as alike as a Gaussian copula of 0.5 makes them."""
    from scipy.stats import norm

    shares = norm.cdf(dice.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size))
    many = [np.sort(drawn(kind, dice, (100_000,))) for kind in kinds]
    return [values[(shares[..., side] * len(values)).astype(int)] for side, values in enumerate(many)]


def judged(ours: Floats, theirs: Floats, paired: bool = False, family: int = 1) -> Comparison:
    """The verdict on these scores."""
    arms = [[Score(float(value), "nle", "T", f"g{n}" if paired else "") for n, value in enumerate(arm)]
            for arm in (ours, theirs)]  # fmt: skip
    return verdict.compare(*arms, bounds={"nle": Bounds()}, family=family, plan=False)


def shares(made: Sequence[Comparison]) -> tuple[float, float, float]:
    """In percent: false verdicts, undecided, intervals that hold the truth."""
    held = [one.interval.low <= 1e-9 and one.interval.high >= -1e-9 for one in made]
    wrong, open_ = [one.clear for one in made], [one.refused for one in made]
    return 100 * float(np.mean(wrong)), 100 * float(np.mean(open_)), 100 * float(np.mean(held))


def two_arms(repeats: int, designs: Designs) -> Iterator[tuple[str, str, float]]:
    """Independent arms; yields each row's name, its cells, and its worst share."""
    for kinds in designs.arms:
        cells = []
        for ours, theirs in designs.sizes:
            dice = np.random.default_rng(1)
            a, b = (drawn(kind, dice, (repeats, size))
                    for kind, size in zip(kinds, (ours, theirs), strict=True))  # fmt: skip
            cells.append(shares([judged(*arms) for arms in zip(a, b, strict=True)]))
        yield " v ".join(kinds), text(cells), max(cell[0] for cell in cells)


def same_games(repeats: int, designs: Designs) -> Iterator[tuple[str, str, float]]:
    """Pairs."""
    for kinds in designs.paired:
        cells = []
        for count in designs.pairs:
            a, b = alike(kinds, np.random.default_rng(1), (repeats, count))
            cells.append(shares([judged(*arms, paired=True) for arms in zip(a, b, strict=True)]))
        yield " v ".join(kinds), text(cells), max(cell[0] for cell in cells)


def twelve_arms(repeats: int, designs: Designs) -> Iterator[tuple[str, str, float]]:
    """Eleven arms against one, by Holm: how often any of them is found to differ."""
    for kinds in designs.holm:
        cells = []
        for count in designs.arm_sizes:
            dice, wrong, open_ = np.random.default_rng(1), 0, 0
            for _ in range(repeats // 5):
                baseline = drawn(kinds[1], dice, (count,))
                arms = drawn(kinds[0], dice, (ARMS - 1, count))
                made = adjust([judged(arm, baseline, family=ARMS - 1) for arm in arms])
                wrong += any(one.clear for one in made)
                open_ += any(one.refused for one in made)
            cells.append((100 * wrong / (repeats // 5), 100 * open_ / (repeats // 5), np.nan))
        yield " v ".join(kinds), text(cells), max(cell[0] for cell in cells)


def text(cells: Sequence[tuple[float, float, float]]) -> str:
    """Cells of one width."""
    return "".join(
        f"{wrong:>6.1f} {open_:>4.1f}" + (f" {held:>4.0f}" if held == held else "     ")
        for wrong, open_, held in cells
    )


TABLES = {"arms": (two_arms, 1), "paired": (same_games, 1), "holm": (twelve_arms, 5)}
"""How each table is made, and how many times fewer repeats it has."""


def headings(designs: Designs) -> dict[str, list[str]]:
    """Of each table's columns."""
    return {
        "arms": [f"{a} v {b}" for a, b in designs.sizes],
        "paired": [f"{count} pairs" for count in designs.pairs],
        "holm": [f"12 arms of {count}" for count in designs.arm_sizes],
    }


def table(repeats: int, only: str | None = None, designs: Designs = EVERY) -> bool:
    """Print the tables; whether no cell has too many false verdicts."""
    permutation.RANDOM, permutation.EXACT_UP_TO, verdict.DRAWS = 999, 2_000, 1_000
    good = True
    for name, (rows, fewer) in TABLES.items():
        if only not in (None, name):
            continue
        print(f"\n{name}: false verdicts, undecided, intervals that hold the truth, in percent "
              f"({repeats // fewer} repeats)")  # fmt: skip
        print(f"{'':24}" + "".join(f"{heading:>16}" for heading in headings(designs)[name]))
        bar = MOST + SLACK * 100 * (0.05 * 0.95 / (repeats // fewer)) ** 0.5
        for kinds, cells, worst in rows(repeats, designs):
            print(f"{kinds:24}{cells}" + ("  <- too many" if worst > bar else ""), flush=True)
            good = good and worst <= bar
    return good
