"""BALROG's Crafter as an engine."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.crafter.words import VITAL, status, surroundings
from balrog_rag.envs.small_engine import Moment

TASKS = ("default",)
GOAL = "Your goal is to stay alive and to reach as many of these achievements as you can, each at least once."
MAX_STEPS = 2000
ACTIONS = {
    "Noop": "do nothing",
    "Move West": "turn west, and take a step if nothing is in the way",
    "Move East": "turn east, and take a step if nothing is in the way",
    "Move North": "turn north, and take a step if nothing is in the way",
    "Move South": "turn south, and take a step if nothing is in the way",
    "Do": "use what you face: gather a material, drink, pick a sapling from grass, eat, or fight",
    "Sleep": "sleep until your energy is full; it can be done while your energy is below its most",
    "Place Stone": "put down a stone in front of you",
    "Place Table": "put a table in front of you; takes wood",
    "Place Furnace": "put a furnace in front of you; takes stone",
    "Place Plant": "plant a sapling in the grass in front of you",
    "Make Wood Pickaxe": "make a wood pickaxe near a table; takes wood",
    "Make Stone Pickaxe": "make a stone pickaxe near a table; takes wood and stone",
    "Make Iron Pickaxe": "make an iron pickaxe near a table and a furnace; takes wood, coal and iron",
    "Make Wood Sword": "make a wood sword near a table; takes wood",
    "Make Stone Sword": "make a stone sword near a table; takes wood and stone",
    "Make Iron Sword": "make an iron sword near a table and a furnace; takes wood, coal and iron",
}
DEFAULT_ACTION = "Noop"
ACHIEVEMENTS = 22

_WAYS = {"west": "left", "east": "right", "north": "up", "south": "down"}


def make(task: str, seed: int) -> "Crafter":
    """Create a game; there is one task."""
    TASKS.index(task)
    return Crafter(seed)


class Crafter:
    """A player in a world of 64 by 64 cells, with a view of 9 by 7."""

    goal = GOAL
    max_steps = MAX_STEPS

    def __init__(self, seed: int) -> None:
        from balrog_rag.envs.crafter.world import World

        self._world = World(seed)

    def reset(self) -> Moment:
        """Begin the game; BALROG takes one step before the first observation."""
        self._world.start()
        self._world.take("noop")
        return self._moment(0.0, False)

    def step(self, action: str) -> Moment:
        """Take one action."""
        return self._moment(*self._world.take(_crafters_name(action)))

    def picture(self) -> NDArray[Any]:
        """Draw the surroundings and the inventory, 256 by 256 pixels."""
        return self._world.picture()

    def looks(self) -> None:
        """Return None: the light of its pictures is drawn by chance."""
        return

    def close(self) -> None:
        """Do nothing: no resources are held."""

    def _moment(self, reward: float, over: bool) -> Moment:
        from balrog_rag.envs.crafter.world import items

        player = self._world.player
        dead = player.health <= 0
        ended = (Outcome.DIED if dead else Outcome.STEPS) if over else ""
        unlocked = sum(count > 0 for count in player.achievements.values())
        return Moment(
            surroundings(self._view(), player.facing, player.sleeping, dead),
            status(player.inventory, items()),
            reward,
            ended,
            unlocked / ACHIEVEMENTS,
            {"achievements": unlocked, **{name: int(player.inventory[name]) for name in VITAL}},
        )

    def _view(self) -> NDArray[Any]:
        """The names of everything in view."""
        from balrog_rag.envs.crafter.world import material

        materials, creatures = self._world.around()
        view = np.empty(materials.shape, object)
        for place in np.ndindex(*materials.shape):
            view[place] = material(int(materials[place]))
        for x, y, name in creatures:
            view[x, y] = name
        return view


def _crafters_name(action: str) -> str:
    kind, _, rest = action.lower().partition(" ")
    return "_".join(filter(None, (kind, _WAYS.get(rest, rest.replace(" ", "_")))))
