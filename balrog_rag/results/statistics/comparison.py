"""A comparison of two arms: its figures, and the sentence that sums them up."""

from collections.abc import Sequence

import msgspec

from balrog_rag.results.statistics import permutation
from balrog_rag.results.statistics.comparison_figures import ComparisonFigures
from balrog_rag.results.statistics.sentence import sentence


class Comparison(ComparisonFigures, frozen=True):
    """One arm compared with another in one measure."""

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return sentence(self)

    def __str__(self) -> str:
        return self.sentence


def adjust(family: Sequence[Comparison]) -> list[Comparison]:
    """Apply Holm's correction over the comparisons that could be made."""
    made = [comparison for comparison in family if comparison.made]
    adjusted = iter(permutation.holm([comparison.test.p for comparison in made]))
    settled = iter(permutation.holm([max(comparison.test.p, comparison.doubt) for comparison in made]))
    orders = iter(permutation.holm([comparison.order.p for comparison in made]))
    return [
        msgspec.structs.replace(
            comparison,
            adjusted=next(adjusted),
            settled=next(settled),
            order_settled=next(orders),
            family=len(made),
        )
        if comparison.made
        else comparison
        for comparison in family
    ]
