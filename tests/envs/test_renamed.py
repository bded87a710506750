"""A world with other names: exchanged in every text, and back again, byte for byte."""

import asyncio
import gzip
import json
import random
import re
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from balrog_rag.contracts.data import GameSpec, Observation, ProgramPlayer, Seeds
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.contracts.renaming import SHORT, Renaming, takes_an
from balrog_rag.envs.nethack import library_tables, renamed_names
from balrog_rag.envs.nethack.language import glyph_names
from balrog_rag.workers.inline import InlineGames
from tests.support import command

NETHACK = "NetHackChallenge-v0"
RECORDED_STORIES = Path(__file__).parents[1] / "data" / "recordings" / "textworld.jsonl.gz"
WORD = re.compile(r"[A-Za-z]+")
WHOLE_WORD = re.compile(r"(?<![^\W_])[A-Za-z]+(?![^\W_])")


def renaming(seed: int = 7) -> Renaming:
    found = renamed_names.renaming(game(renamed=seed))
    assert found is not None
    return found


def game(seed: int = 0, **options: object) -> GameSpec:
    kind = kind_of("nle")
    return GameSpec("nle", NETHACK, Seeds(seed, seed), options=resolved_options(kind, options, [kind]))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("You see here 3 newt corpses.", ["You see here 3 "]),
        ("An acid blob touches you!", ["An ", " touches you!"]),
        ("You have a scroll labeled ZELGO MER and 2 pink potions.", ["a scroll labeled ", " potions."]),
        ("The giant beetle's bite was poisoned! Grey-elf, Uruk-hai", ["'s bite was poisoned! "]),
        ("the floating\n    eye. An eye. A light touch.", [" An eye. A light touch."]),
        ("A newt. The door opens. You see stairs down. It is water.", [" The door opens. You see stairs"]),
        (
            "Agent the Hatamoto   St:15  Dlvl:1 $:0 HP:15(15)",
            ["Agent the ", "   St:15  Dlvl:1 $:0 HP:15(15)"],
        ),
        ("a potion of see invisible, a wand of digging: digging", ["a potion of ", "wand of ", ": digging"]),
        ("peaceful guide far north. Use it as a guide.", ["peaceful ", " far north. Use it as a guide."]),
        ("You see 2 page corpses on this page.", ["You see 2 ", " on this page."]),
        ("Agent the Lord       St:18  the lord", ["Agent the ", "       St:18  the lord"]),
        (
            "a - sleep   1    enchantment   12%\nYou fall asleep; sleep well.",
            ["a - ", "   1 ", "; sleep well."],
        ),
        ("c - 35 +0 ya (in quiver). Sting: the ya", ["c - 35 +0 ", " (in quiver). Sting: the "]),
        (
            "a dagger named Sting and the blessed Orb of Fate sting",
            [" named ", " and the blessed ", " sting"],
        ),
        ("Grayswandir glows! The priest of Moloch", [" glows! The ", " of "]),
    ],
)
def test_names_go_and_everything_else_stays(text: str, kept: list[str]) -> None:
    names = renaming()
    shown = names.rename(text)
    assert shown != text
    assert [len(word) for word in WORD.findall(shown)] == [len(word) for word in WORD.findall(text)]
    assert re.sub("[A-Za-z]", "", shown) == re.sub("[A-Za-z]", "", text)
    assert all(shown.find(each) == text.find(each) >= 0 for each in kept)
    assert names.restore(shown) == text
    assert names.rename(shown) == shown  # what has been renamed stays as it is


def test_plurals_articles_and_capitals() -> None:
    names = renaming()
    newt, newts = names.rename("newt"), names.rename("newts")
    assert newts == newt + "s"
    assert names.rename("Newt") == newt.capitalize()
    assert names.rename("NEWT'S") == newt.upper() + "'S"
    assert names.rename("wolves").endswith("s")
    for word in ("acid blob", "owlbear", "unicorn", "newt"):
        assert takes_an(names.rename(word)) == takes_an(word)


def test_the_words_are_a_bijection_without_existing_words() -> None:
    for seed in (0, 1, 2):
        words = renaming(seed).words
        assert len(set(words.values())) == len(words)
        assert not set(words.values()) & set(words)
        assert not set(words.values()) & renamed_names.words_of_the_library()
        assert all(len(word) == len(other) for word, other in words.items())
    assert renaming(0).words != renaming(1).words


def test_every_monster_and_every_item_has_another_name() -> None:
    names = renaming()
    creatures = [library_tables.text(each.name) for each in library_tables.monsters()]
    left = [name for name in creatures if names.rename(name) == name]
    assert {name.lower() for name in left} <= renamed_names.ORDINARY
    for name in creatures:
        for sentence in (f"peaceful {name} very far west", f"The {name} hits!", f"Here are 3 {name} corpses"):
            assert not names_left(names.rename(sentence), [name])
    for name in library_tables.artifacts():
        assert not names_left(names.rename(f"a thing named {name}"), [name])
    for thing in library_tables.objects():
        if thing.name in ("blank paper", "mail", "water"):
            continue
        forms = [
            thing.name,
            f"the {thing.name}",
            *(f"{kind} of {thing.name}" for kind in renamed_names.CLASSES),
        ]
        assert not thing.name or any(names.rename(form) != form for form in forms), thing.name


async def moments(wanted: int) -> AsyncIterator[Observation]:
    """Rendered observations of games that a random player and the delver play."""
    dice, seen, seed = random.Random(0), 0, 0
    while seen < wanted:
        player = ProgramPlayer("delver", {}, seed) if seed % 2 else None
        playing = await InlineGames().open(game(seed))
        yield playing.start.observation
        actions, most = list(playing.view.plain), seen + min(1250, wanted // 4)
        while seen < most:
            if player is not None:
                after = await playing.run(player, 1)
            else:
                (after,) = await playing.play([dice.choice(actions)])
            seen += 1
            yield after.observation
            if after.ended:
                break
        await playing.close()
        seed += 1


def full_names() -> list[str]:
    """The monsters and items whose whole name must not be read anywhere."""
    creatures = [library_tables.text(each.name) for each in library_tables.monsters()]
    things = [name for each in library_tables.objects() for name in (each.name, each.appearance)]
    things += library_tables.artifacts()
    several = [name for name in things if " " in name and not name.startswith(("worthless", "blank"))]
    known = (name for name in (*creatures, *several) if len(name) > 2)
    return [name for name in known if name.lower() not in renamed_names.ORDINARY]


def names_left(text: str, names: list[str]) -> list[str]:
    """The names that stand in a text as words."""
    folded = text.lower()
    found = [name for name in names if name.lower() in folded]
    return [name for name in found if re.search(rf"(?<![a-z]){re.escape(name.lower())}(?![a-z])", folded)]


async def compared(wanted: int) -> int:
    names, checked, seen = renaming(), 0, set[str]()
    # A player who presses random keys may type a short word, which is put back only where a name stands.
    originals, invented = full_names(), {word for word in names.words.values() if len(word) > SHORT}
    async for moment in moments(wanted):
        for text in {part.text for part in moment.parts} - seen:
            seen.add(text)
            shown = names.rename(text)
            assert names.restore(shown) == text
            assert len(shown) == len(text)
            assert not names_left(shown, originals), shown
            assert not invented & set(WHOLE_WORD.findall(text.lower()))
        checked += 1
    return checked


def test_observations_are_restored_byte_for_byte() -> None:
    assert asyncio.run(compared(200)) >= 200


def test_no_thing_on_the_map_has_its_name_left() -> None:
    names, originals = renaming(), full_names()
    for noun in set(glyph_names().nouns):
        text = f"{noun} very far west"
        shown = names.rename(text)
        assert not names_left(shown, originals)
        assert names.restore(shown) == text


@pytest.mark.slow
def test_ten_thousand_observations_are_restored_byte_for_byte() -> None:
    assert asyncio.run(compared(10_000)) >= 10_000


@pytest.mark.parametrize("name", ["nle", "nethackers", "minihack", "decisions", "netplay", "crafter"])
def test_every_kind_that_takes_the_option_has_other_names(name: str) -> None:
    kind = kind_of(name)
    options = resolved_options(kind, {"renamed": 3}, [kind])
    assert options["renamed"] == 3
    names = kind.hints.renaming(GameSpec(name, kind.tasks()[0], Seeds(0, 0), options=options))
    assert names is not None
    assert names.rename("zombie") != "zombie"


def test_crafter_has_other_names_too() -> None:
    kind = kind_of("crafter")
    plain = GameSpec("crafter", "default", Seeds(0, 0), options=resolved_options(kind, {}, [kind]))
    assert "renamed" not in plain.options  # so that digests stay as they are
    assert kind.hints.renaming(plain) is None
    renamed = GameSpec(
        "crafter", "default", Seeds(0, 0), options=resolved_options(kind, {"renamed": 3}, [kind])
    )
    names = kind.hints.renaming(renamed)
    assert names is not None
    text = "- wood_pickaxe: 1\n- tree 3 steps to your north\nMake Stone Sword near a table by the water"
    shown = names.rename(text)
    assert not re.search("wood|pickaxe|tree|stone|sword|table", shown, re.I)
    assert "steps to your north" in shown
    assert "water" in shown
    assert names.restore(shown) == text


def test_textworld_has_other_names_too() -> None:
    pytest.importorskip("textworld", reason="the extra [textworld] is not installed")
    kind = kind_of("textworld")
    seeds = Seeds(0, 0)
    plain = GameSpec("textworld", "coin_collector", seeds, options=resolved_options(kind, {}, [kind]))
    assert "renamed" not in plain.options
    assert kind.hints.renaming(plain) is None
    renamed = msgspec.structs.replace(plain, options=resolved_options(kind, {"renamed": 3}, [kind]))
    names = kind.hints.renaming(renamed)
    assert names is not None
    text = "-= Kitchen =-\nYou see a fridge and a BBQ.\n\n> chop the red pepper with the knife near the door"
    shown = names.rename(text)
    assert not re.search("kitchen|fridge|bbq|pepper|knife", shown, re.I)
    assert [word for word in ("chop the red ", "near the door", "You see a ") if word not in shown] == []
    assert names.restore(shown) == text
    with gzip.open(RECORDED_STORIES, "rt") as lines:
        games = [json.loads(line) for line in lines]
    stories = {moment["long"] for game in games for moment in (game["start"], *game["steps"])}
    assert len(stories) > 100
    for story in stories:
        assert names.restore(names.rename(story)) == story


@pytest.mark.slow
def test_a_renamed_run_verifies_and_is_shown_in_either_language(tmp_path: Path) -> None:
    words = ("agent=robust_star", "model=scripted", "env.renamed=7", "env.episodes=1", "limits.steps=3")
    played = command(
        "balrog_rag", "run", *words, "run.folder=.", "run.name=r", "runner.log=none", cwd=tmp_path
    )
    assert played.returncode == 0, played.stderr
    assert command("balrog_rag", "verify", "r", cwd=tmp_path).returncode == 0
    (path,) = (tmp_path / "r").rglob("*.journal.jsonl")
    renamed = command("balrog_rag", "show", str(path), "--step", "0", cwd=tmp_path).stdout
    prompt = renamed[: renamed.index("[answer to act")]
    assert not names_left(prompt, full_names())
    original = command("balrog_rag", "show", str(path), "--step", "0", "--original", cwd=tmp_path).stdout
    prompt = original[: original.index("[answer to act")]
    assert names_left(prompt, full_names())
