"""The figures of a comparison of two arms, and which claims they allow."""

from math import inf

import msgspec

from balrog_rag.results.statistics import design
from balrog_rag.results.statistics.differences import EASILY_MISSED, patience
from balrog_rag.results.statistics.estimate import Interval
from balrog_rag.results.statistics.order import LEAST, Order
from balrog_rag.results.statistics.permutation import LEAST_PAIRS, Test
from balrog_rag.results.statistics.prospects import needed, stricter
from balrog_rag.results.statistics.units import ALPHA

ALONE = 0.02
"""The level of a claim about means where no claim about the order agrees."""


class ComparisonFigures(msgspec.Struct, frozen=True):
    """One arm against another in one measure."""

    ours: str
    theirs: str
    measure: str
    unit: str
    our_mean: float
    """Of what was compared: without games or tasks that only one arm played, each game counted once."""
    their_mean: float
    our_count: int
    """Episodes compared."""
    their_count: int
    difference: float
    interval: Interval
    test: Test
    doubt: float = 1.0
    """The p of the interval, which allows for scores not seen: above 5 % exactly where it holds zero.
    Of a family it is that of an interval as strict as Holm's first bar."""
    our_draws: int = 0
    """Independent draws among them: games where games repeat, else episodes."""
    their_draws: int = 0
    paired: int = 0
    """How many games were compared pairwise; 0: the arms are taken as independent."""
    drawn: str = "games"
    """What a draw is where several episodes share one: a game, or a world of several games."""
    within: int = 0
    """In how many games, both played by both arms, labels were exchanged; 0: not within games."""
    effect: float | None = None
    """Hedges' g: the difference in units of the spread, corrected for small samples."""
    superiority: float = 0.5
    """The chance that an episode of ours beats one of theirs of the same task, ties counted half."""
    spread: float = 0.0
    """The standard deviation of a draw (of a pair's difference) that makes the difference as uncertain as
    it is; 0: not known."""
    detects: float = inf
    """The true difference that this design finds with a chance of 80 %, where it is the only test."""
    reference: float = inf
    """The same for 50 draws an arm."""
    solved_or_not: bool = False
    """Whether nothing lies between the least and the best score."""
    least_p: float = 1.0
    """The smallest p that the test can reach with so many draws."""
    wanted: float = 0.0
    order: Order = Order()
    """Which arm scores higher more often."""
    held: str = ""
    """Why no difference of means may be claimed, whatever the test says."""
    warned: str = ""
    """What a claim about means rests on."""
    earlier: tuple[int, ...] = ()
    """Our episodes at earlier looks at the same two arms."""
    scale: float = inf
    """How far apart two means can be."""
    adjusted: float | None = None
    """p after Holm's correction over a family of `family` comparisons."""
    settled: float | None = None
    """The same of p or doubt, whichever is larger."""
    order_settled: float | None = None
    """The same of the order's p."""
    family: int = 1
    notes: tuple[str, ...] = ()
    why: str = ""
    """Why there is no verdict, where that is not for want of a shared task."""
    things: str = "episodes"
    """What one score is of."""

    @property
    def blind(self) -> bool:
        """Whether so few draws can show no difference at all, however large."""
        fewest = min(self.our_draws, self.their_draws)
        return design.too_small(self.least_p, self.family) or fewest < (LEAST_PAIRS if self.paired else LEAST)

    @property
    def few(self) -> bool:
        """Whether an arm has so few draws that a rare score may well be among those not seen."""
        fewer = min(self.our_draws, self.their_draws)
        return not self.solved_or_not and fewer * patience(self.family) <= EASILY_MISSED

    @property
    def detectable(self) -> float:
        """The true difference that this design finds with a chance of 80 %; infinite where it finds none."""
        return inf if self.blind else self.detects * stricter(self.family)

    @property
    def needed(self) -> int | None:
        """Draws an arm (or pairs) with which `wanted` would be detected."""
        return needed(self.wanted, self.reference, self.family, LEAST_PAIRS if self.paired else LEAST)

    @property
    def p(self) -> float:
        """The test's p: adjusted where it belongs to a family."""
        return self.test.p if self.adjusted is None else self.adjusted

    @property
    def made(self) -> bool:
        """Whether there was anything to compare."""
        return self.test.method != "none"

    @property
    def clear(self) -> bool:
        """Whether the difference of means is claimed: by the test, and by the interval too.

        Two claims at 5 % each would be wrong more often than one. So means alone, where neither arm scores
        higher more often, are claimed at a stricter level.
        """
        return self.decisive <= (ALPHA if self.more_often else ALONE)

    @property
    def more_often(self) -> bool:
        """Whether it is claimed that one arm scores higher more often."""
        return self.made and self.order_p <= ALPHA

    @property
    def order_p(self) -> float:
        """The p of that claim, adjusted where it belongs to a family."""
        return self.order.p if self.order_settled is None else self.order_settled

    @property
    def claimed(self) -> bool:
        """Whether either is claimed."""
        return self.clear or self.more_often

    @property
    def decisive(self) -> float:
        """The p that decides: the test's or the interval's, whichever is larger."""
        return max(self.test.p, self.doubt) if self.settled is None else self.settled

    @property
    def undecided(self) -> bool:
        """Whether nothing is claimed."""
        return self.made and not self.claimed

    @property
    def refused(self) -> bool:
        """Whether the test alone would claim a difference of means, and the interval does not."""
        return self.made and not self.clear and self.p <= ALPHA

    @property
    def word(self) -> str:
        """The verdict in up to three words."""
        if not self.made:
            return "no verdict"
        if self.clear:
            return "higher" if self.difference > 0 else "lower"
        return self.order_word if self.more_often else "undecided"

    @property
    def order_word(self) -> str:
        """The claim about the order in words."""
        return "higher more often" if self.order.superiority > 0.5 else "lower more often"
