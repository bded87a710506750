"""Arguments of actions: what is accepted at the bounds, and what is refused."""

import pytest

from balrog_rag.contracts.data import Action, Call, Parameter

REST = Action("rest", parameters=(Parameter("turns", least=1, most=40),))


@pytest.mark.parametrize("turns", [1, 2, 39, 40])
def test_a_number_within_the_bounds_is_accepted(turns: int) -> None:
    assert REST.call(f"rest {turns}") == Call("rest", (turns,))


@pytest.mark.parametrize(
    "text", ["rest 0", "rest 41", "rest -1", "rest", "rest 1 2", "rest 1.0", "resting 3"]
)
def test_anything_else_is_refused(text: str) -> None:
    assert REST.call(text) is None


def test_an_optional_argument_may_be_left_out_only_at_the_end() -> None:
    go = Action("go", parameters=(Parameter("x", optional=True), Parameter("y", optional=True)))
    assert [go.call(text) for text in ("go", "go 3", "go 3 4", "go 3 4 5")] == [
        Call("go"),
        Call("go", (3,)),
        Call("go", (3, 4)),
        None,
    ]
