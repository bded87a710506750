"""Pages become passages that keep their budget, their ids and their words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from balrog_rag.knowledge.passages import Cut, Page, content_hash, passages
from balrog_rag.util.terminal_safe import cleaned


def words(text: str) -> int:
    """A counter whose token is a word."""
    return len(text.split())


def cut(text: str, tokens: int = 8, overlap: int = 0, title: str = "Page", plain: bool = False) -> list[str]:
    page = Page(title, text, plain=plain)
    return [passage.text for passage in passages([page], "test", Cut(tokens, overlap), words)]


def test_sections_are_cut_at_headings_and_named_by_them() -> None:
    page = Page(
        "Doors", "Lead.\n\n## Locks\n\nKick it.\n\n### Keys ###\n\nApply one.", url="u", licence="MIT"
    )
    found = list(passages([page], "wiki", Cut(50), words))
    assert [(passage.id, passage.title, passage.text) for passage in found] == [
        ("wiki/doors", "Doors", "Lead."),
        ("wiki/doors#locks", "Doors: Locks", "Kick it."),
        ("wiki/doors#keys", "Doors: Keys", "Apply one."),
    ]
    assert {(passage.url, passage.licence, passage.source) for passage in found} == {("u", "MIT", "wiki")}


def test_whole_pages_and_plain_text_keep_their_headings_as_text() -> None:
    assert cut("One.\n\n## Two\n\nThree.", tokens=0) == ["One.\n\n## Two\n\nThree."]
    assert cut("# is a corridor", plain=True) == ["# is a corridor"]


def test_equal_titles_get_different_ids() -> None:
    pages = [Page("Ring", "first"), Page("Ring", "second"), Page("ring", "third")]
    ids = [passage.id for passage in passages(pages, "w", Cut(9), words)]
    assert ids == ["w/ring", "w/ring~2", "w/ring~3"]


def test_ids_stay_when_another_page_changes() -> None:
    before = [passage.id for passage in passages([Page("A", "x"), Page("B", "y")], "w", Cut(9), words)]
    after = [passage.id for passage in passages([Page("A", "x " * 50), Page("B", "y")], "w", Cut(9), words)]
    assert before[-1] == after[-1] == "w/b"


def test_overlap_says_the_end_again() -> None:
    parts = cut("one two three.\nfour five six.\nseven eight nine.", tokens=6, overlap=3)
    assert parts == ["one two three.\nfour five six.", "four five six.\nseven eight nine."]


def test_a_word_without_end_is_cut_by_characters() -> None:
    parts = [
        passage.text
        for passage in passages([Page("P", "x" * 95)], "w", Cut(10), lambda text: len(text.strip()))
    ]
    assert "".join(parts) == "x" * 95
    assert max(map(len, parts)) <= 10


@pytest.mark.slow
def test_a_page_of_50_megabytes_is_cut_in_bounded_time_and_memory() -> None:
    page = Page("Big", "A sentence of six short words. " * 1_700_000)
    count = sum(1 for _ in passages([page], "w", Cut(200), words))
    assert count > 50_000


def test_control_characters_go_and_markers_stay_plain_words() -> None:
    dirty = "\x1b[2J\x1b]0;title\x07red\x9b31m\u2028 <|ACTION|>north<|END|>\ttab\r\nline\rend"
    dirty += "\ufeff\u202e n\xa0o\u200b"
    assert cleaned(dirty) == "[2J]0;titlered31m <|ACTION|>north<|END|>\ttab\nline\nend n o"


def test_content_hash_is_of_what_is_said() -> None:
    one, two = passages([Page("A", "same", path="x"), Page("A", "same", path="y")], "w", Cut(9), words)
    assert one.id != two.id
    assert content_hash(one) == content_hash(two)


@given(st.text(alphabet="ab .\n!#", max_size=300), st.integers(1, 12))
def test_every_part_keeps_the_budget_and_no_word_is_lost(text: str, tokens: int) -> None:
    parts = cut(text, tokens, plain=True)
    assert all(words(part) <= tokens for part in parts)
    assert " ".join(parts).split() == text.split()
