"""The guide is large, whole, and says what nle's tables say where they hold it."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.corpus import load
from balrog_rag.knowledge.corpus.embedded import guide, tables
from balrog_rag.knowledge.passages import Cut, wordpiece

COLOURS = [
    "black|dark blue", "red", "green", "brown", "blue", "magenta", "cyan", "gray", "", "orange",
    "bright green", "yellow", "bright blue", "bright magenta", "bright cyan", "white",
]  # fmt: skip
LONGEST = 240
"""Tokens of a passage, as the corpus is cut."""


@cache
def entries() -> list[guide.Entry]:
    return list(guide.entries())


def test_every_entry_is_one_passage_of_the_committed_corpus() -> None:
    stored = {passage.id: passage for passage in load("embedded", Cut(LONGEST)).passages}
    count = wordpiece()
    for page in guide.pages():
        assert stored[f"embedded/{page.path}"].text == page.text
        assert count(page.text) <= LONGEST, page.title
    kept = [name for name in stored if name.startswith("embedded/guide/")]
    assert len(kept) == len(entries())


def test_titles_differ_and_entries_say_something() -> None:
    assert max(Counter(entry.title for entry in entries()).values()) == 1
    for entry in entries():
        assert len(entry.text.split()) >= 40, entry.title


def test_no_thought_breaks_off() -> None:
    """A sentence that stops to think again is no advice."""
    for entry in entries():
        assert entry.text.endswith((".", '."', ".)", '!"', '?"')), entry.title
        assert not re.search(r"\w\.\.\. ?[a-z]", entry.text.replace("The ... ", "")), entry.title
        assert not re.search(r"\? no\b|\bno:|[.;,] hmm", entry.text, re.IGNORECASE), entry.title


def test_letters_and_colours_of_monsters_are_the_games() -> None:
    """`dwarf (red h)` and the like, wherever the guide says so."""
    known = {tables.text(monster.name).lower(): monster for monster in tables.monsters()}
    letters = tables.monster_classes()
    said = 0
    for entry in entries():
        for name, colour, letter in re.findall(
            r"([a-z][a-z -]+?)s? \(([a-z ]+) (\S)[,)]", entry.text.lower()
        ):
            words = name.split()
            kind = next(
                (known[" ".join(words[at:])] for at in range(len(words)) if " ".join(words[at:]) in known),
                None,
            )
            if kind is None or colour not in "|".join(COLOURS).split("|"):
                continue
            said += 1
            assert letters[kind.letter][0].lower() == letter, (entry.title, name)
            assert colour in COLOURS[kind.color].split("|"), (entry.title, name)
    assert said >= 15


@pytest.mark.parametrize(
    ("content", "said"),
    [("## Empty\n\n", "needs text"), ("## Doubt\nsure: perhaps\nIt may be.\n", "sure is one of")],
)
def test_a_bad_entry_is_refused_by_name(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_text(f"# Bad\n\n{content}", encoding="utf-8")
    with pytest.raises(KnowledgeError, match=said):
        list(guide.entries(tmp_path))


def test_an_entry_is_read_with_its_keys(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text(
        "# One\n\n## A title\nasked: what; how\nsure: likely\nid: kept\nFirst line\ngoes on.\n\nSecond.\n",
        encoding="utf-8",
    )
    (page,) = guide.pages(tmp_path)
    assert page.path == "guide/one/kept"
    assert page.text == (
        "First line goes on.\n\nSecond.\nLikely, but not checked against the game.\nAsked as: what; how."
    )
