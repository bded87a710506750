"""How often a difference is found that a sentence says its design detects: 80 % is promised.

    python benchmarks/coverage.py --planning [--repeats 200]

Each repeat draws two equal arms and reads the promise from their verdict: `this design detects X`, and `N
episodes an arm would detect Y`. Then two arms that truly differ by X (with N episodes: by Y) are drawn and
judged, twice in each way of differing: our scores are a multiple of theirs, or fewer of ours are zero. Cells
are the percentage of sentences with either claim after each way (`-`: none is possible), that of comparisons
with a promise, and of those whose promise is only for fewer zeros.
"""

from collections.abc import Callable
from typing import NamedTuple

import claims
import numpy as np
from claims import Draw, lognormal, lumps, normal, zeros

from balrog_rag.results.statistics.comparison import Comparison
from balrog_rag.results.statistics.units import Bounds, Floats, Score
from balrog_rag.results.statistics.verdict import compare

COUNTS = (5, 10, 20, 40)
PILOTS = (10, 20)
CHECKS = 2
MOST = 400
"""Episodes an arm above which a planned number is not simulated."""


class Population(NamedTuple):
    """How scores are drawn, and the true difference to plan for."""

    draw: Draw
    wanted: float


POPULATIONS = {
    "strong NetHack": Population(lumps("strong"), 4.0),
    "published NetHack": Population(lumps("published"), 0.8),
    "weak NetHack": Population(lumps("weak"), 0.5),
    "exponential": Population(zeros(0.0), 0.8),
    "lognormal": Population(lognormal(1.0), 1.5),
    "6 of 10 zero": Population(zeros(0.6), 0.3),
    "normal": Population(normal(10, 1), 0.7),
}


class Ways:
    """Draws arms that are better by a given difference of means."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        drawn = draw(np.random.default_rng(0), (200_000,))
        self.mean, self.positive = float(drawn.mean()), drawn[drawn > 0]
        self.zeros = 1 - len(self.positive) / len(drawn)

    def times(self, gap: float, count: int, dice: np.random.Generator) -> Floats:
        """By a factor."""
        return self.draw(dice, (count,)) * (1 + gap / self.mean)

    def fewer_zeros(self, gap: float, count: int, dice: np.random.Generator) -> Floats:
        """By zeros that become other scores; when none is left, by a factor too."""
        drawn, room = self.draw(dice, (count,)), float(self.positive.mean()) - self.mean
        raised = (drawn == 0) & (dice.random(count) < gap / room)
        factor = max(1.0, (self.mean + gap) / (self.mean + room))
        return np.where(raised, dice.choice(self.positive, count), drawn) * factor


def judged(ours: Floats, theirs: Floats, plan: bool = False, wanted: float | None = None) -> Comparison:
    arms = [[Score(float(value), "E", "T") for value in arm] for arm in (ours, theirs)]
    return compare(*arms, bounds={"E": Bounds(most=np.inf)}, plan=plan, wanted=wanted)


class Found:
    """Counts how many promises there were, and how many were kept."""

    def __init__(self) -> None:
        self.promises, self.asked, self.through_zeros = 0, 0, 0
        self.kept: dict[str, list[bool]] = {"times": [], "fewer zeros": []}

    def check(self, ways: Ways, gap: float, count: int, dice: np.random.Generator) -> None:
        """Draw arms that differ by so much."""
        self.promises += 1
        made: dict[str, Callable[[float, int, np.random.Generator], Floats]] = {"times": ways.times}
        if ways.zeros:
            made["fewer zeros"] = ways.fewer_zeros
        for name, better in made.items():
            for _ in range(CHECKS):
                arms = better(gap, count, dice), ways.draw(dice, (count,))
                self.kept[name].append(judged(*arms).claimed)

    @property
    def text(self) -> str:
        """Kept by a factor, kept by fewer zeros, promises, those through fewer zeros."""
        kept = [f"{100 * np.mean(each):.0f}" if each else "-" for each in self.kept.values()]
        shares = [f"{100 * each / max(1, self.asked):.0f}" for each in (self.promises, self.through_zeros)]
        return "/".join([*kept, *shares])


def table(repeats: int) -> None:
    """Print it."""
    claims.quicker()
    print(
        "promises kept by a factor / by fewer zeros / comparisons with a promise / with one for fewer zeros"
    )
    heads = [f"n = {count}" for count in COUNTS] + [f"N after {count}" for count in PILOTS]
    print(f"{'percent':20}" + "".join(f"{head:>18}" for head in heads))
    for name, population in POPULATIONS.items():
        ways, dice, cells = Ways(population.draw), np.random.default_rng(1), []
        for count in COUNTS:
            found = Found()
            for _ in range(repeats):
                made = judged(*population.draw(dice, (2, count)), plan=True)
                found.asked += 1
                if np.isfinite(made.detectable):
                    found.through_zeros += made.detects.through_zeros
                    found.check(ways, made.detectable, count, dice)
            cells.append(found.text)
        for count in PILOTS:
            found = Found()
            for _ in range(repeats):
                made = judged(*population.draw(dice, (2, count)), plan=True, wanted=population.wanted)
                found.asked += 1
                if made.needed is not None and made.needed <= MOST:
                    found.through_zeros += made.reference.through_zeros
                    found.check(ways, population.wanted, made.needed, dice)
            cells.append(found.text)
        print(f"{name:20}" + "".join(f"{cell:>18}" for cell in cells), flush=True)
