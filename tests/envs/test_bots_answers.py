"""The answers with which a model presses the keys of NetHack's bots."""

import pytest

from balrog_rag.contracts.data import GameSpec, Observation, Part, Seeds, TaskView
from balrog_rag.envs.nethack.actions import nethack_actions
from balrog_rag.envs.nethack.screen_signals import NetHackSignals

PAGE = "You kill it!--More--"
ITEM, ITEM_CURSOR = "What do you want to wield? [- abd or ?*]", "\n(x=41, y=0)"
HERE = "Yourself a agent\n(x=20, y=7)"


@pytest.mark.parametrize(
    ("key", "message", "cursor", "actions", "answer"),
    [
        (ord("k"), "", HERE, "balrog", "north"),
        (ord("a"), ITEM, ITEM_CURSOR, "balrog", "a"),
        (ord("a"), ITEM, "", "balrog", "a"),  # the language layout shows no cursor off the map
        (ord("a"), "", HERE, "balrog", "apply"),
        (ord("j"), "In what direction?", "\n(x=19, y=0)", "balrog", "south"),
        (ord("E"), "What do you want to write in the dust here?", "\n(x=43, y=0)", "balrog", "E"),
        (ord("b"), "Pick up what?\n\nWeapons\nb - a dagger\n(end)", HERE, "balrog", "b"),
        (ord("_"), "", HERE, "balrog", None),
        (ord("_"), "", HERE, "full", "travel"),
        (13, PAGE, "\n(x=22, y=0)", "balrog", ""),
        (27, PAGE, "\n(x=22, y=0)", "balrog", ""),
        (13, "", HERE, "balrog", "more"),
        (255, "", HERE, "full", None),
    ],
)
def test_a_press_as_a_models_answer(
    key: int, message: str, cursor: str, actions: str, answer: str | None
) -> None:
    seen = Observation((Part("message", message), Part("cursor", cursor)))
    game, view = played(actions, skip_more=True)
    assert NetHackSignals().answer(key, seen, game, view) == answer


def test_a_page_is_turned_by_an_answer_where_the_game_does_not() -> None:
    seen = Observation((Part("message", PAGE), Part("cursor", "\n(x=22, y=0)")))
    assert NetHackSignals().answer(13, seen, *played("balrog", skip_more=False)) == "more"


def played(actions: str, *, skip_more: bool) -> tuple[GameSpec, TaskView]:
    options = {"actions": actions, "skip_more": skip_more}
    game = GameSpec("nle", "NetHackChallenge-v0", Seeds(1, 2), 100, options)
    names = nethack_actions(actions)
    return game, TaskView("nle", game.task, "", names.advertised, frozenset(names.keys), "esc")
