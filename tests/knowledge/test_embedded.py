"""The embedded corpus agrees with NetHack's tables, and with the output of its builder."""

import ctypes
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from balrog_rag.envs.nethack import library_tables as tables
from balrog_rag.knowledge.corpus import load
from balrog_rag.knowledge.corpus.bringing import file_sha256
from balrog_rag.knowledge.corpus.embedded import (
    OURS,
    assembly,
    corpses,
    guide,
    monsters,
    objects,
    read_notes,
)
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
    assert file_sha256(assembly.game_file()) == sources["embedded"]["sha256"]
    assert assembly.game_file().stat().st_size < 2_000_000


def test_building_it_anew_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Guidebook, which nle lacks, keeps its passages; the build writes the digest."""
    before = assembly.game_file().read_bytes()
    copy = tmp_path / "wiki_index"
    shutil.copytree(data("wiki_index"), copy, ignore=shutil.ignore_patterns("built", "games"))
    sources = copy / "sources.yaml"
    named = sources.read_text()
    sources.write_text(re.sub("sha256: .*", "sha256: " + "0" * 64, named))
    monkeypatch.setattr(assembly, "data", lambda name: tmp_path / name)
    assert assembly.build(None).read_bytes() == before
    assert sources.read_text() == named


def test_an_edited_entry_is_in_the_corpus_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(guide.folder(), tmp_path / "guide")
    file = tmp_path / "guide" / "food.md"
    file.write_text(file.read_text() + "\n## A new entry\nchecked: read\nNewts taste of chicken.\n")
    before = load("embedded", Cut(240))
    monkeypatch.setattr(guide, "folder", lambda: tmp_path / "guide")
    after = load("embedded", Cut(240))
    assert len(after.passages) == len(before.passages) + 1
    assert after.digest != before.digest
    assert "Newts taste of chicken." in {passage.text for passage in after.passages}


def test_it_is_read_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = load("embedded", Cut(240))
    monkeypatch.setenv("BALROG_RAG_CACHE", "/proc/nowhere")
    fleeting = load("embedded", Cut(240))
    assert fleeting.digest == kept.digest
    assert list(fleeting.passages) == list(kept.passages)


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


def monster(name: str) -> Any:
    return next(each for each in tables.monsters() if tables.text(each.name) == name)


def test_undead_leave_old_corpses_of_what_the_game_says() -> None:
    left = {tables.text(each.name): tables.living(each) for each in tables.monsters()}
    undead = [name for name in left if name.endswith((" zombie", " mummy")) or name.startswith("vampire")]
    undead.remove("vampire bat")
    assert len(undead) == 18
    for name in undead:
        body = left[name]
        assert body is not None
        text = monsters.describe(monster(name))
        assert f"leaves a {tables.text(body.name)} corpse that counts as 100 turns old" in text
        assert "leaves no corpse" not in text
    assert left["ghoul"] is None
    assert "It leaves no corpse." in monsters.describe(monster("ghoul"))


def test_corpses_give_only_what_eating_gives() -> None:
    for each in tables.monsters():
        gives = monsters.describe(each).partition("Eating the corpse may give")[2].partition(".")[0]
        assert "petrification" not in gives
        assert "acid" not in gives


def test_lycanthropes_die_as_humans_and_have_an_entry_in_either_form() -> None:
    for name in ("werejackal", "werewolf", "wererat"):
        beast, human = (passages()[f"embedded/monster/{name}{form}"] for form in ("", "-in-human-form"))
        assert "shown as @" in human
        assert "When it dies it is a human again, and leaves such a corpse." in beast
        for text in (beast, human):
            assert "leaves no corpse" not in text
            assert "Never eat the corpse: it gives you lycanthropy." in text


@pytest.mark.parametrize(
    ("told", "names"),
    [
        ("it turns you to stone", {"cockatrice", "chickatrice", "Medusa"}),
        ("that kills at once", {"Death", "Pestilence", "Famine"}),
        ("notice you for good", {"little dog", "dog", "large dog", "kitten", "housecat", "large cat"}),
        ("changes you into another monster", {"chameleon", "doppelganger"}),
        ("makes you hallucinate", {"yellow mold", "violet fungus", "abbot"}),
        ("For dwarves eating it is cannibalism", {"dwarf", "dwarf lord", "dwarf king"}),
    ],
)
def test_corpses_that_harm_say_so(told: str, names: set[str]) -> None:
    kinds = {tables.text(each.name): monsters.describe(each) for each in tables.monsters()}
    assert {name for name, text in kinds.items() if told in text} == names


def test_effects_are_of_kinds_that_leave_a_corpse() -> None:
    for name, words in corpses.AFTER.items():
        assert words in monsters.describe(monster(name)), name


def test_globs_are_no_corpses() -> None:
    assert "never eat it" in monsters.describe(monster("green slime"))
    assert "can be eaten" in monsters.describe(monster("brown pudding"))


def span(dice: str) -> tuple[int, int]:
    """The minimum and maximum of `d6+2d4` or `d8+1`."""
    parts = [re.fullmatch(r"(\d*)d(\d+)|(\d+)", part) for part in dice.split("+")]
    least = sum(int(part[3] or part[1] or 1) for part in parts if part)
    return least, sum(int(part[3] or int(part[1] or 1) * int(part[2])) for part in parts if part)


def struck(number: int, kind: int, target: tables.MonsterEntry) -> tuple[int, int]:
    """The minimum and maximum of many blows with an object, by the game's own function."""
    weapon, victim = (ctypes.c_ubyte * 256)(), (ctypes.c_ubyte * 512)()
    ctypes.c_short.from_buffer(weapon, 30).value = number
    ctypes.c_ubyte.from_buffer(weapon, 49).value = kind
    ctypes.c_void_p.from_buffer(victim, 8).value = ctypes.addressof(target)
    dealt = [tables._library().dmgval(ctypes.byref(weapon), ctypes.byref(victim)) for _ in range(4 * BLOWS)]
    return min(dealt), max(dealt)


BLOWS = 700
"""The rarest sum has a probability of 1 in 216."""


def test_weapons_do_what_the_game_deals() -> None:
    from nle import nethack

    small, large = monster("newt"), monster("stone giant")
    numbers = {nethack.objdescr.from_idx(n).oc_name: n for n in range(nethack.NUM_OBJECTS)}
    said = 0
    for thing in tables.objects():
        if thing.data.class_ != objects.WEAPON or not thing.name:
            continue
        told = re.search(r"does (\S+) damage to small and (\S+) to large", objects.describe(thing))
        assert told
        for dice, target in zip(told.groups(), (small, large), strict=True):
            assert span(dice) == struck(numbers[thing.name], objects.WEAPON, target), (thing.name, dice)
            said += "+" in dice
    assert said == 34


def test_objects_are_described_in_plain_sentences() -> None:
    for name, text in passages().items():
        if name.startswith("embedded/object/"):
            assert not re.search(r"mysterious|class by 0|Amulet of Yendor amulet|and magic canc", text), name


@pytest.mark.parametrize("name", ["pick-axe", "unicorn horn", "grappling hook"])
def test_tools_that_are_weapons_have_no_charges(name: str) -> None:
    text = passages()[f"embedded/object/{slug(name)}"]
    assert "charges that are used up" not in text
    assert "is an enchantment" in text


def test_tools_with_charges_keep_them() -> None:
    for name in ("magic-marker", "bag-of-tricks", "horn-of-plenty"):
        assert "charges that are used up" in passages()[f"embedded/object/{name}"]


def test_only_strength_counts_in_hundredths() -> None:
    for race in tables.races():
        text = passages()[f"embedded/race/{slug(tables.text(race.noun))}"]
        assert len(re.findall(r"18/", text)) == (race.most[0] > 18)
        for value in list(race.most)[1:]:
            assert f" {value}" in text


def test_the_castle_has_stairs_up_only() -> None:
    """As its level file says."""
    import nle

    level = (Path(nle.__file__).parent / "nethackdir" / "dat" / "castle.des").read_text(encoding="latin-1")
    assert re.findall(r"^STAIR:.*?,(up|down)$", level, re.MULTILINE) == ["up"]
    assert level.count('TRAP:"trap door"') == 5
    said = passages()["embedded/dungeon/the-dungeons-of-doom"]
    assert "stairs up, none down: trap doors" in said


def test_digits_are_counts() -> None:
    for digit in "0123456789":
        found = [text for text in passages().values() if text.startswith(f"The digit {digit}:")]
        assert len(found) == 1


def test_gems_are_called_gems_and_stones() -> None:
    assert "called a red gem" in passages()["embedded/object/ruby"]
    assert "called a gray stone" in passages()["embedded/object/luckstone"]
    for text in passages().values():
        assert not re.search(r"is called an? (?:white|red|blue|green|black|gray|violet|orange)\.", text)


def test_excalibur_is_for_the_lawful() -> None:
    assert "lawful" in passages()["embedded/object/long-sword"]
    assert passages()["embedded/topic/excalibur"].startswith("A lawful character")


def test_no_sentence_of_ours_ends_in_mid_air() -> None:
    """A note that YAML cuts at ` #`, a list without its end, a thought that was not finished."""
    for passage in load("embedded", Cut(240)).passages:
        if passage.licence == OURS and not passage.id.endswith(tuple(f"~{part}" for part in range(2, 9))):
            last = passage.text.splitlines()[-1]
            assert last.endswith((".", "!", "?", ":", '"', ")", ",")), passage.id
            assert last.endswith((",", ":")) is False or passage.id.startswith("embedded/appearance"), (
                passage.id
            )


@pytest.mark.parametrize("symbol", ["<", ">", "^", "{", "_", "#"])
def test_map_symbols_are_explained(symbol: str) -> None:
    assert f"embedded/symbol/{ord(symbol)}" in passages()
