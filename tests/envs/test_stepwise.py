"""Programs in environments that only take steps: they see observations, and can play as well."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from balrog_rag.contracts import registry
from balrog_rag.contracts.data import ProgramPlayer
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.programs import Begin, Program, ProgramKind
from balrog_rag.workers.host import HostedGame
from tests.envs.support import minihack


class Hidden:
    """A real game that exposes its text only."""

    def __init__(self, game: Any) -> None:
        self.reset, self.step, self.close, self.view = game.reset, game.step, game.close, game.view


def stroll(begin: Begin) -> Program:
    """Walk west until the game shows a message."""
    screen = begin.screen
    for _ in range(30):
        screen = yield "west"
        if said := screen.text("message").strip():
            return f"the game says: {said}"
    return "nothing was said"


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = kind_of("minihack")
    other = replace(kind, make=lambda spec, ttyrec: Hidden(kind.make(spec, ttyrec)))
    monkeypatch.setattr(registry.environments, "_added", {"minihack": other})
    monkeypatch.setattr(registry.programs, "_added", {"stroll": ProgramKind(name="stroll", make=stroll)})


@pytest.mark.usefixtures("hidden")
def test_random_plays_by_steps_what_it_plays_by_presses() -> None:
    game = HostedGame(minihack("Corridor-R3"))
    burst = game.run(ProgramPlayer("random", {}, 1), 20)
    registry.environments._added.clear()
    direct = HostedGame(minihack("Corridor-R3")).run(ProgramPlayer("random", {}, 1), 20)
    assert (burst.pressed, burst.observation) == (direct.pressed, direct.observation)
    assert (burst.keys, burst.reward) == (direct.keys, pytest.approx(direct.reward))


@pytest.mark.usefixtures("hidden")
def test_a_call_sees_observations() -> None:
    spec = msgspec.structs.replace(minihack("Corridor-R3"), programs=("stroll",))
    game = HostedGame(spec)
    game.step("east")
    done = game.step("stroll")
    assert done.stopped.startswith("the game says: ")
    assert done.keys > 1
