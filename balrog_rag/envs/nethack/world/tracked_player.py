"""The player passed to skills: the game itself reports every key to it, whoever pressed it."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from balrog_rag.envs.nethack.world.known_world import World
from balrog_rag.envs.nethack.world.level import Level, Place
from balrog_rag.envs.nethack.world.shared_player import FollowedPlayer
from balrog_rag.envs.nethack.world.terrain import AROUND, WIDTH


class OpenLevel(Level):
    """A level without the rule against squeezing between boulders."""

    def _open_steps(self, place: int) -> list[int]:
        aslant = {near for near, diagonal in AROUND[place] if diagonal}
        return [
            near
            for near in super()._open_steps(place)
            if not (near in aslant and self.boulders and self._tight(place, near))
        ]

    def _tight(self, place: int, near: int) -> bool:
        row, column = place // WIDTH, near % WIDTH
        corners = row * WIDTH + column, near + place - (row * WIDTH + column)
        return all(corner in self.boulders for corner in corners)


class OpenWorld(World):
    """A game in which shops may be entered, since a language model may want to buy something."""

    def _read(self, message: str) -> None:
        """Close no path because of a message."""

    def _see_shop(self, inside: int) -> None:
        """Treat a shop like any other room."""

    def _enter(self, place: Place) -> None:
        self.levels.setdefault(place, OpenLevel(place))
        super()._enter(place)


class SkillPlayer(FollowedPlayer):
    """The player of a language model's skills."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """`arrays` are NLE's, which every key press overwrites."""
        super().__init__(arrays)
        self.world = OpenWorld()
        self.tried: int | None = None
        """The door that was last walked against or opened."""
        self.look()
