"""What plug-ins return is converted where it can be, and otherwise refused with its field and value."""

import math
from collections import OrderedDict
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from balrog_rag.contracts import validation
from balrog_rag.contracts.data import (
    Action,
    Decision,
    Observation,
    Parameter,
    Part,
    Passage,
    Reply,
    TaskView,
    Transition,
    Usage,
)
from balrog_rag.contracts.errors import PluginError
from balrog_rag.contracts.outcome import Outcome

SEEN = Observation((Part("message", "hello"),), {"at": 1}, "d")
VIEW = TaskView("game", "task", "Win.", {"east": "go"}, frozenset({"east", "x"}), "east")


class Wordless:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


def moved(**changed: Any) -> Transition:
    inner = {name: value for name, value in changed.items() if name in Observation.__struct_fields__}
    outer = {name: value for name, value in changed.items() if name not in inner}
    return msgspec.structs.replace(
        Transition(SEEN, 1.0), observation=msgspec.structs.replace(SEEN, **inner), **outer
    )


def refusal(check: Any, value: Any) -> str:
    with pytest.raises(PluginError) as refused:
        check(value, "plug-in 'p'", "it")
    said = str(refused.value)
    assert "\n" not in said
    return said.removeprefix("plug-in 'p': ")


def test_what_fits_stays_equal() -> None:
    given = moved(ended="died", end={"death": "a newt", "items": [1, 2.5, None, True]}, pressed=(1, "a"))
    assert validation.transition(given, "p", "it") == given
    assert validation.task_view(VIEW, "p", "it") == VIEW
    reply = Reply("x", usage=Usage(1, 2), cost=0.5)
    assert validation.reply(reply, "p", "it") == reply
    decision = Decision("east", notes={"read": "action"})
    assert validation.decision(decision, "p", "it") == decision


def test_other_libraries_numbers_and_containers_are_converted() -> None:
    numbers = OrderedDict(at=np.int64(3), door=True)
    given = moved(numbers=numbers, reward=np.float32(0.5), keys=np.int16(2), parts=[Part("a", np.str_("b"))])
    found = validation.transition(given, "p", "it")
    assert found.observation.numbers == {"at": 3, "door": 1}
    assert {type(value) for value in found.observation.numbers.values()} == {int}
    assert (type(found.reward), type(found.keys), found.observation.parts) == (float, int, (Part("a", "b"),))
    ended = validation.transition(
        moved(ended=Outcome.DIED, end={"turn": np.int32(4), "at": (1, 2)}), "p", "it"
    )
    assert (type(ended.ended), ended.end) == (str, {"turn": 4, "at": [1, 2]})


def test_a_transition_does_not_change_with_what_the_game_keeps() -> None:
    numbers = {"at": 1}
    found = validation.transition(moved(numbers=numbers), "p", "it")
    numbers["at"] = 2
    assert found.observation.numbers == {"at": 1}


def test_half_characters_are_replaced() -> None:
    given = moved(
        parts=(Part("message", "a\ud83d", "now"), Part("m", "\ud83d\ude00")),
        ended="died",
        end={"x": "\udc00"},
    )
    found = validation.transition(given, "p", "it")
    assert [part.text for part in found.observation.parts] == ["a\ufffd", "\U0001f600"]
    assert (found.observation.parts[0].shown, found.end) == ("now", {"x": "\ufffd"})
    assert validation.reply(Reply("\ud83d", usage=Usage(3)), "p", "it") == Reply("\ufffd", usage=Usage(3))
    view = msgspec.structs.replace(VIEW, goal="\udc00", programs=(Action("go", "", (Parameter("n"),)),))
    assert validation.task_view(view, "p", "it").goal == "\ufffd"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (moved(numbers={"at": 1.5}), "it.observation.numbers['at'] is 1.5; use an integer: round it"),
        (moved(numbers={"at": "1"}), "it.observation.numbers['at'] is '1'; use an integer"),
        (moved(numbers={"at": 2**64}), "it.observation.numbers['at'] is 18446744073709551616; use an"),
        (moved(numbers={1: 1}), "a name in it.observation.numbers is 1; return a str"),
        (moved(numbers=[1]), "it.observation.numbers is [1]; use a mapping of names to integers"),
        (moved(parts=(Part("a", "b", "later"),)), "it.observation.parts[0].shown is 'later'; use one of "),
        (moved(parts=(Part("a", None),)), "it.observation.parts[0].text is None; use a str"),  # type: ignore[arg-type]
        (moved(parts=("text",)), "it.observation.parts[0] is 'text'; use a Part"),
        (moved(parts=Wordless()), "it.observation.parts is a Wordless; use "),
        (moved(digest=3), "it.observation.digest is 3; use a str"),
        (moved(reward=math.inf), "it.reward is inf; use a finite number"),
        (moved(reward="1"), "it.reward is '1'; use a finite number"),
        (moved(keys=-1), "it.keys is -1; use the number of key presses"),
        (moved(ended="won"), "it.ended is 'won'; use one of ascended, died, "),
        (moved(ended="dollars"), "it.ended is 'dollars'; use one of "),
        (moved(ended="crashed"), "it.ended is 'crashed'; use one of "),
        (moved(ended=True), "it.ended is True; use a str"),
        (moved(end={"hp": math.nan}), "it.end['hp'] is nan; use a finite number"),
        (moved(end={"a": [{1}]}), "it.end['a'][0] is {1}; use plain data"),
        (moved(rises=(1,)), "it.rises[0] is 1; use a Rise"),
        (Transition(None), "it.observation is None; use an Observation"),  # type: ignore[arg-type]
        (SEEN, "it is Observation(parts=("),
        (None, "it is None; return a Transition of balrog_rag.contracts.data"),
    ],
)  # fmt: skip
def test_a_wrong_transition_is_refused_with_its_field_and_value(value: Any, said: str) -> None:
    assert refusal(validation.transition, value).startswith(said)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"goal": 3}, "it.goal is 3; use a str"),
        ({"actions": {"east": None}}, "it.actions['east'] is None; use a str"),
        ({"accepted": None}, "it.accepted is None; use "),
        ({"default_action": "rest"}, "it.default_action is 'rest'; use one that it.accepted contains"),
    ],
)
def test_a_wrong_task_is_refused(changed: dict[str, Any], said: str) -> None:
    assert refusal(validation.task_view, msgspec.structs.replace(VIEW, **changed)).startswith(said)


@pytest.mark.parametrize(
    ("check", "value", "said"),
    [
        (validation.reply, Reply(None), "it.text is None; use a str"),  # type: ignore[arg-type]
        (validation.reply, Reply("", usage=Usage(1.5)), "it.usage.input is 1.5; use an integer"),  # type: ignore[arg-type]
        (validation.reply, Reply("", cost=math.nan), "it.cost is nan; use a finite number"),
        (validation.decision, Decision("a", notes={"x": math.inf}), "it.notes['x'] is inf; use a"),
        (validation.decision, Decision("a", notes={1: 1}), "a name in it.notes is 1; return a str"),  # type: ignore[dict-item]
        (validation.decision, "east", "it is 'east'; return a Decision of balrog_rag.contracts.data"),
        (validation.passages, "text", "it is 'text'; return a list of Passage"),
        (validation.passages, [Passage("a", "b", 3)], "it[0].text is 3; use a str"),  # type: ignore[arg-type]
        (validation.passages, [Passage("a", "b", "", math.nan)], "it[0].score is nan; use a finite number"),
        (validation.flag, None, "it is None; return True or False"),
        (validation.flag, np.zeros(2), "it is array([0., 0.]); return True or False"),
        (validation.texts, "text", "it is 'text'; return a list of str"),
        (validation.texts, ["a", 1], "it[1] is 1; return a str"),
        (validation.share, 1.5, "it is 1.5; it must be from 0 to 1"),
        (validation.text, "a" * 4_000_001, "it has 4,000,001 characters; return at most 4,000,000"),
    ],
)  # fmt: skip
def test_other_wrong_values_are_refused(check: Any, value: Any, said: str) -> None:
    assert refusal(check, value).startswith(said)


def test_a_program_that_fails_may_end_a_game_in_another_way() -> None:
    lost = validation.transition(moved(ended="crashed"), "p", "it", player_lost=True)
    assert lost.ended == "crashed"
    with pytest.raises(PluginError):
        validation.transition(moved(ended="dollars"), "p", "it", player_lost=True)


def test_a_passage_is_kept_as_it_is() -> None:
    """Texts of the knowledge base are shared by all episodes."""
    passage = Passage("a", "b", "c")
    assert validation.passages([passage], "p", "it")[0] is passage
    assert validation.passages([Passage("a", "b", "\ud83d", 1)], "p", "it") == (
        Passage("a", "b", "\ufffd", 1.0),
    )


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary()
NAMES = st.text(max_size=2) | st.integers()
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=200, deadline=None)
@given(
    changed=st.dictionaries(
        st.sampled_from([*Transition.__struct_fields__[1:], *Observation.__struct_fields__]),
        ANYTHING,
        max_size=3,
    )
)
def test_any_transition_is_refused_or_survives_the_way_to_another_process(changed: dict[str, Any]) -> None:
    try:
        found = validation.transition(moved(**changed), "p", "it")
    except PluginError:
        return
    packed = msgspec.msgpack.encode(found)
    assert msgspec.msgpack.decode(packed, type=Transition) == found
    written = msgspec.json.encode(found)
    assert msgspec.json.decode(written, type=Transition) == found
