"""The wording lint finds its phrases, and no folder has more than its baseline."""

import pytest

from tests import wording


@pytest.mark.parametrize(
    "text",
    [
        "A folder that is no run folder.",
        "The run can be gone\n# on with later.",
        "They were drawn by lot.",
        "lest it be taken for hung",
        "so few can detect nothing",
        "The file holds no\n    journal.",
        "equal but for the seeds",
        "skills in the place of keys",
    ],
)
def test_phrases_are_found_across_line_breaks(text: str) -> None:
    (match,) = wording.matches("docs/page.md", f"First line.\n{text}\n")
    assert match.line == 2


@pytest.mark.parametrize(
    "text",
    ["There is no server.", "It is no longer read.", "It was no better than chance.", "all but the last"],
)
def test_plain_phrases_are_left_alone(text: str) -> None:
    assert list(wording.matches("docs/page.md", text)) == []


def test_an_exception_is_a_place_and_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wording, "ALLOWED", (("docs/page.md", "it is no use"),))
    assert list(wording.matches("docs/page.md", "Then it is no use to wait.")) == []
    assert len(list(wording.matches("docs/other.md", "Then it is no use to wait."))) == 1


def test_folders_stay_within_their_baseline() -> None:
    every = wording.found()
    over = wording.excess(every)
    assert [match for match in every if match.folder in over] == []


def test_a_new_phrase_breaks_the_baseline() -> None:
    more = [wording.Match("conf/config.yaml", 1, "is no game")] * (wording.BASELINE.get("conf", 0) + 1)
    assert "conf" in wording.excess(more)
