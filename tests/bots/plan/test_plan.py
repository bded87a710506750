"""Skills at the level of decisions: what they do, what stops them, and what they say."""

import re
from random import Random

import pytest

from balrog_rag.bots.nethack.plan.plan_events import EVENTS
from balrog_rag.bots.nethack.plan.plan_offered import OFFERED
from balrog_rag.envs.nethack.characters import characters
from balrog_rag.workers.host import HostedGame
from examples.rule_model import choose
from tests.bots.netplay.made import HOUSE, ROOM
from tests.bots.netplay.test_any_call import call
from tests.bots.plan.made_plan import planned
from tests.envs.support import nethack

KEPT = (
    *("explore_level", "melee_attack <x> <y>", "down [x] [y]", "up [x] [y]", "rest [count]"),
    *("eat [item_letter]", "pray", "kick <x> <y>", "press_key <key>", "dig_down", "strike"),
    *("fetch_digger", "dive <level>", "play_on <turns>"),
)
"""Names and arguments on which players rely."""


def test_names_and_arguments_stay() -> None:
    forms = {kind.action.form for kind in OFFERED}
    assert set(KEPT) <= forms
    assert len({kind.name for kind in OFFERED}) == len(OFFERED)


def test_the_description_fits_a_screen() -> None:
    lines = [f"{kind.action.form}: {kind.says}" for kind in OFFERED]
    assert len(lines) <= 36
    assert max(map(len, lines)) <= 160


def test_a_monster_stops_a_walk_and_is_named() -> None:
    game = planned(HOUSE.format(door="closed") + "MONSTER:('o',\"hill orc\"),(8,2),hostile,asleep\n")
    said = game.do("explore_level")
    assert said.startswith("interrupted by monster: hill orc at ")
    x, y = game.at("hill orc")
    assert "gone" in game.do(f"melee_attack {x} {y}") or game.number("hp") < game.number("max_hp")


def test_a_peaceful_monster_stops_nothing_and_is_not_attacked() -> None:
    game = planned(ROOM + "MONSTER:('h',\"dwarf\"),(8,2),peaceful,asleep\n")
    assert not game.do("explore_level").startswith("interrupted by monster")
    x, y = game.at("dwarf")
    assert "peaceful" in game.do(f"melee_attack {x} {y}")
    assert game.number("hp") == game.number("max_hp")


def test_a_floating_eye_is_not_touched() -> None:
    game = planned(ROOM + "MONSTER:('e',\"floating eye\"),(8,2),hostile,asleep\n")
    x, y = game.at("floating eye")
    assert "can be fatal" in game.do(f"melee_attack {x} {y}")


def test_a_prayer_without_need_is_refused_with_the_reason() -> None:
    game = planned(ROOM)
    assert game.do("pray").startswith("failed: not prayed: there is no trouble")
    assert game.last.keys == 0


def test_the_way_out_of_the_dungeon_is_refused() -> None:
    game = HostedGame(nethack(3, "val-dwa-law-fem", actions="plan"))
    assert "leave the dungeon" in game.step("up").stopped
    game.close()


def test_questions_that_nobody_asked_for_are_closed() -> None:
    game = planned(ROOM)
    game.do("press_key d")
    assert "What do you want to drop" in game.part("open question")
    turn = game.number("turn")
    assert game.do("rest 3").startswith("rested for ")
    assert game.part("open question") == ""
    assert game.number("turn") >= turn + 3
    game.do("press_key i")
    assert "menu" in game.part("open question")
    game.do("strike")
    assert game.part("open question") == ""


def test_levels_are_remembered() -> None:
    game = HostedGame(nethack(5, "val-dwa-law-fem", actions="plan", no_progress_calls=0))
    for _ in range(12):
        seen = game.step("play_on 400")
        if seen.observation.numbers["depth"] >= 3:
            break
    lines = seen.observation.text("memory").splitlines()
    assert lines[0].startswith("Dlvl 3, here: stairs up ")
    assert "to Dlvl 2" in lines[0]
    assert any(line.startswith("Dlvl 1: stairs down ") for line in lines)
    assert len(seen.observation.text("memory")) < 1500
    assert game.step("go_to stairs_up 2").observation.numbers["depth"] == 2
    game.close()


@pytest.mark.parametrize(("level_memory", "shown"), [("none", ""), ("map", "upper left corner")])
def test_the_memory_can_be_a_map_or_hidden(level_memory: str, shown: str) -> None:
    game = planned(ROOM, level_memory=level_memory)
    text = game.part("memory")
    assert bool(text) == bool(shown)
    assert shown in text
    assert ("@" in text) == bool(shown)


def test_an_archeologist_dives_and_a_valkyrie_must_fetch_a_digger_first() -> None:
    game = HostedGame(nethack(3, "arc-dwa-law-mal", actions="plan", no_progress_calls=0))
    assert game.step("fetch_digger").stopped.startswith("you carry one already")
    for _ in range(6):
        seen = game.step("dive 4")
        if seen.observation.numbers["depth"] >= 4:
            break
    assert seen.observation.numbers["depth"] == 4
    assert "is not below you" in game.step("dive 4").stopped
    game.close()
    game = HostedGame(nethack(3, "val-hum-neu-fem", actions="plan", no_progress_calls=0))
    assert "fetch_digger" in game.step("dig_down").stopped
    game.close()


def test_advice_names_a_skill_and_changes_nothing() -> None:
    """Rules change what a bot knows before they press, so advice works on a copy."""
    traces = []
    for options in ({"advice": True}, {}):
        game = HostedGame(nethack(104, "@", actions="plan", no_progress_calls=0, **options))
        seen, trace = game.start, list[tuple[str, str]]()
        for _ in range(15):
            told = seen.observation.text("advice")
            assert bool(told) == bool(options)
            if told:
                skill = told.rpartition("skill is ")[2].split()[0].rstrip(".")
                assert skill in {kind.name for kind in OFFERED}
            seen = game.step("play_on 30")
            trace.append((seen.stopped, seen.observation.text("message")))
            if seen.ended:
                break
        game.close()
        traces.append(trace)
    assert traces[0] == traces[1]


def reasons(seed: int, calls: int) -> tuple[int, bool]:
    """Play random calls in one game; return how many there were, and whether the game ended."""
    dice = Random(seed)
    character = dice.choice(characters())
    game = HostedGame(nethack(seed, character, actions="plan", no_progress=0, no_progress_calls=0))
    actions = [kind.action for kind in OFFERED]
    for number in range(calls):
        text = call(dice, dice.choice(actions))
        where = f"seed {seed}, {character}, call {number}: {text}"
        if not game.view.takes(text):  # an integer out of bounds
            continue
        seen = game.step(text)
        if seen.ended:
            game.close()
            return number + 1, True
        assert seen.stopped, where
        assert "\n" not in seen.stopped, where
        if seen.stopped.startswith("interrupted by "):
            assert seen.stopped.removeprefix("interrupted by ").partition(":")[0] in EVENTS, where
        if not text.startswith(("press_key", "type_text")):
            assert seen.observation.text("open question") == "", where
    game.close()
    return calls, False


@pytest.mark.slow
def test_random_calls_end_with_a_reason() -> None:
    assert sum(reasons(seed, 25)[0] for seed in range(3)) > 30


@pytest.mark.parametrize(
    ("character", "chosen"), [("val-hum-neu-fem", "fetch_digger"), ("arc-dwa-law-mal", "dive 60")]
)
def test_the_example_of_a_rule_based_model_reads_the_prompt(character: str, chosen: str) -> None:
    game = HostedGame(nethack(3, character, actions="plan"))
    seen = game.start.observation
    prompt = f"Current Observation:\n{seen.short_term}\n{seen.long_term}"
    assert choose(("instruction", prompt)) == chosen
    assert choose((f"Your last action, eat, stopped: failed: no food.\n\n{prompt}",)) == "play_on 200"
    dying = re.sub(r"HP:\d+", "HP:1", prompt)
    assert choose((dying,)) == "pray"
    assert choose((dying.replace("You have not prayed yet", "You prayed 9 turns ago"),)) == chosen
    game.close()
