"""Games for the tests of this folder."""

import asyncio
from collections.abc import Iterable
from typing import Any

from balrog_rag.contracts.data import GameSpec, Seeds, Transition
from balrog_rag.workers.inline import InlineGame

VALKYRIE = "val-dwa-law-fem"


def nethack(seed: int = 3, character: str = VALKYRIE, **rest: Any) -> GameSpec:
    return _game("nle", "NetHackChallenge-v0", seed, {"character": character, **rest})


def minihack(task: str, seed: int = 1, **rest: Any) -> GameSpec:
    name = task if task.startswith("MiniHack-") else f"MiniHack-{task}-v0"
    return _game("minihack", name, seed, {"max_steps": 100, **rest})


def _game(env: str, task: str, seed: int, rest: dict[str, Any]) -> GameSpec:
    steps = rest.pop("max_steps", 100_000)
    return GameSpec(env, task, Seeds(seed, seed), steps, rest)


def play(spec: GameSpec, actions: Iterable[str], ttyrec: str | None = None) -> list[Transition]:
    """The start and the result of each action, up to the game's end."""

    async def run() -> list[Transition]:
        game = InlineGame(spec, ttyrec)
        try:
            return [game.start, *await game.play(list(actions))]
        finally:
            await game.close()

    return asyncio.run(run())
