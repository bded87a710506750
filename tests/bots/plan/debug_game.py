"""Games in NetHack's debug mode, in which a test can go anywhere and wish for anything.

Only the game differs from one that is played: observations, tracker and skills are the real ones.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from nle import nethack as nh

from balrog_rag.envs.nethack.world.known_world import World
from balrog_rag.workers.host import HostedGame
from tests.bots.netplay.made import Played
from tests.envs.support import nethack

_CTRL_F, _CTRL_G, _CTRL_V, _CTRL_W = 6, 7, 22, 23
_ESC, _ENTER = 27, 13


class DebugGame(Played):
    """A game with plan skills, and keys of debug mode that no action of it presses."""

    def __init__(self, game: HostedGame) -> None:
        self.game = game
        self.last = game.start
        self._pressable = game._game

    @property
    def world(self) -> World:
        """What the bots' player knows."""
        return self._pressable.screen.memory.known().world

    def press(self, *keys: int | str) -> str:
        """Press keys, texts letter by letter, and turn pages; return all messages."""
        said = []
        for key in keys:
            for code in map(ord, key) if isinstance(key, str) else (key,):
                said.append(self._pressable.press(code).message)
        while self._pressable.screen["misc"][2]:
            said.append(self._pressable.press(_ENTER).message)
        self.last = self._pressable.look(" ".join(said), "")
        return " ".join(said)

    def wish(self, thing: str) -> str:
        """Get a thing; return its letter."""
        before = {item.letter for item in self.world.items}
        self.press(_CTRL_W, thing, _ENTER)
        return next(item.letter for item in self.world.items if item.letter not in before)

    def create(self, monster: str) -> None:
        """Create a monster next to the hero."""
        self.press(_CTRL_G, monster, _ENTER)

    def teleport(self, level: str) -> str:
        """Go to a level by its number."""
        return self.press(_CTRL_V, level, _ENTER)


@contextmanager
def debug_game(character: str = "val-hum-neu-fem", seed: int = 3, **options: object) -> Iterator[DebugGame]:
    """A game in debug mode."""
    original = nh.Nethack
    nh.Nethack = partial(original, wizard=True)
    try:
        chosen = {"actions": "plan", "no_progress": 0, "no_progress_calls": 0, **options}
        spec = nethack(seed, character, **chosen)
        game = HostedGame(spec)
    finally:
        nh.Nethack = original
    try:
        yield DebugGame(game)
    finally:
        game.close()
