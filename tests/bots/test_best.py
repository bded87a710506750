"""One name for the best player of each environment."""

import pytest

from balrog_rag.bots.best import BEST
from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import GameSpec, ProgramPlayer
from balrog_rag.contracts.programs import program_of
from balrog_rag.workers.host import HostedGame
from tests.envs.support import minihack, nethack


def test_every_environment_of_balrog_has_a_player() -> None:
    kinds = {task.partition("/")[0] for task in compose(["env=balrog", "agent=best"]).env.tasks}
    assert kinds <= set(BEST)
    for env, name in BEST.items():
        assert env in program_of(name).games


def pressed(name: str, spec: GameSpec) -> list[int | str]:
    """The first presses of a player."""
    game, found = HostedGame(spec), list[int | str]()
    while len(found) < 40:
        done = game.run(ProgramPlayer(name, {}, 0), 40)
        found += done.pressed
        if done.ended:
            break
    game.close()
    return found


@pytest.mark.parametrize("spec", [nethack(), minihack("MazeWalk-9x9")], ids=["nle", "minihack"])
def test_it_plays_like_that_player(spec: GameSpec) -> None:
    assert pressed("best", spec) == pressed(BEST[spec.env], spec)
