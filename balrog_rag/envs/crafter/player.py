"""A player of Crafter without a model: it follows the order of crafts, and vital needs come first.

The text gives only the distance and quarter of the nearest thing of each kind, so the player moves by trial:
a blocked way is dug through or walked around.
"""

import re
from collections.abc import Generator, Iterator
from typing import NamedTuple

from balrog_rag.envs.small_engine import Moment

_WAYS = {"north": "Move North", "south": "Move South", "west": "Move West", "east": "Move East"}
_ASIDE = {
    "north": ("east", "west"),
    "south": ("west", "east"),
    "west": ("north", "south"),
    "east": ("south", "north"),
}
_BACK = {"north": "south", "south": "north", "west": "east", "east": "west"}
_OPEN = ("grass", "sand", "path")
_ENEMIES = ("zombie", "skeleton")
_LINE = re.compile(r"^- (\w+) (\d+) steps? to your ([\w-]+)$", re.MULTILINE)
_COUNT = re.compile(r"^- (\w+): (\d+)", re.MULTILINE)
_FACED = re.compile(r"You face (\w+) at your front")
_LOW, _TIRED = 4, 9
_TABLE, _FURNACE, _WOOD, _STONE = 2, 4, 6, 6
_SAPLING_TRIES, _LEG, _DETOUR = 40, 25, 3


class Sight(NamedTuple):
    """The distance of the nearest thing of a kind, and its directions."""

    steps: int
    ways: tuple[str, ...]


class Scene:
    """The contents of one observation."""

    def __init__(self, moment: Moment) -> None:
        found = _FACED.search(moment.long)
        self.faces = found[1] if found else "nothing"
        self.asleep = moment.long.startswith("You are sleeping")
        self.sees = {
            name: Sight(int(far), tuple(way.split("-"))) for name, far, way in _LINE.findall(moment.long)
        }
        self.has = {name: int(number) for name, number in _COUNT.findall(moment.short)}

    def count(self, name: str) -> int:
        """The number carried of an item, or the level of a vital sign."""
        return self.has.get(name, 0)

    def near(self, name: str, steps: int = 1) -> bool:
        """Whether such a thing is within this distance."""
        return name in self.sees and self.sees[name].steps <= steps


def play(goal: str, first: Moment) -> Generator[str, Moment, None]:
    """Survive and craft, an action at a time."""
    player = _Player()
    moment = first
    while True:
        moment = yield player.act(Scene(moment))


class _Player:
    def __init__(self) -> None:
        self._done: set[str] = set()
        self._heading, self._leg, self._turns = "east", 0, 0
        self._detour: list[str] = []
        self._moved = ""
        self._before: Scene | None = None
        self._tries = 0

    def act(self, scene: Scene) -> str:
        """Choose the next action."""
        action = "Noop" if scene.asleep else next(self._wishes(scene))
        self._note(action, scene)
        self._before = scene
        return action

    def _wishes(self, scene: Scene) -> Iterator[str]:
        """Possible actions, the most urgent first."""
        yield from self._needs(scene)
        yield from self._crafts(scene)
        yield from self._chances(scene)
        yield from self._gathering(scene)
        yield self._explore(scene)

    def _needs(self, scene: Scene) -> Iterator[str]:
        for enemy in _ENEMIES:
            if scene.near(enemy):
                yield from self._use(scene, enemy)
        if scene.count("drink") <= _LOW or (scene.near("water", 2) and scene.count("drink") < _TIRED):
            yield from self._use(scene, "water")
        if scene.count("food") <= _LOW or "eat_cow" not in self._done:
            yield from self._use(scene, "cow")
        if scene.count("drink") < _TIRED and "drink" not in self._done:
            yield from self._use(scene, "water")
        safe = not any(enemy in scene.sees for enemy in _ENEMIES)
        if scene.count("energy") < (_TIRED if "sleep" not in self._done else _LOW) and safe:
            yield "Sleep"

    def _crafts(self, scene: Scene) -> Iterator[str]:
        at_table = scene.near("table") or scene.faces == "table"
        if at_table and scene.count("wood"):
            yield from self._tools(scene)
        if at_table and scene.count("stone_sword") and scene.count("stone") >= _FURNACE:
            yield from () if self._has_furnace(scene) else ("Place Furnace",)
        free = not at_table and scene.faces in _OPEN
        if free and scene.count("wood") >= _TABLE + 2 and self._wants_table(scene):
            yield "Place Table"

    def _tools(self, scene: Scene) -> Iterator[str]:
        """Tools that can be made at the table, if wood is available."""
        iron = self._has_furnace(scene) and scene.count("coal") and scene.count("iron")
        can = {"wood": True, "stone": scene.count("stone"), "iron": iron}
        for material in (name for name, enough in can.items() if enough):
            for tool in ("pickaxe", "sword"):
                if not scene.count(f"{material}_{tool}"):
                    yield f"Make {material.title()} {tool.title()}"

    def _wants_table(self, scene: Scene) -> bool:
        if not scene.count("wood_pickaxe"):
            return scene.count("wood") >= _WOOD
        if not scene.count("stone_pickaxe") or not scene.count("stone_sword"):
            return scene.count("stone") >= 2
        irons = scene.count("iron_pickaxe") + scene.count("iron_sword")
        return (
            irons < 2
            and bool(scene.count("iron") and scene.count("coal"))
            and scene.count("stone") >= _FURNACE
        )

    def _has_furnace(self, scene: Scene) -> bool:
        return scene.near("furnace") or scene.faces == "furnace"

    def _chances(self, scene: Scene) -> Iterator[str]:
        if scene.count("sapling") and scene.faces == "grass":
            yield "Place Plant"
        if scene.faces == "grass" and "plant" not in self._done and self._tries < _SAPLING_TRIES:
            yield "Do"
        if scene.count("stone") and scene.faces in _OPEN and "stone" not in self._done:
            yield "Place Stone"

    def _gathering(self, scene: Scene) -> Iterator[str]:
        for material in self._wanted(scene):
            yield from self._use(scene, material)

    def _wanted(self, scene: Scene) -> Iterator[str]:
        """Materials worth collecting, in the order of crafts."""
        if scene.count("iron_pickaxe"):
            yield "diamond"
        if scene.count("stone_pickaxe") and scene.count("iron") < 2:
            yield "iron"
        if scene.count("wood_pickaxe") and scene.count("coal") < 2:
            yield "coal"
        if scene.count("wood") < (_WOOD if scene.count("wood_pickaxe") else _WOOD + 2):
            yield "tree"
        if scene.count("wood_pickaxe") and scene.count("stone") < _STONE:
            yield "stone"

    def _use(self, scene: Scene, name: str) -> Iterator[str]:
        """Go to the nearest such thing and use it, if one is in sight."""
        if scene.faces == name:
            yield "Do"
        sight = scene.sees.get(name)
        if sight is not None:
            yield self._towards(scene, sight)

    def _towards(self, scene: Scene, sight: Sight) -> str:
        if sight.steps == 1:
            return _WAYS[sight.ways[0]]
        ways = [way for way in sight.ways if not self._blocked(scene, way)]
        if self._detour:
            return self._step(scene, self._detour.pop(0))
        if ways:
            return self._step(scene, ways[0])
        self._turns += 1
        aside = _ASIDE[sight.ways[0]][self._turns % 2]
        self._detour = [aside] * (1 + self._turns % _DETOUR)
        return self._step(scene, self._detour.pop(0))

    def _blocked(self, scene: Scene, way: str) -> bool:
        """Whether the last step in that direction met an obstacle that cannot be dug."""
        return (self._moved == way and scene.faces not in (*_OPEN, "stone")) or self._lava(scene, way)

    def _lava(self, scene: Scene, way: str) -> bool:
        return scene.near("lava") and way in scene.sees["lava"].ways

    def _step(self, scene: Scene, way: str) -> str:
        """Take a step, or dig the stone in its way."""
        if self._lava(scene, way):
            return _WAYS[_BACK[way]]
        if self._moved == way and scene.faces == "stone":
            if scene.count("wood_pickaxe"):
                return "Do"
            return _WAYS[_ASIDE[way][self._turns % 2]]
        return _WAYS[way]

    def _explore(self, scene: Scene) -> str:
        """Keep a direction for a while; turn if it is blocked or the world ends."""
        self._leg += 1
        stuck = self._moved == self._heading and scene.faces not in (*_OPEN, "stone")
        if stuck or not scene.sees or self._leg > _LEG:
            self._leg, self._turns = 0, self._turns + 1
            self._heading = (
                _BACK[self._heading] if not scene.sees else _ASIDE[self._heading][self._turns % 3 % 2]
            )
        return self._step(scene, self._heading)

    def _note(self, action: str, scene: Scene) -> None:
        """Remember the purpose of the action, and whether the last one was a first success."""
        before = self._before
        if before is not None:
            for name, what in (("food", "eat_cow"), ("drink", "drink")):
                if scene.count(name) > before.count(name):
                    self._done.add(what)
            if before.asleep and not scene.asleep and scene.count("energy") >= _TIRED:
                self._done.add("sleep")
        self._tries += action == "Do" and scene.faces == "grass"
        if action in ("Place Plant", "Place Stone"):
            self._done.add(action.split()[1].lower())
        self._moved = next((way for way, move in _WAYS.items() if move == action), self._moved)
