"""NetPlay's handcrafted player: its rules in real games, its known bug, and verified episodes."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from balrog_rag.bots.nethack.netplay.handcrafted import bug_of
from balrog_rag.bots.nethack.netplay.handcrafted.bot import HandcraftedBot, is_food
from balrog_rag.contracts.data import ProgramPlayer
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.envs.nethack.world.items import read_item
from balrog_rag.envs.nethack.world.tracker import Tracker
from balrog_rag.episode import journal
from balrog_rag.results.run_folder import journal_path
from balrog_rag.run.replay import verify
from balrog_rag.workers.host import HostedGame
from tests.bots.netplay.made import ROOM, made
from tests.envs.support import nethack


def played(presses: int, seed: int = 5, character: str = "val-hum-neu-fem", **options: bool) -> HostedGame:
    """A game of NetHack after this many presses of the player."""
    game = HostedGame(nethack(seed, character, no_progress=0))
    for _ in range(100):
        done = game.run(ProgramPlayer("handcrafted", options, 0), presses)
        presses -= done.count
        if done.ended or presses <= 0:
            break
    return game


def test_it_explores_fights_and_goes_down() -> None:
    game = played(450)
    numbers = game._game.numbers
    assert numbers["turn"] > 200
    assert numbers["depth"] >= 2 or numbers["experience"] > 0


def test_two_plays_of_a_game_press_the_same() -> None:
    first, second = (played(200)._game.numbers for _ in range(2))
    assert first == second


def test_the_papers_bug_takes_a_turn_for_a_distance() -> None:
    game = made(ROOM)
    tracker = game.game._game.screen.tracker  # type: ignore[union-attr]
    for bug, prayed, turn, may in (
        (False, None, 10, True),
        (False, 400, 800, False),
        (False, 400, 901, True),
        (True, 400, 5000, False),
        (True, 501, 502, True),
    ):
        tracker.prayed, tracker.player.body.turn = prayed, turn
        assert HandcraftedBot(tracker, bug).may_pray() is may


@pytest.mark.parametrize(
    ("text", "food"),
    [
        ("3 uncursed food rations", True),
        ("2 apples", True),
        ("a clove of garlic", True),
        ("2 cloves of garlic", True),
        ("an orange potion", False),
        ("a tin opener", False),
        ("a newt corpse", False),
        ("a long sword (weapon in hand)", False),
    ],
)
def test_food_is_known_by_name(text: str, food: bool) -> None:
    assert is_food(read_item("a", text)) is food


def test_potions_and_food_are_taken_and_corpses_left() -> None:
    things = (
        "OBJECT:('!',\"sickness\"),(5,2)\nOBJECT:('%',\"apple\"),(7,1)\n"
        'OBJECT:(\'%\',"corpse"),(3,3),montype:"newt"\n'
    )
    game = made(ROOM + things, actions="full", more_skills=False)
    host = game.game
    done = host.run(ProgramPlayer("handcrafted", {}, 0), 60)
    carried = done.observation.text("inventory")
    assert "potion" in carried
    assert "apple" in carried
    assert "corpse" not in carried


def test_popups_are_answered_with_yes_or_left() -> None:
    game = HostedGame(nethack(5, "val-hum-neu-fem"))
    game.step("drop")
    assert Tracker(game._game.screen).player.screen.asks
    pressed = [key for _ in range(4) for key in game.run(ProgramPlayer("handcrafted", {}, 0), 4).pressed]
    assert pressed[0] == ord("y")
    assert 27 in pressed
    assert len(set(pressed)) > 3


def test_its_options_are_checked() -> None:
    assert bug_of({"paper_bug": True})
    with pytest.raises(ConfigError, match="handcrafted has no 'bug'; it has paper_bug"):
        bug_of({"bug": True})
    with pytest.raises(ConfigError, match="'yes' is neither true nor false"):
        bug_of({"paper_bug": "yes"})


def test_an_episode_ends_and_is_verified(specs: Callable, player: Callable, tmp_path: Path) -> None:
    (spec,) = specs(
        "agent=handcrafted", "env.tasks=[nle/NetHackChallenge-v0]", "env.character=val-hum-neu-fem", steps=300
    )
    end = asyncio.run(player()(spec))
    path = journal_path(tmp_path / "run", spec.episode)
    assert sum(step.count for step in journal.read(path).steps) == end.steps
    assert asyncio.run(verify(path)).complete
