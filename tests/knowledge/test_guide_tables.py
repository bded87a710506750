"""The guide's lists of numbers, each compared with nle's table."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from balrog_rag.envs.nethack import library_tables as tables
from balrog_rag.knowledge.corpus.embedded import guide
from balrog_rag.knowledge.corpus.embedded.objects import ARMOR, BOOK, FOOD

ACIDIC = 0x08000000
ROLES = (
    "archeologist", "barbarian", "caveman", "healer", "knight", "monk", "priest",
    "ranger", "rogue", "samurai", "tourist", "valkyrie", "wizard",
)  # fmt: skip
CONVEYED = {"Fire": 0x01, "Cold": 0x02, "Sleep": 0x04, "Shock": 0x10}


def text_of(title: str) -> str:
    (entry,) = (entry for entry in guide.entries() if entry.title == title)
    return entry.text


def kinds() -> dict[str, tables.MonsterEntry]:
    return {tables.text(monster.name).lower(): monster for monster in tables.monsters()}


def things(kind: int) -> dict[str, tables.Object]:
    return {each.name: each.data for each in tables.objects() if each.data.class_ == kind and each.name}


def one_of(plural: str, known: dict[str, tables.MonsterEntry]) -> str:
    """`wolves` for wolf, `jellies` for jelly: the singular in the table, or nothing."""
    plural = plural.strip().removeprefix("the globs of ")
    forms = (plural, plural[:-1], f"{plural[:-3]}y", f"{plural[:-3]}f", f"{plural[:-1]}us", plural[:-2])
    return next((form for form in forms if form in known), "")


@pytest.mark.parametrize(
    ("title", "count"),
    [
        ("Which monsters can appear here: depth, your level, difficulty", 18),
        ("Experience level and depth: a table to judge danger", 6),
    ],
)
def test_difficulties(title: str, count: int) -> None:
    known = kinds()
    said = re.findall(r"([a-z][a-z ]+?) (\d+)\b", text_of(title))
    named = [(name.strip(), int(number)) for name, number in said if name.strip() in known]
    assert len(named) >= count
    for name, number in named:
        assert known[name].difficulty == number, name


@pytest.mark.parametrize("word", sorted(CONVEYED))
def test_corpses_that_give_a_resistance(word: str) -> None:
    text = text_of("Corpses that give fire, cold, sleep and shock resistance")
    found = re.search(rf"{word}: ([^.]*)\.", text)
    assert found
    known = kinds()
    named = [one_of(each, known) for each in re.split(r", | and ", re.sub(r" \([^)]*\)", "", found[1]))]
    named = [name for name in named if name]
    assert len(named) >= 3
    for name in named:
        assert known[name].conveys & CONVEYED[word], name


def test_acidic_corpses() -> None:
    known = kinds()
    listed = text_of("Acidic corpses").partition("resist acid: ")[2].partition(".")[0]
    named = [name for each in re.split(r", | and ", listed) if (name := one_of(each, known))]
    assert len(named) >= 6
    for name in named:
        assert known[name].flags1 & ACIDIC, name


def test_food_that_keeps() -> None:
    food = things(FOOD)
    said = 0
    for names, points in re.findall(
        r"([a-zA-Z][a-zA-Z ,-]+?) (\d+)\b", text_of("Permanent food: what to carry")
    ):
        for name in re.split(r", | and ", names):
            if name in food:
                said += 1
                assert food[name].nutrition == int(points), name
    assert said >= 12


def test_armour_of_the_first_levels() -> None:
    armour = things(ARMOR)
    text = text_of("Armour of the first levels: points and weights")
    said = re.findall(r"([a-z][a-z -]+?) (\d) \((\d+)\)", text)
    assert len(said) >= 20
    for name, points, weight in said:
        assert (armour[name].one, armour[name].weight) == (int(points), int(weight)), name


def test_spells_stand_at_their_levels() -> None:
    """A book's base price is its level times 100."""
    books = things(BOOK)
    said = 0
    for level, names in re.findall(r"(\d): ([a-z][^.]*)\.", text_of("Useful spells by level")):
        for name in re.sub(r" \([^)]*\)", "", names).split(", "):
            if name in books:
                said += 1
                assert books[name].cost == 100 * int(level), name
    assert said >= 35


def test_the_version_is_the_librarys() -> None:
    nle = find_spec("nle")
    assert nle
    assert nle.submodule_search_locations
    library = Path(nle.submodule_search_locations[0], "libnethack.so").read_bytes()
    found = re.search(rb"NetHack Version (\d+\.\d+\.\d+)", library)
    assert found
    version = found[1].decode()
    assert f"is NetHack {version} " in text_of("Which NetHack does NLE run?")
    assert {entry.version for entry in guide.entries()} == {version}


def test_figures_in_brackets_behind_a_monster() -> None:
    """`Ravens (level 4, speed 20)` and the like, wherever the guide says so."""
    known = kinds()
    for role in ROLES:  # whose figures are the player's, not the monster's of the same name
        del known[role]
    names = "|".join(sorted((re.escape(name) for name in known), key=len, reverse=True))
    behind = re.compile(rf"\b({names})(?:s|es)? \(([^)]*)\)", re.IGNORECASE)
    wrong, said = [], 0
    for entry in guide.entries():
        for name, inside in behind.findall(entry.text):
            for figure, value in re.findall(r"\b(level|speed|difficulty|AC) (-?\d+)", inside):
                said += 1
                if getattr(known[name.lower()], figure.lower()) != int(value):
                    wrong.append((entry.title, name, figure, value))
    assert not wrong
    assert said >= 60
