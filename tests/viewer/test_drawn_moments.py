"""VisitedSquares, loops and look-ups of an episode, as its page draws them."""

from pathlib import Path
from typing import Any

import pytest

from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import PluginError
from balrog_rag.contracts.guarded_kind import guarded
from balrog_rag.contracts.kinds import AgentHints, EnvironmentKind, EnvironmentSignals, Share, kind_of
from balrog_rag.viewer import bundle
from balrog_rag.viewer.drawn_moments import DrawnLookups, RepeatedScreens, VisitedSquares
from balrog_rag.viewer.listing import listed
from tests.support import numbers
from tests.viewer.support import documents


def loops(screens: str) -> list[list[int]]:
    found = RepeatedScreens()
    for at, screen in enumerate(screens):
        found.see(at, screen)
    return found.document(len(screens) - 1)


def test_a_loop_is_a_stretch_of_screens_shown_before() -> None:
    assert loops("abcdefghijklmnopqrstuvwxyz") == []
    assert loops("abababababababababx") == [[4, 17]]  # each was shown twice before
    assert loops("ababababababababab") == [[4, 17]]  # one that has not ended
    assert loops("abababababx") == []  # six in a row are too few


def test_a_screen_of_long_ago_is_not_a_loop() -> None:
    away = "".join(chr(0x4E00 + each) for each in range(60))
    assert loops("ababab" + away + "abababab") == []


def test_squares_keep_levels_apart() -> None:
    squares = VisitedSquares(kind_of("nle"))
    for at in (
        numbers(x=3, y=4, depth=3, branch=0), numbers(x=4, y=4, depth=3, branch=0),
        numbers(x=4, y=4, depth=3, branch=2), {},
    ):  # fmt: skip
        squares.see(at)
    found = squares.document()
    assert found is not None
    assert found["of"] == [5003, 5004, 5004, 5004]
    assert found["levels"] == [[0, "3"], [2, "3 in the Mines"]]
    assert VisitedSquares(kind_of("babyai")).document() is None


def test_look_ups_have_tokens_and_passages() -> None:
    lookups = DrawnLookups()
    lookups.see(4, [0, 1], [Passage("a", "A", "one two three"), Passage("b", "B", "four")])
    ((step, tokens, passages),) = lookups.document()
    assert (step, passages) == (4, [0, 1])
    assert tokens >= 4


def test_a_page_has_the_messages_and_what_is_carried(runs: Path, tmp_path: Path) -> None:
    bundle.write(listed([runs / "told"]), tmp_path / "page.html")
    found = documents(tmp_path / "page.html")
    chunk: dict[str, Any] = found["0/0"]
    assert len(chunk["heard"]) == len(chunk["carried"]) == len(chunk["screens"])
    assert any(chunk["heard"])
    assert "a " in chunk["inventories"][chunk["carried"][0]]
    head = found["0/head"]
    assert head["lookups"][0][0] in range(70)
    assert len(head["squares"]["of"]) == head["steps"] + 1
    assert head["journal"].startswith("told/nle/")


class Square(EnvironmentSignals):
    def square(self, numbers: Any) -> Any:
        return (1, 2)


def test_a_wrong_square_names_the_plug_in() -> None:
    kind = EnvironmentKind(
        name="mine", title="Mine", tasks=tuple, make=lambda spec, file: None, progress=lambda game: Share(),
        hints=AgentHints(signals=Square()),
    )  # fmt: skip
    with pytest.raises(PluginError, match=r"hints.signals.square\(\).*level, row, column"):
        guarded(kind).hints.signals.square({})
