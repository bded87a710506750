"""Any of ten thousand random calls ends with a reason and without an exception, in four parts."""

import pytest

from tests.bots.plan.test_plan import reasons


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_ten_thousand_random_calls_end_with_a_reason(part: int) -> None:
    """Games that end are replaced; a failure names its seed."""
    total, games = 0, 0
    while total < 2_500:
        total += reasons(10_000 * (part + 1) + games, 200)[0]
        games += 1
    assert games > 5
