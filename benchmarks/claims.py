"""How often a sentence claims what is not so, and how often it claims what is, beside two usual tests.

    python benchmarks/coverage.py --claims [--repeats 1000] [--only false]

False claims: under equal distributions of either kind; under equal means of the means; under equal chances
to win of the order. Where rare scores carry a mean, false claims about means and the share of them with a
caveat. Power: sentences with either claim, beside Welch's t test and Mann and Whitney's; `!` marks a cell
below 0.8 (n = 5 and 10) or 0.9 of the better one of those that hold their level there, which is simulated on
equal distributions (each arm's own), by more than twice the standard error.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import false_verdicts
import numpy as np
from numpy.typing import NDArray

from balrog_rag.results.statistics import order, permutation, verdict
from balrog_rag.results.statistics.comparison import Comparison
from balrog_rag.results.statistics.sentence import RARE
from balrog_rag.results.statistics.units import ALPHA, Bounds, Floats, Score

Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
COUNTS = (5, 10, 20, 50, 200)
MOST, SLACK = 6.0, 2.0
"""Percent of false claims, and the standard errors that a simulated share may be above it."""
CAVEATS = 95.0
"""Percent of false claims about means carried by rare scores that must have a caveat."""
HOLDS = 6.5
"""Percent up to which a usual test holds its level."""


def normal(mean: float, spread: float) -> Draw:
    return lambda dice, size: dice.normal(mean, spread, size)


def lognormal(middle: float, spread: float = 1.0) -> Draw:
    return lambda dice, size: middle * np.exp(dice.normal(0, spread, size))


def solved(share: float) -> Draw:
    return lambda dice, size: (dice.random(size) < share) * 100.0


def constant(value: float) -> Draw:
    return lambda dice, size: np.full(size, value)


def two(low: float, high: float, share: float = 0.5) -> Draw:
    return lambda dice, size: np.where(dice.random(size) < share, high, low)


def zeros(share: float, mean: float = 1.0) -> Draw:
    return lambda dice, size: (dice.random(size) >= share) * dice.exponential(mean, size)


def lumps(kind: str, times: float = 1.0) -> Draw:
    pairs = np.array(POPULATIONS[kind], float)
    return lambda dice, size: times * dice.choice(pairs[:, 0], size, p=pairs[:, 1] / pairs[:, 1].sum())


def jackpot(kind: str, share: float, worth: float) -> Draw:
    plain = lumps(kind)
    return lambda dice, size: np.where(dice.random(size) < share, worth, plain(dice, size))


def scaled(kind: str) -> Draw:
    """A population of false_verdicts, of mean 1."""
    return lambda dice, size: false_verdicts.drawn(kind, dice, size)


POPULATIONS = {
    **false_verdicts.LUMPS,
    "weak": [(0, 88), (1.539, 5), (1.848, 4), (2.081, 2), (4.846, 1)],
}


class Design(NamedTuple):
    """Two populations."""

    ours: Draw
    theirs: Draw
    binary: bool = False


ALIKE = {
    "normal": Design(normal(0, 1), normal(0, 1)),
    "lognormal": Design(lognormal(1), lognormal(1)),
    "published NetHack": Design(lumps("published"), lumps("published")),
    "strong NetHack": Design(lumps("strong"), lumps("strong")),
    "weak NetHack": Design(lumps("weak"), lumps("weak")),
    "7 of 10 zero": Design(zeros(0.7), zeros(0.7)),
    "solved 0.3": Design(solved(0.3), solved(0.3), True),
}
SAME_MEANS = {
    "normal 1 v 3": Design(normal(0, 1), normal(0, 3)),
    "lognormal v steady": Design(scaled("lognormal"), scaled("steady")),
    "mostly zero v steady": Design(scaled("mostly zero"), scaled("steady")),
    "exponential v normal": Design(scaled("exponential"), scaled("normal")),
    "one in five v steady": Design(scaled("one in five"), scaled("steady")),
    "0.02 v its constant": Design(two(0, 1, 0.02), constant(0.02)),
    "5 % jackpot in both": Design(jackpot("published", 0.05, 40), jackpot("published", 0.05, 40)),
}
SAME_ORDER = {
    "normal 1 v 3": Design(normal(0, 1), normal(0, 3)),
    "normal 1 v 10": Design(normal(0, 1), normal(0, 10)),
    "constant v normal": Design(constant(0), normal(0, 1)),
    "constant v two values": Design(constant(0), two(-1, 1)),
    "steady v lognormal": Design(two(0.86, 1.14), lognormal(1)),
    "lognormal 0.5 v 1.5": Design(lognormal(1, 0.5), lognormal(1, 1.5)),
}
MISLED = {
    "jackpot in ours only, 25 v 200": (
        Design(jackpot("published", 0.05, 40), lumps("published", 3)),
        (25, 200),
    ),
    "jackpot in ours only, 50 v 50": (
        Design(jackpot("published", 0.05, 40), lumps("published", 3)),
        (50, 50),
    ),
    "jackpot in both, 25 v 200": (SAME_MEANS["5 % jackpot in both"], (25, 200)),
    "0.02 v its constant, 25 v 200": (SAME_MEANS["0.02 v its constant"], (25, 200)),
    "one in five v steady, 20 v 100": (SAME_MEANS["one in five v steady"], (20, 100)),
    "lognormal v steady, 25 v 200": (SAME_MEANS["lognormal v steady"], (25, 200)),
}
"""Rare scores carry a mean; a claim about means in the other direction or at equal means is false."""
DIFFERENT = {
    "published v strong NetHack": {n: Design(lumps("published"), lumps("strong")) for n in COUNTS},
    "weak v published NetHack": {n: Design(lumps("weak"), lumps("published")) for n in COUNTS},
    "strong NetHack, 2.2 times": {n: Design(lumps("strong", 2.2), lumps("strong")) for n in COUNTS},
    "normal": {n: Design(normal(4 / n**0.5, 1), normal(0, 1)) for n in COUNTS},
    "normal 1 v 3": {n: Design(normal(9 / n**0.5, 1), normal(0, 3)) for n in COUNTS},
    "exponential": {n: Design(scaled("exponential"), zeros(0, 1 + 5 / n**0.5)) for n in COUNTS},
    "lognormal": {n: Design(lognormal(np.exp(4 / n**0.5)), lognormal(1)) for n in COUNTS},
    "solved 0.6 v 0.2": {n: Design(solved(0.6), solved(0.2), True) for n in COUNTS},
    "solved, more": {n: Design(solved(0.5 + 0.9 / n**0.5), solved(0.5 - 0.4 / n**0.5), True) for n in COUNTS},
    "constant 0 v exponential": {n: Design(constant(0), zeros(0.5)) for n in COUNTS},
    "7 v 4 of 10 zero": {n: Design(zeros(0.7), zeros(0.4)) for n in COUNTS},
}


def judged(ours: Floats, theirs: Floats, binary: bool) -> Comparison:
    """The verdict on these scores, as numbers without a scale."""
    arms = [[Score(float(value), "E", "T") for value in arm] for arm in (ours, theirs)]
    bounds = Bounds(binary=True) if binary else Bounds(least=-np.inf, most=np.inf, counted=True)
    return verdict.compare(*arms, bounds={"E": bounds}, plan=False)


def quicker() -> None:
    """Fewer relabellings and bootstrap samples than a verdict uses, which costs it a little power."""
    permutation.RANDOM, permutation.EXACT_UP_TO, verdict.DRAWS = 999, 2_000, 1_000
    order.RANDOM, order.LEAST_RANDOM, order.EXACT_UP_TO = 999, 999, 2_000


def drawn(design: Design, sizes: tuple[int, int], repeats: int) -> tuple[Floats, Floats]:
    dice = np.random.default_rng(1)
    return design.ours(dice, (repeats, sizes[0])), design.theirs(dice, (repeats, sizes[1]))


LOOSE = 0.15
"""Welch's p above which none of these designs leads to a claim about means."""


def share(design: Design, sizes: tuple[int, int], repeats: int, claim: Callable[[Comparison], bool]) -> float:
    """In percent how often this is claimed; pairs of arms for which no claim is possible are skipped."""
    ours, theirs = drawn(design, sizes, repeats)
    worth = possible(ours, theirs)
    made = (judged(*pair, design.binary) for pair in zip(ours[worth], theirs[worth], strict=True))
    return 100 * sum(map(claim, made)) / repeats


def possible(ours: Floats, theirs: Floats) -> NDArray[np.bool_]:
    """Which pairs of arms may lead to a claim.

    The order is never claimed where Brunner and Munzel's own p is above 5 %, except of two values.
    """
    from scipy import stats

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # arms that do not overlap, or never vary
        order_p = stats.brunnermunzel(ours, theirs, axis=1).pvalue
        welch = stats.ttest_ind(ours, theirs, axis=1, equal_var=False).pvalue
    ranked = np.sort(np.concatenate([ours, theirs], axis=1), axis=1)
    two = (np.diff(ranked, axis=1) > 0).sum(axis=1) <= 1
    return ~((order_p > ALPHA) & (welch > LOOSE)) | two


def usual(ours: Floats, theirs: Floats) -> tuple[float, float]:
    """In percent how often Welch's test and Mann and Whitney's find a difference."""
    from scipy import stats

    with np.errstate(all="ignore"):
        welch = stats.ttest_ind(ours, theirs, axis=1, equal_var=False).pvalue
    ranks = stats.mannwhitneyu(ours, theirs, axis=1).pvalue
    return 100 * float(np.mean(welch <= 0.05)), 100 * float(np.mean(ranks <= 0.05))


def false_claims(repeats: int, sizes: tuple[tuple[int, int], ...]) -> Iterator[tuple[str, list[float]]]:
    """In percent."""
    wrong: tuple[tuple[str, dict[str, Design], Callable[[Comparison], bool]], ...] = (
        ("alike", ALIKE, lambda made: made.claimed),
        ("equal means", SAME_MEANS, lambda made: made.clear),
        ("equal chances", SAME_ORDER, lambda made: made.more_often),
    )
    for title, designs, claim in wrong:
        for name, design in designs.items():
            yield f"{title}: {name}", [share(design, size, repeats, claim) for size in sizes]


def misled(repeats: int) -> Iterator[tuple[str, float, float]]:
    """False claims about means that rare scores carry, and those of them with a caveat, in percent."""
    for name, (design, sizes) in MISLED.items():
        ours, theirs = drawn(design, sizes, repeats)
        truth = np.sign(round(float(mean_of(design.ours) - mean_of(design.theirs)), 1))
        worth = possible(ours, theirs)
        made = (judged(*pair, design.binary) for pair in zip(ours[worth], theirs[worth], strict=True))
        wrong = [one for one in made if one.clear and np.sign(one.difference) != truth]
        warned = [one for one in wrong if RARE in one.sentence or "; warning: " in one.sentence]
        yield name, 100 * len(wrong) / repeats, 100 * len(warned) / max(1, len(wrong))


def mean_of(draw: Draw) -> float:
    """A population's mean."""
    return float(draw(np.random.default_rng(0), (2_000_000,)).mean())


def power(repeats: int, counts: tuple[int, ...] = COUNTS) -> Iterator[tuple[str, list[str], bool]]:
    """Ours, Welch's, Mann and Whitney's, in percent; and whether none falls short."""
    for name, designs in DIFFERENT.items():
        cells, enough = [], True
        for count in counts:
            design = designs[count]
            ours = share(design, (count, count), repeats, lambda made: made.claimed)
            tests = usual(*drawn(design, (count, count), 4_000))
            levels = [usual(*drawn(Design(each, each), (count, count), 4_000)) for each in design[:2]]
            fair = [
                power for place, power in enumerate(tests) if max(level[place] for level in levels) <= HOLDS
            ]
            wanted = (0.8 if count <= 10 else 0.9) * max(fair, default=0.0)
            slack = 100 * SLACK * 0.5 / repeats**0.5
            short = ours < wanted - slack
            enough &= not short
            cells.append(f"{ours:.0f}/{tests[0]:.0f}/{tests[1]:.0f}{'!' if short else ' '}")
        yield name, cells, enough


SIZES = tuple((count, count) for count in COUNTS)
UNEVEN = ((5, 20), (20, 5), (25, 200), (200, 25))


def table(repeats: int, only: str | None) -> bool:
    """Print both; whether every cell is as it should be."""
    quicker()
    good, slack = True, 100 * SLACK * (0.06 * 0.94 / repeats) ** 0.5
    if only != "power":
        print(f"{'false claims, in percent':40}" + "".join(f"{f'{a} v {b}':>10}" for a, b in SIZES + UNEVEN))
        for name, cells in false_claims(repeats, SIZES + UNEVEN):
            over = [cell > MOST + slack for cell in cells]
            good &= not any(over)
            shown = [f"{cell:>9.1f}{'!' if bad else ' '}" for cell, bad in zip(cells, over, strict=True)]
            print(f"{name:40}" + "".join(shown), flush=True)
        print(f"{'rare scores carry the mean':40}{'false':>10}{'of these with a caveat':>26}")
        for name, wrong, warned in misled(repeats):
            good &= not wrong or warned >= CAVEATS
            print(f"{name:40}{wrong:>9.1f} {warned:>25.0f}", flush=True)
    if only != "false":
        print(f"{'power: ours/Welch/Mann-Whitney':40}" + "".join(f"{count:>12}" for count in COUNTS))
        for name, texts, enough in power(repeats):
            good &= enough
            print(f"{name:40}" + "".join(f"{text:>12}" for text in texts), flush=True)
    return good
