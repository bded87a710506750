"""Crafter without two sources of chance, so that a seed and actions determine the game everywhere.

It keeps creatures by region in sets, whose order depends on memory addresses; here they keep their order of
creation. And its pictures use the world's random numbers at night; here these are drawn whether or not a
picture is drawn. BALROG draws two pictures after each step.
"""

from collections import defaultdict
from collections.abc import Hashable
from functools import cache
from typing import Any

import crafter
import opensimplex
from crafter import constants, engine, worldgen
from numpy.typing import NDArray
from opensimplex import internals

AREA, VIEW, SIZE = (64, 64), (9, 9), (256, 256)
_REGION = (12, 12)
_SEEN = (9, 7)
"""Columns and rows of the world in a picture; the rest shows the inventory."""
_PIXELS = tuple(cells * (SIZE[0] // VIEW[0]) for cells in _SEEN)
_DARKER, _BRIGHTER, _DUSK = 32, 127, 0.5


class _Arrivals(dict[Hashable, None]):
    """The operations of a set that Crafter needs, in order of insertion."""

    def add(self, thing: Hashable) -> None:
        self[thing] = None

    def remove(self, thing: Hashable) -> None:
        del self[thing]


class _Noise(opensimplex.OpenSimplex):  # type: ignore[misc]
    """The same noise from lists: reading single numbers from arrays takes Python ten times as long."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        for table in ("_perm", "_perm_grad_index3"):
            setattr(self, table, getattr(self, table).tolist())


class _Simplex:
    """What Crafter needs of the package `opensimplex`."""

    OpenSimplex = _Noise


if not hasattr(internals._noise3, "py_func"):  # not compiled by Numba, for which arrays are better
    worldgen.opensimplex = _Simplex
    internals.GRADIENTS3 = internals.GRADIENTS3.tolist()


class _World(engine.World):  # type: ignore[misc]
    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self._chunks: Any = defaultdict(_Arrivals)


class World(crafter.Env):  # type: ignore[misc]
    """A game of Crafter in a world generated from this seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(area=AREA, view=VIEW, size=SIZE, seed=seed)
        self._world = _World(AREA, constants.materials, _REGION)
        self._local_view = engine.LocalView(self._world, self._textures, _SEEN)
        self._sem_view = lambda: None  # the whole map is never used
        self._picture: NDArray[Any] | None = None
        self._owed = False

    @property
    def player(self) -> Any:
        """The player, with its inventory and achievements."""
        return self._player

    def start(self) -> None:
        """Generate the world; always the same one, whereas Crafter generates the next."""
        self._episode = 0
        self.reset()
        self._picture, self._owed = None, False

    def take(self, action: str) -> tuple[float, bool]:
        """Take an action by Crafter's name; return the reward, and whether the game is over."""
        if self._owed:
            self._throw()
        _, reward, done, _ = self.step(constants.actions.index(action))
        self._picture, self._owed = None, True
        return float(reward), bool(done)

    def picture(self) -> NDArray[Any]:
        """The second picture that BALROG draws after a step."""
        if self._picture is None:
            self._picture = self.render()
            self._owed = False
        return self._picture

    def around(self) -> tuple[NDArray[Any], list[tuple[int, int, str]]]:
        """The numbers of the materials in view, and the creatures with their positions in it.

        Columns first. Beyond the west and north edges nothing is in view, as in BALROG.
        """
        left, top = (int(at) - seen // 2 for at, seen in zip(self._player.pos, _SEEN, strict=True))
        materials: NDArray[Any] = self._world._mat_map[left : left + _SEEN[0], top : top + _SEEN[1]]
        columns, rows = materials.shape
        creatures = [
            (x, y, type(thing).__name__.lower())
            for thing in self._world.objects
            if 0 <= (x := int(thing.pos[0]) - left) < columns and 0 <= (y := int(thing.pos[1]) - top) < rows
        ]
        return materials, creatures

    def _obs(self) -> None:
        """The first picture after a step is never used."""
        self._throw()

    def _throw(self) -> None:
        if self._world.daylight < _DUSK:
            self._world.random.uniform(_DARKER, _BRIGHTER, _PIXELS)


def material(number: int) -> str:
    """The name of a material."""
    name: str = constants.materials[number - 1]
    return name


@cache
def items() -> dict[str, int]:
    """Everything that can be carried, with its maximum; a player's vital signs come first."""
    return {name: about["max"] for name, about in constants.items.items()}
