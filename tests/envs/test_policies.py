"""Policies in environments that show them no raw arrays."""

from typing import Any

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import plain
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import EnvironmentFailure
from balrog_rag.workers.host import HostedGame
from tests.envs.support import minihack


class Hidden:
    """A real game that shows its text alone."""

    def __init__(self, game: Any) -> None:
        self.reset, self.step, self.close, self.view = game.reset, game.step, game.close, game.view


class Looking:
    """A policy that plays by the arrays."""

    def __init__(self, *_: Any) -> None:
        pass

    def act(self, raw: Any) -> str:
        return "north" if "glyphs" in raw else "south"


def test_random_needs_no_arrays_and_a_policy_that_does_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    make = registry.environments.get("minihack")
    hidden = {"minihack": lambda spec, ttyrec: Hidden(make(spec, ttyrec))}
    monkeypatch.setattr(registry.environments, "_added", hidden)
    monkeypatch.setattr(registry.policies, "_added", {"looking": Looking})
    config = plain(compose(["agent=random"]).agent)
    games = [HostedGame(minihack("Corridor-R3")) for _ in range(2)]
    assert all(games[0].policy_step("random", config, 1).action in games[0].view.accepted for _ in range(20))
    with pytest.raises(EnvironmentFailure, match="shows no raw arrays, which policy 'looking' plays by"):
        games[1].policy_step("looking", config, 1)
    for game in games:
        game.close()
