"""Levels written for tests of skills, as MiniHack's level descriptions, played key by key."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

from balrog_rag.envs.nethack.world.player import Player

_KEYS = ("glyphs", "blstats", "message", "tty_chars", "tty_cursor", "inv_strs", "inv_letters")

HEAD = """MAZE: "mylevel",' '
GEOMETRY:center,center
"""
ROOM = """MAP
-----------
|.........|
|.........|
|.........|
-----------
ENDMAP
REGION:(0,0,10,4),lit,"ordinary"
"""
TWO_ROOMS = """MAP
-----------------
|.......|.......|
|.......+.......|
|.......|.......|
-----------------
ENDMAP
"""


class MadeGame:
    """A game on such a level, and a player that observes it."""

    def __init__(self, task: Any) -> None:
        self._game = task.nethack
        self.arrays = self._game._obs_buffers
        self.player = Player(self.arrays)
        self.pressed: list[int] = []

    def run(self, skill: Callable[..., Generator[int, Any, Any]], *args: Any, limit: int = 5000) -> Any:
        """Play a skill to its end and return its result."""
        program = skill(self.player, *args)
        try:
            key = next(program)
            for _ in range(limit):
                self.pressed.append(key)
                self._game.step(key)
                key = program.send(self.arrays)
        except StopIteration as stop:
            return stop.value
        raise AssertionError(f"the skill did not end within {limit} keys")


@contextmanager
def made(description: str, character: str = "sam-hum-law-fem", seed: int = 1) -> Iterator[MadeGame]:
    """Start a game on the level of this description."""
    with opened(HEAD + description, character, seed) as task:
        yield MadeGame(task)


@contextmanager
def opened(level: str, character: str, seed: int) -> Iterator[Any]:
    """MiniHack's game on a whole level description, without a pet and without autopickup."""
    from minihack import MiniHack

    task = MiniHack(
        des_file=level,
        character=character,
        observation_keys=_KEYS,
        pet=False,
        autopickup=False,
        fix_moon_phase=True,
        max_episode_steps=10**6,
    )
    try:
        task.nethack.set_initial_seeds(seed, seed, False, None)
        task.reset()
        yield task
    finally:
        task.close()
