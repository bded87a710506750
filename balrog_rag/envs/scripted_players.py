"""The scripted player: a program without a model for each of the small games, chosen by the game's name."""

from collections.abc import Generator
from importlib import import_module

from balrog_rag.contracts.programs import Begin, Program, ProgramKind
from balrog_rag.envs.small_engine import Moment

GAMES = ("babyai", "babaisai", "crafter", "textworld")


def play(begin: Begin) -> Program:
    """Play to the end."""
    screen = begin.screen
    player: Generator[str, Moment, None]
    module = import_module(f"balrog_rag.envs.{begin.view.env}.player")
    if begin.view.env == "textworld":
        player = module.play(lambda: screen.advice())
    else:
        player = module.play(begin.view.goal, screen.moment)
    action = next(player)
    while True:
        screen = yield action
        action = player.send(screen.moment)


SCRIPTED = ProgramKind(name="scripted", make=play, games=GAMES, plays=True, unlisted_keys=False)
