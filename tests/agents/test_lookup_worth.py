"""When a look-up is worth its cost: the rule, the gate, and a fit."""

import numpy as np
import pytest

from balrog_rag.agents.lookup_worth import FEATURES, LookupWorth, chance, check_gate
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.asked_again import AskedAgain
from balrog_rag.studies.lookup_gate import _changed, logistic


def looked_up(worth: LookupWorth, found: list[list[str]], tokens: int = 0) -> list[int]:
    """The steps with a look-up; each costs this many tokens and finds the next of these passages."""
    steps, left = [], iter(found)
    for step in range(1, 40):
        if worth.due(step, 1.0):
            steps.append(step)
            worth.took(step, next(left, []), tokens)
    return steps


def test_what_brings_nothing_new_is_asked_ever_less_often() -> None:
    assert looked_up(LookupWorth(8, 50, {}), [["a", "b"]] * 20) == [1, 2, 4, 8, 16, 24, 32]


def test_what_brings_something_new_is_asked_at_every_step() -> None:
    assert looked_up(LookupWorth(8, 50, {}), [[str(n)] for n in range(50)]) == list(range(1, 40))


def test_passages_long_unseen_are_new_again() -> None:
    often, seldom = (looked_up(LookupWorth(8, forget, {}), [["a"]] * 40) for forget in (1, 50))
    assert len(often) > len(seldom)


def test_a_gate_decides_by_its_weights() -> None:
    hurt = LookupWorth(100, 50, {"bias": -5.0, "hurt": 10.0})
    health = [1.0, 1.0, 0.5, 0.5, 0.25]
    due = []
    for step, share in enumerate(health, start=1):
        due.append(hurt.due(step, share))
        if due[-1]:
            hurt.took(step, [])
    assert due == [True, False, True, False, True]  # the first step always is


HALF_NEW = [["a", str(n)] for n in range(50)]


@pytest.mark.parametrize(("tokens", "steps"), [(100, 39), (499, 39), (501, 7)])
def test_dear_look_ups_must_bring_more(tokens: int, steps: int) -> None:
    # after the first, half of what is found is new each time
    assert len(looked_up(LookupWorth(8, 50, {"worth": 1000}), HALF_NEW, tokens)) == steps


def test_a_gate_opens_at_a_likelier_change_where_look_ups_are_dear() -> None:
    gate = {"bias": 0.0, "worth": 1000.0}  # a change is as likely as not
    often, seldom = (looked_up(LookupWorth(10, 50, gate), HALF_NEW, tokens) for tokens in (499, 501))
    assert (len(often), seldom) == (39, [1, 11, 21, 31])


def test_text_that_stays_is_paid_for_at_each_step() -> None:
    worth = LookupWorth(8, 50, {"worth": 1000})
    worth.took(1, ["a"], 200)
    assert worth.enough == 0.2
    worth.kept(200)
    assert worth.enough == 0.4
    worth.took(3, ["b"], 4000)
    assert worth.enough == 1.0  # never more than sure


@pytest.mark.parametrize(
    ("gate", "told"),
    [({"helth": 1.0}, "gate.helth: no such weight; did you mean health"), ({"worth": 0.0}, "more than 0")],
)
def test_a_gate_of_nothing_known_is_a_mistake(gate: dict[str, float], told: str) -> None:
    check_gate({"bias": 1.0, "worth": 3.0})
    with pytest.raises(ConfigError, match=told):
        check_gate(gate)


def test_a_fit_finds_what_the_steps_were_made_with() -> None:
    dice = np.random.default_rng(0)
    x = np.c_[np.ones(4000), dice.random((4000, len(FEATURES) - 1))]
    true = dict(zip(FEATURES, (-2.0, 3.0, 0.0, -1.0, 2.0), strict=True))
    y = np.array([chance(true, dict(zip(FEATURES, row, strict=True))) > dice.random() for row in x], float)
    assert np.abs(logistic(x, y) - list(true.values())).max() < 0.4
    assert np.isfinite(logistic(x[:30], np.zeros(30))).all()


def test_a_passage_is_new_again_only_after_more_than_the_steps_to_forget() -> None:
    new = []
    for step in (4, 5):  # shown at step 1, forgotten after 3 more
        worth = LookupWorth(8, 3, {})
        worth.took(1, ["a"])
        worth.took(step, ["a"])
        new.append(worth.features(step + 1, 1.0)["new"])
    assert new == [0.0, 1.0]


@pytest.mark.parametrize(
    ("without", "again", "changed"),
    [
        ("east", "north", True),
        ("north", "north", False),
        ("east", "west", False),  # the model changes its answer by chance: passages are not credited
        ("north", "west", False),
    ],
)
def test_only_a_change_that_asking_again_does_not_make_counts(
    without: str, again: str, changed: bool
) -> None:
    assert _changed(AskedAgain("e", 0, "north", without, again)) is changed


def test_the_constant_of_a_fit_is_not_shrunk() -> None:
    """With nothing but a constant, the fitted chance is the share that was seen, however few the steps."""
    weights = logistic(np.ones((10, 1)), np.array([1.0] * 9 + [0.0]))
    assert chance({"bias": float(weights[0])}, {"bias": 1.0}) == pytest.approx(0.9, abs=1e-4)
