"""Answers as models write them, and the action that is read out of each.

Those marked "seen" stand in the published BALROG submissions (balrog-ai/experiments, `failed_candidates`):
Llama-3.2-3B and Mistral-Nemo (naive), Phi-4 (robust_naive), DeepSeek-R1 and its distillate (robust_cot).
"""

import pytest

from balrog_rag.agents.answers import (
    AFTER_LABEL,
    TAGS,
    TAGS_OR_LETTERS,
    TAGS_OR_WHOLE,
    UNREADABLE,
    WHOLE,
    Style,
    read,
)
from balrog_rag.contracts.data import Action, Parameter, TaskView

COMPASS = ("north", "south", "east", "west", "northeast", "northwest", "southeast", "southwest")
WORDS = (
    "open",
    "kick",
    "force",
    "fight",
    "wield",
    "puton",
    "travel",
    "eat",
    "quaff",
    "throw",
    "look",
    "search",
)
ACCEPTED = frozenset(
    (
        *COMPASS,
        *(f"far {way}" for way in COMPASS),
        *WORDS,
        "esc",
        "more",
        *"abcdefghijklmnopqrstuvwxyzAB0123456789",
    )
)


def taking(accepted, *programs):
    view = TaskView("nle", "x", "", {}, frozenset(accepted), "esc")
    return view.offering(programs)


VIEW = taking(ACCEPTED)

SAME = "the same"
"""The lenient reading is the strict one."""

TABLE: list[tuple[Style, str, str | None, str | None]] = [
    # style, the answer, what BALROG's way of reading makes of it (None: nothing valid), what it plainly means
    (WHOLE, "north", "north", SAME),
    (WHOLE, " far east \n", "far east", SAME),
    (WHOLE, "north.", "north", SAME),
    (WHOLE, "**north**", "north", SAME),
    (WHOLE, "`far east`", "far east", SAME),
    (WHOLE, '"search"', "search", SAME),
    (WHOLE, "North", None, "north"),
    (WHOLE, "FAR EAST", None, "far east"),
    (WHOLE, "far_east", None, "far east"),
    (WHOLE, "far  east", None, "far east"),
    (WHOLE, "move north", None, "north"),
    (WHOLE, "I will go north.", None, "north"),
    (WHOLE, "The next action is: search", None, "search"),
    (WHOLE, "Action: east", None, "east"),
    (WHOLE, "north because the corridor leads there", None, "north"),
    (WHOLE, "north. There is a door to the east.", None, "north"),
    (WHOLE, "7", None, "7"),  # BALROG's letters-only filter: digits cannot be answered
    (WHOLE, "10s", "s", SAME),  # and this one becomes another action
    (WHOLE, "A", "A", SAME),
    (WHOLE, "a", "a", SAME),
    (WHOLE, "north or south", None, None),
    (WHOLE, "", None, None),
    (WHOLE, "go east", None, "east"),  # seen
    (WHOLE, "travel >", None, "travel"),  # seen; with the trailing space that the filter leaves
    (WHOLE, "travel > (y=0)", None, "travel"),  # seen
    (WHOLE, "looking at map", None, None),  # seen
    (WHOLE, "look around", None, "look"),  # seen
    (WHOLE, "eat g", None, "eat"),  # seen: 5 of the first 39 of one game
    (WHOLE, "wield i", None, "wield"),  # seen
    (WHOLE, "southsoutheast", None, None),  # seen: two steps in one word
    (WHOLE, "stairs", None, None),  # seen
    (WHOLE, "puton a: an uncursed +2 pair of leather gloves (being worn)", None, "puton"),  # seen
    (
        WHOLE,
        "I'll make sure to output only one action at a time. In this case, I'll output:\n\nwest",
        None,
        None,
    ),  # seen
    (AFTER_LABEL, "The door is north.\nACTION: north", "north", SAME),
    (AFTER_LABEL, "ACTION: south\nNo, better:\nACTION: far east", "far east", SAME),
    (AFTER_LABEL, "ACTION:north", "north", SAME),
    (AFTER_LABEL, "**ACTION:** north", "north", SAME),
    (AFTER_LABEL, "ACTION: <north>", "north", SAME),
    (AFTER_LABEL, "ACTION: North", None, "north"),
    (AFTER_LABEL, "Action: north", None, "north"),
    (AFTER_LABEL, "ACTION: north\nThat is the way.", None, "north"),
    (AFTER_LABEL, "ACTION: 7", None, "7"),
    (AFTER_LABEL, "I think I go\nnorth", None, "north"),
    (AFTER_LABEL, "The way north is blocked, so is east.", None, None),
    (TAGS_OR_WHOLE, "<|ACTION|>north<|END|>", "north", SAME),
    (TAGS_OR_WHOLE, "north", "north", SAME),
    (TAGS_OR_WHOLE, "7", "7", SAME),
    (TAGS_OR_WHOLE, "North", None, "north"),
    (TAGS_OR_WHOLE, "open southeast door", None, "open"),  # seen
    (TAGS_OR_WHOLE, "force door with +1 club", None, "force"),  # seen
    (TAGS_OR_WHOLE, "Use +1 club on southeast door.", None, None),  # seen
    (TAGS_OR_WHOLE, "`force door with +1 club`", None, "force"),  # seen
    (
        TAGS_OR_WHOLE,
        '```json\n{\n  "action": "force",\n  "direction": "southeast",\n  "tool": "+1 club"\n}\n```',
        None,
        "force",
    ),  # seen
    (TAGS, "I flee.\n<|ACTION|>far east<|END|>", "far east", SAME),
    (TAGS, "<|ACTION|> north <|END|>", "north", SAME),
    (TAGS, "<|ACTION|>\nnorth\n<|END|>", "north", SAME),
    (TAGS, "<|ACTION|>north<|END|> or <|ACTION|>south<|END|>", "north", SAME),
    (TAGS, "<|ACTION|>A<|END|>", "A", SAME),
    (TAGS, '<|ACTION|>"north"<|END|>', None, "north"),
    (TAGS, "<|ACTION|>**north**<|END|>", None, "north"),
    (TAGS, "<|ACTION|>NORTH<|END|>", None, "north"),
    (TAGS, "<|action|>north<|end|>", None, "north"),
    (TAGS, "<ACTION>north</ACTION>", None, "north"),
    (TAGS, "<|ACTION|>move north<|END|>", None, "north"),
    (TAGS, "<|ACTION|>CHOSEN_ACTION<|END|>", None, None),
    (TAGS, "<|ACTION|>CHOSEN_ACTION<|END|> is the form.\n<|ACTION|>east<|END|>", None, "east"),  # seen so
    (TAGS, "So the action is 'east'.\n</think>\n\n<|ACTION|>east", None, "east"),  # seen
    (TAGS, "north<|END|>", None, "north"),
    (TAGS, "ACTION: north", None, "north"),
    (TAGS, "\\boxed{north}", None, "north"),
    (TAGS, "north", None, "north"),
    (TAGS, "<|ACTION|>open northeast<|END|>", None, "open"),  # seen: 26 in the first hundred of one game
    (TAGS, "<|ACTION|>kick west<|END|>", None, "kick"),  # seen
    (TAGS, "<|ACTION|>wield a dagger<|END|>", None, "wield"),  # seen
    (TAGS, "<|ACTION|>far westnorthwest<|END|>", None, None),  # seen
    (TAGS, "<|ACTION|>:<|END|>", None, None),  # seen
    (TAGS, "<|ACTION|>end<|END|>", None, None),  # seen
    (TAGS, "<|ACTION|>open or kick<|END|>", None, None),
    (TAGS, "<|ACTION|><|END|>", None, None),
    (TAGS, "", None, None),
    (TAGS, "I do not know.", None, None),
    (TAGS, "I cannot help with that.", None, None),
]


@pytest.mark.parametrize(("style", "text", "strict", "lenient"), TABLE)
def test_what_is_read_out_of_an_answer(
    style: Style, text: str, strict: str | None, lenient: str | None
) -> None:
    severe = read(text, style, VIEW, lenient=False)
    mild = read(text, style, VIEW, lenient=True)
    assert (severe.action if severe.action in ACCEPTED else None) == strict
    assert (mild.action if mild.action in ACCEPTED else None) == (strict if lenient == SAME else lenient)
    expected = "strict" if strict else "lenient" if lenient else "none"
    assert (severe.how, mild.how) == (expected, expected)


def test_an_answer_without_tags_leaves_a_trace_that_is_no_action() -> None:
    assert read("Well.", TAGS, VIEW, lenient=False).action == UNREADABLE
    assert UNREADABLE not in ACCEPTED


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I go. <|ACTION|>far east<|END|>", ("far east", "strict")),
        ("search!", ("search", "strict")),
        (" 7 north. ", ("north", "strict")),
        ("I go to the *north*", ("I go to the north", "none")),
    ],
)
def test_the_papers_fallback_reads_the_letters_of_an_answer_without_tags(
    text: str, found: tuple[str, str]
) -> None:
    assert read(text, TAGS_OR_LETTERS, VIEW, lenient=False) == (*found, None)


def test_letters_keep_their_case() -> None:
    both = frozenset({"a", "A"})
    assert read("<|ACTION|>a<|END|>", TAGS, taking(both), lenient=True).action == "a"
    assert read("<|ACTION|>A<|END|>", TAGS, taking(both), lenient=True).action == "A"


@pytest.mark.parametrize(
    ("style", "text", "found"),
    [
        (TAGS, "<|ACTION|>north<|END|> then\n<|ACTION|>far east<|END|>", ["north", "far east"]),
        (TAGS, "nothing", []),
        (TAGS_OR_WHOLE, "<|ACTION|>north<|END|><|ACTION|><|END|>", ["north"]),
        (TAGS_OR_WHOLE, "north", ["north"]),
        (WHOLE, "north\nfar east, search", ["north", "far east", "search"]),
        (AFTER_LABEL, "I go. ACTION: north, north, east", ["north", "north", "east"]),
    ],
)
def test_an_answer_with_several_actions(style: Style, text: str, found: list[str]) -> None:
    assert style.several(text, VIEW) == found


@pytest.mark.parametrize(
    "text", ["<|ACTION|>" * 20_000, "a " * 50_000, "action:" * 20_000, "\n" * 100_000, "I " * 40_000]
)
def test_a_monstrous_answer_is_read_in_no_time(text: str) -> None:
    assert read(text, TAGS, VIEW, lenient=True).how in ("none", "lenient")


REST = Action("rest", "let time pass", (Parameter("turns", least=1, most=100),))
EXPLORE = Action("explore_level", "look at all there is")
SAY = Action("look_up", "ask the guide", (Parameter("query", "text"),))
NAP = Action("nap", "sleep", (Parameter("turns", least=1, most=20, optional=True),))
SKILLED = taking(ACCEPTED, REST, EXPLORE, SAY, NAP)


@pytest.mark.parametrize(
    ("style", "text", "action"),
    [
        (WHOLE, "rest 40", "rest 40"),
        (WHOLE, "explore_level", "explore_level"),
        (AFTER_LABEL, "Enough.\nACTION: rest 7", "rest 7"),
        (TAGS, "<|ACTION|>rest 40<|END|>", "rest 40"),
        (TAGS_OR_WHOLE, "rest  40", "rest 40"),
        (TAGS, "<|ACTION|>look_up what do newts eat<|END|>", "look_up what do newts eat"),
        (WHOLE, "north", "north"),
        (WHOLE, "nap", "nap"),
        (WHOLE, "nap 21", None),
        (AFTER_LABEL, "ACTION: nap 21", None),
        (TAGS, "<|ACTION|>rest 0<|END|>", None),
        (TAGS, "<|ACTION|>rest 101<|END|>", None),
        (TAGS, "<|ACTION|>rest<|END|>", None),
        (TAGS, "<|ACTION|>rest 4 5<|END|>", None),
        (TAGS, "<|ACTION|>rest four<|END|>", None),
        (TAGS, f"<|ACTION|>rest {'9' * 5000}<|END|>", None),
    ],
)
def test_calls_keep_their_arguments(style: Style, text: str, action: str | None) -> None:
    found = read(text, style, SKILLED, lenient=False)
    assert (found.action, found.how) == (action, "strict") if action else not SKILLED.takes(found.action)


@pytest.mark.parametrize("text", ["I will rest 40.", "**rest 40**", "Rest 40"])
def test_a_lenient_eye_finds_calls(text: str) -> None:
    assert read(text, WHOLE, SKILLED, lenient=True).action == "rest 40"


def test_several_calls_in_one_answer() -> None:
    assert WHOLE.several("rest 40, north", SKILLED) == ["rest 40", "north"]
    assert AFTER_LABEL.several("ACTION: rest 40; explore_level", SKILLED) == ["rest 40", "explore_level"]
