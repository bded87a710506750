"""The embedded corpus says what NetHack's tables say, and is what its builder builds."""

from functools import cache

import pytest
from omegaconf import OmegaConf

from balrog_rag.knowledge.corpus import load
from balrog_rag.knowledge.corpus.bringing import file_sha256
from balrog_rag.knowledge.corpus.embedded import OURS, monsters, objects, read_notes, tables, world
from balrog_rag.knowledge.passages import Cut, slug
from balrog_rag.util.paths import data
from balrog_rag.util.terminal_safe import cleaned


@cache
def passages() -> dict[str, str]:
    return {passage.id: passage.text for passage in load("embedded", Cut(240)).passages}


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("monster/floating-eye", ["Its speed is 1", "Danger when you hit or touch it", "paralysing you"]),
        ("monster/giant-ant", ["Its speed is 18", "it bites for 1d4", "level 2"]),
        ("monster/cockatrice", ["turning you to stone", "Never eat or touch the corpse with bare hands"]),
        ("monster/killer-bee", ["it stings for 1d3, poison", "The corpse is poisonous", "in large groups"]),
        ("monster/gas-spore", ["explodes", "4d6"]),
        ("monster/black-dragon", ["may give resistance to disintegration", "1d255, disintegration"]),
        ("monster/little-dog", ["domestic animal"]),
        ("object/plate-mail", ["weighs 450", "base price of 600", "lowers armor class by 7"]),
        ("object/long-sword", ["d8 damage to small and d12 to large", "made of iron"]),
        ("object/tsurugi", ["two hands", "long samurai sword", "made of metal"]),
        ("object/wand-of-sleep", ["ray bounces", "base price of 175"]),
        ("object/speed-boots", ["great speed", "differs from game to game"]),
        ("object/food-ration", ["800 nutrition", "5 turns to eat"]),
        ("price/scroll-20", ["scroll of identify"]),
        ("role/samurai", ["little dog", "Lord Sato", "Amaterasu Omikami"]),
        ("race/dwarf", ["lawful"]),
        ("dungeon/the-dungeons-of-doom", ["The Gnomish Mines is on one of levels 2 to 4"]),
        ("command/command-kick", ["Control with D"]),
        ("symbol/123", ["fountain"]),
        ("guidebook/5-1-doorways", ["Doorways"]),
        ("oracle/20", ["Elbereth"]),
    ],
)
def test_facts(name: str, facts: list[str]) -> None:
    text = passages()[f"embedded/{name}"]
    for fact in facts:
        assert fact in text


def test_it_is_large_licensed_and_inert() -> None:
    corpus = load("embedded", Cut(240))
    assert len(corpus.passages) >= 1000
    assert {passage.licence for passage in corpus.passages} == {"MIT", "NGPL"}
    assert all(passage.text == cleaned(passage.text) and passage.text.strip() for passage in corpus.passages)
    assert len({passage.id for passage in corpus.passages}) == len(corpus.passages)


def test_it_is_the_file_that_sources_yaml_names() -> None:
    sources = OmegaConf.load(data("wiki_index") / "sources.yaml")
    assert file_sha256(data("wiki_index") / "embedded.jsonl") == sources["embedded"]["sha256"]
    assert (data("wiki_index") / "embedded.jsonl").stat().st_size < 3_000_000


def test_the_committed_file_is_what_the_tables_and_notes_give() -> None:
    """All but the game's own texts, whose guidebook is not everywhere."""
    notes = read_notes()
    for page in (*monsters.pages(), *objects.pages(notes["objects"])):
        if not page.path.startswith(("monster/", "object/")):
            continue
        first = passages()["embedded/" + "/".join(slug(part) for part in page.path.split("/"))]
        assert page.text.startswith(first)
    for title, text in notes["topics"].items():
        assert text.strip() in {whole.strip() for whole in passages().values()}, title


def test_notes_speak_of_things_that_exist() -> None:
    names = {objects.full_name(thing) for thing in tables.objects()}
    assert set(read_notes()["objects"]) <= names
    assert OURS == "MIT"


@pytest.mark.parametrize("symbol", ["<", ">", "^", "{", "_", "#"])
def test_map_symbols_are_explained(symbol: str) -> None:
    assert f"embedded/symbol/{ord(symbol)}" in passages()
    assert world._holds("&? number_pad=0,-1")
    assert not world._holds("&? debug")
