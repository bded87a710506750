"""The figures of a comparison of two arms, and which claims they allow."""

from math import inf

import msgspec

from balrog_rag.results.statistics import design
from balrog_rag.results.statistics.differences import EASILY_MISSED, patience
from balrog_rag.results.statistics.estimate import Interval
from balrog_rag.results.statistics.order import LEAST, Order
from balrog_rag.results.statistics.permutation import LEAST_PAIRS, Test
from balrog_rag.results.statistics.prospects import Prospect, needed, stricter
from balrog_rag.results.statistics.units import ALPHA

ALONE = 0.02
"""The level of a claim about means without a matching claim about the order."""


class ComparisonFigures(msgspec.Struct, frozen=True):
    """One arm compared with another in one measure."""

    ours: str
    theirs: str
    measure: str
    unit: str
    our_mean: float
    """Means of the compared games: only tasks or games that both arms played, each game counted once."""
    their_mean: float
    our_count: int
    """Number of compared episodes."""
    their_count: int
    difference: float
    interval: Interval
    test: Test
    doubt: float = 1.0
    """The p of the interval, which allows for scores not seen: above 5 % exactly where it holds zero.
    Of a family it is that of an interval as strict as Holm's first bar."""
    our_draws: int = 0
    """Independent draws: games if games repeat, otherwise episodes."""
    their_draws: int = 0
    paired: int = 0
    """Number of games compared pairwise; 0: the arms are treated as independent."""
    drawn: str = "games"
    """What a draw is if several episodes share one: a game, or a world of several games."""
    within: int = 0
    """Number of games, played by both arms, within which labels were permuted; 0: not within games."""
    effect: float | None = None
    """Hedges' g: the standardized difference, corrected for small samples."""
    superiority: float = 0.5
    """The probability that one of our episodes beats one of theirs of the same task, ties counted half."""
    spread: float = 0.0
    """The standard deviation of a draw (of a pair's difference) that makes the difference as uncertain as
    it is; 0: not known."""
    detects: Prospect = Prospect()
    """The true difference that this design detects with 80 % power, as the only test."""
    reference: Prospect = Prospect()
    """The same for 50 draws per arm."""
    solved_or_not: bool = False
    """Whether only the lowest and the highest score are possible."""
    least_p: float = 1.0
    """The smallest p that the test can reach with this number of draws."""
    wanted: float = 0.0
    order: Order = Order()
    """Which arm scores higher more often."""
    held: str = ""
    """Why a difference of means may not be claimed, whatever the test says."""
    warned: str = ""
    """What a claim about means depends on."""
    earlier: tuple[int, ...] = ()
    """The number of our episodes at earlier looks at the same two arms."""
    scale: float = inf
    """The largest possible difference of means."""
    adjusted: float | None = None
    """p after Holm's correction over a family of `family` comparisons."""
    settled: float | None = None
    """The same for p or doubt, whichever is larger."""
    order_settled: float | None = None
    """The same for the order's p."""
    family: int = 1
    notes: tuple[str, ...] = ()
    why: str = ""
    """Why there is no verdict, unless it is for lack of a common task."""
    things: str = "episodes"
    """The unit of a score."""

    @property
    def blind(self) -> bool:
        """Whether there are too few draws to detect any difference."""
        fewest = min(self.our_draws, self.their_draws)
        return design.too_small(self.least_p, self.family) or fewest < (LEAST_PAIRS if self.paired else LEAST)

    @property
    def few(self) -> bool:
        """Whether an arm has so few draws that a rare score may easily have been missed."""
        fewer = min(self.our_draws, self.their_draws)
        return not self.solved_or_not and fewer * patience(self.family) <= EASILY_MISSED

    @property
    def detectable(self) -> float:
        """The true difference that this design detects with 80 % power; infinite if there is none."""
        return inf if self.blind else self.detects.gap * stricter(self.family)

    @property
    def needed(self) -> int | None:
        """Draws per arm (or pairs) that would detect `wanted`."""
        return needed(self.wanted, self.reference.gap, self.family, LEAST_PAIRS if self.paired else LEAST)

    @property
    def p(self) -> float:
        """The test's p, adjusted if it belongs to a family."""
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
        """The p of that claim, adjusted if it belongs to a family."""
        return self.order.p if self.order_settled is None else self.order_settled

    @property
    def claimed(self) -> bool:
        """Whether either claim is made."""
        return self.clear or self.more_often

    @property
    def decisive(self) -> float:
        """The p that decides: the test's or the interval's, whichever is larger."""
        return max(self.test.p, self.doubt) if self.settled is None else self.settled

    @property
    def undecided(self) -> bool:
        """Whether neither claim is made."""
        return self.made and not self.claimed

    @property
    def claim_p(self) -> float:
        """The p of either claim, for a level other than 5 %; means alone count at their stricter level."""
        return min(self.order_p, self.decisive * ALPHA / ALONE, 1.0) if self.made else 1.0

    @property
    def refused(self) -> bool:
        """Whether the test alone would claim a difference of means, but the interval does not."""
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
