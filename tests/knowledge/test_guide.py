"""The guide is large, complete, and agrees with nle's tables."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.envs.nethack import library_tables as tables
from balrog_rag.knowledge.corpus import load
from balrog_rag.knowledge.corpus.embedded import guide
from balrog_rag.knowledge.corpus.embedded.objects import POTION, RING, SCROLL, WAND
from balrog_rag.knowledge.passages import Cut, wordpiece

COLOURS = [
    "black|dark blue", "red", "green", "brown", "blue", "magenta", "cyan", "gray", "", "orange",
    "bright green", "yellow", "bright blue", "bright magenta", "bright cyan", "white",
]  # fmt: skip
LONGEST = 240
"""Tokens of a passage, as the corpus is cut."""


@cache
def entries() -> list[guide.GuideEntry]:
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


def text_of(title: str) -> str:
    (entry,) = (entry for entry in entries() if entry.title == title)
    return entry.text


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Potions by price", POTION),
        ("When to read unknown scrolls", SCROLL),
        ("Rings: how to test", RING),
        ("Wands by price", WAND),
    ],
)
def test_prices_are_the_games(title: str, kind: int) -> None:
    """`100: this, that;` names what costs 100 at base, and nothing else."""
    costs = {
        thing.name: thing.data.cost for thing in tables.objects() if thing.data.class_ == kind and thing.name
    }
    text = text_of(title).replace("\n", " ")
    said = 0
    for name, cost in costs.items():
        for price, named in re.findall(r"(?:base |[ ;.,])(\d{2,3}):? ([a-z][^.;:]*)", text):
            words = [
                re.sub(r"^(?:and|or|is) ", "", each.strip(" ()"))
                for each in re.split(r", | or | and ", named)
            ]
            if name in words:
                said += 1
                assert cost == int(price), (title, name)
    assert said >= 8


def test_corpses_called_safe_or_poisonous_are_so() -> None:
    """The lists of the guide against the table's bits."""
    poisonous, acidic = 0x10000000, 0x08000000
    kinds = {tables.text(monster.name).lower(): monster for monster in tables.monsters()}
    safe = text_of("Which corpses are safe to eat fresh").partition("Not safe")[0].lower()
    for name, monster in kinds.items():
        if re.search(rf"\b{re.escape(name)}s?\b", safe) and name not in (
            "orc",
            "elf",
            "human",
            "giant",
            "snake",
        ):
            assert not monster.flags1 & (poisonous | acidic), name
    lists = text_of("Poisonous corpses: what they cost").lower()
    bad, good = lists.partition("poisonous are:")[2].split("not poisonous", 1)
    for name in (
        "killer bee",
        "soldier ant",
        "giant beetle",
        "homunculus",
        "rabid rat",
        "giant spider",
        "xan",
    ):
        assert kinds[name].flags1 & poisonous
        assert re.search(rf"\b{name.removesuffix('us')}", bad)
    for name in ("lichen", "cave spider", "centipede", "fire ant", "giant ant", "red mold"):
        assert not kinds[name].flags1 & poisonous
        assert name in good


def test_nutrition_is_the_tables() -> None:
    kinds = {tables.text(monster.name).lower(): monster for monster in tables.monsters()}
    said = 0
    for part in re.split(r"[;.] ", text_of("Nutrition of common corpses").partition(": ")[2]):
        found = re.match(r"([a-zA-Z ,-]+?) (\d+)\b(?! to)", part)
        for name in re.split(r", | and ", found[1].lower()) if found else []:
            if name in kinds:
                said += 1
                assert kinds[name].nutrition == int(found[2]), name  # type: ignore[index]
    assert said >= 12


def test_speeds_are_the_tables() -> None:
    """`a jackal (d, speed 12`, `dwarf has speed 6` and the like, in entries about one monster."""
    kinds = {tables.text(monster.name).lower(): monster for monster in tables.monsters()}
    said = 0
    for entry in entries():
        named = [name for name in kinds if re.search(rf"\b{re.escape(name)}s?\b", entry.title.lower())]
        if {"early", "later"} & set(entry.tags) and len(named) == 1:
            for speed in re.findall(r"(?:moves at|at|has) speed (\d+)", entry.text)[:1]:
                said += 1
                assert kinds[named[0]].speed == int(speed), entry.title
    assert said >= 5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("## Empty\nchecked: read\n", "needs text"),
        ("## Doubt\nsure: perhaps\nchecked: read\nIt may be.\n", "sure is 'perhaps'; use one of certain"),
        ("## Unchecked\nIt is so.\n", "checked is ''; use one of table, source"),
        ("## Hearsay\nchecked: rumour\nIt is so.\n", "checked is 'rumour'; use one of"),
        ("## Somewhere\nchecked: source\nIt is so.\n", "every other way needs one"),
        ("## Too much\nchecked: read mon.c:m_detach\nIt is so.\n", "takes no place"),
        ("## Vague\nchecked: source mon.c\nIt is so.\n", "names 'mon.c'; write FILE:FUNCTION"),
    ],
)
def test_a_bad_entry_is_refused_by_name(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_text(f"# Bad\n\n{content}", encoding="utf-8")
    with pytest.raises(KnowledgeError, match=said):
        list(guide.entries(tmp_path))


def test_an_entry_is_read_with_its_keys(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text(
        "# One\n\n## A title\nasked: what; how\nsure: likely\nid: kept\n"
        "checked: source mon.c:m_detach, dog.c:makedog\ntags: fighting, low HP\n"
        "First line\ngoes on.\n\nSecond.\n",
        encoding="utf-8",
    )
    (entry,) = guide.entries(tmp_path)
    assert entry.checked == "source"
    assert entry.places == ("mon.c:m_detach", "dog.c:makedog")
    assert entry.tags == ("fighting", "low HP")
    (page,) = guide.pages(tmp_path)
    assert page.path == "guide/one/kept"
    assert page.text == "First line goes on.\n\nSecond.\nLikely, but not checked against the game."
    assert page.asked == "what; how"


def test_who_follows_over_stairs_is_as_the_tables_say() -> None:
    """A table of nle holds the kinds that come along; everything else stays behind."""
    (entry,) = [each for each in entries() if each.title == "Using stairs to escape and to split enemies"]
    follows = {tables.text(each.name).lower(): bool(each.flags2 & 0x01000000) for each in tables.monsters()}
    coming, _, staying = entry.text.lower().partition("also your pet")
    said = {name for name in follows if re.search(rf"\b{re.escape(name)}(s|es)?\b", coming)}
    left = {name for name in follows if re.search(rf"\b{re.escape(name)}(s|es)?\b", staying)}
    assert said >= {"soldier", "troll", "vampire", "wraith", "ghost", "imp", "tengu", "gremlin"}
    assert left >= {"jackal", "dog", "kobold", "gnome"}
    assert all(follows[name] for name in said)
    assert not any(follows[name] for name in left)
    assert all(follows[f"{kind} zombie"] for kind in ("kobold", "gnome", "giant"))
    assert not any(follows[f"{kind} mummy"] for kind in ("kobold", "gnome", "giant"))


def test_tests_that_entries_name_exist() -> None:
    """`table` and `played` name the test that compares or plays the entry."""
    tests = Path(__file__).parent
    named = {place for entry in entries() if entry.checked in ("table", "played") for place in entry.places}
    assert len(named) >= 14
    for place in named:
        file, _, function = place.partition(":")
        assert f"def {function}(" in (tests / file).read_text("utf-8"), place


def test_the_path_of_a_moved_entry_stays(tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text("## Moved\nid: old/moved\nchecked: read\nText.\n", encoding="utf-8")
    (page,) = guide.pages(tmp_path)
    assert page.path == "guide/old/moved"
