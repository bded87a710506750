"""A player of BabyAI without a model: it keeps a map of everything seen and searches it for paths."""

import re
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple

from balrog_rag.envs.small_engine import Moment

Cell = tuple[int, int]
_AHEAD: tuple[Cell, ...] = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""Directions in the order of turns to the right; the player begins at (0, 0) facing the first."""
_SIDE, _FAR = 3, 6
"""Number of cells that the view reaches to either side and ahead."""
_ROOM = 8
_LINE = re.compile(r"^an? (?:(?:open|closed|locked) )?(?:(\w+) )?(\w+) (\d+ .*)$")
_THING = r"(?:the|a) (?:(\w+) )?(\w+)"


class Thing(NamedTuple):
    """A thing as named by a mission or an observation; without a colour it may have any."""

    color: str
    kind: str

    def is_a(self, wanted: "Thing") -> bool:
        """Whether it is the thing wanted."""
        return self.kind == wanted.kind and wanted.color in ("", self.color)


class Place(NamedTuple):
    """The player's position and direction."""

    cell: Cell
    way: int

    @property
    def front(self) -> Cell:
        """The cell ahead."""
        return self.cell[0] + _AHEAD[self.way][0], self.cell[1] + _AHEAD[self.way][1]

    def after(self, action: str) -> "Place":
        """The position after an action if nothing is in the way."""
        if action == "go forward":
            return Place(self.front, self.way)
        return Place(self.cell, (self.way + (1 if action == "turn right" else -1)) % 4)

    def seen_at(self, right: int, ahead: int) -> Cell:
        """The cell at this distance to the right and ahead."""
        (fx, fy), (rx, ry) = _AHEAD[self.way], _AHEAD[(self.way + 1) % 4]
        return self.cell[0] + right * rx + ahead * fx, self.cell[1] + right * ry + ahead * fy


def play(goal: str, first: Moment) -> Generator[str, Moment, None]:
    """Complete the mission, an action at a time."""
    player = _Player(first)
    for wanted, deed in _errands(goal):
        yield from deed(player, wanted)
    while True:
        yield from player.take("turn left")


def _errands(goal: str) -> Iterator[tuple[str, "Deed"]]:
    """The parts of the mission, in order."""
    later, _, first = goal.partition(" after you ")
    for part in (first, later) if first else goal.split(", then "):
        yield next((part.removeprefix(begins), deed) for begins, deed in _DEEDS if part.startswith(begins))


def _go(player: "_Player", wanted: str) -> Generator[str, Moment, None]:
    yield from player.face(_named(wanted))


def _fetch(player: "_Player", wanted: str) -> Generator[str, Moment, None]:
    yield from player.face(_named(wanted))
    player.things.pop(player.place.front, None)
    yield from player.take("pick up")


def _open(player: "_Player", wanted: str) -> Generator[str, Moment, None]:
    door = _named(wanted)
    yield from player.find(door)
    color = next(thing.color for thing in player.things.values() if thing.is_a(door))
    yield from _fetch(player, f"the {color} key")
    yield from player.face(door)
    yield from player.take("toggle")


def _put(player: "_Player", wanted: str) -> Generator[str, Moment, None]:
    moved, _, fixed = wanted.partition(" next to ")
    yield from player.find(_named(fixed))
    yield from _fetch(player, moved)
    near = [cell for cell, thing in player.things.items() if thing.is_a(_named(fixed))]
    spots = {cell for beside in near for cell in _neighbours(beside) if player.is_free(cell)}
    yield from player.walk(lambda place: place.front in spots)
    yield from player.take("drop")


Deed = Callable[["_Player", str], Generator[str, Moment, None]]
_DEEDS: tuple[tuple[str, Deed], ...] = (
    ("go to ", _go),
    ("pick up ", _fetch),
    ("open ", _open),
    ("put ", _put),
)


def _named(words: str) -> Thing:
    match = re.fullmatch(_THING, words)
    return Thing(match[1] or "", match[2]) if match else Thing("", words)


def _neighbours(cell: Cell) -> Iterator[Cell]:
    return ((cell[0] + dx, cell[1] + dy) for dx, dy in _AHEAD)


class _Player:
    """Everything seen so far, by cell, counted from the starting position."""

    def __init__(self, first: Moment) -> None:
        self.place = Place((0, 0), 0)
        self.things: dict[Cell, Thing] = {}
        self._walls: dict[int, int] = {}
        """By direction, the distance of the wall from the first cell."""
        self._seen: set[Cell] = {(0, 0)}
        self._look(first)

    def take(self, action: str) -> Generator[str, Moment, None]:
        """Take an action and process the observation."""
        moment = yield action
        if action in ("turn left", "turn right") or (
            action == "go forward" and self.is_free(self.place.front)
        ):
            self.place = self.place.after(action)
        self._look(moment)

    def find(self, wanted: Thing) -> Generator[str, Moment, None]:
        """Look around until such a thing has been seen."""
        while not any(thing.is_a(wanted) for thing in self.things.values()):
            action = next(iter(self._way(self._shows_more)), "turn left")
            yield from self.take(action)

    def face(self, wanted: Thing) -> Generator[str, Moment, None]:
        """Stand in front of such a thing."""
        yield from self.find(wanted)
        yield from self.walk(
            lambda place: self.things.get(place.front, wanted._replace(kind="")).is_a(wanted)
        )

    def walk(self, there: Callable[[Place], bool]) -> Generator[str, Moment, None]:
        """Walk until a condition holds; the path is replanned when something new is seen."""
        while not there(self.place):
            yield from self.take(next(iter(self._way(there)), "turn left"))

    def is_free(self, cell: Cell) -> bool:
        """Whether nothing is known to be in the way."""
        return cell not in self.things and self._inside(cell)

    def _inside(self, cell: Cell, walls: int = 0) -> bool:
        """Whether a cell is within the room; with `walls` 1 the room includes its walls."""
        reach = [cell[0] * dx + cell[1] * dy for dx, dy in _AHEAD]
        return all(far < self._walls.get(way, _ROOM) + walls for way, far in enumerate(reach))

    def _shows_more(self, place: Place) -> bool:
        """Whether something new would be seen; doors are in walls."""
        return any(cell not in self._seen and self._inside(cell, walls=1) for cell in _view(place))

    def _way(self, there: Callable[[Place], bool]) -> list[str]:
        """The shortest path to a place that fulfils the condition; nothing if there is none."""
        ways: dict[Place, list[str]] = {self.place: []}
        queue = deque([self.place])
        while queue:
            place = queue.popleft()
            if there(place) and place != self.place:
                return ways[place]
            for action in ("go forward", "turn left", "turn right"):
                after = place.after(action)
                if after not in ways and (action != "go forward" or self.is_free(after.cell)):
                    ways[after] = [*ways[place], action]
                    queue.append(after)
        return []

    def _look(self, moment: Moment) -> None:
        """Add an observation to the map."""
        self._seen.update(_view(self.place))
        for line in moment.long.split("\n"):
            match = _LINE.match(line)
            if match is None:
                continue
            right, ahead = _offset(match[3])
            cell = self.place.seen_at(right, ahead)
            if match[2] == "wall":
                self._wall(cell, right, ahead)
            else:
                self.things[cell] = Thing(match[1] or "", match[2])

    def _wall(self, cell: Cell, right: int, ahead: int) -> None:
        """A wall straight ahead or beside; rooms are rectangles, so it bounds them along its whole length."""
        way = (self.place.way + (0 if ahead else 1 if right > 0 else 3)) % 4
        self._walls[way] = cell[0] * _AHEAD[way][0] + cell[1] * _AHEAD[way][1]


def _view(place: Place) -> Iterator[Cell]:
    return (place.seen_at(right, ahead) for right in range(-_SIDE, _SIDE + 1) for ahead in range(_FAR + 1))


def _offset(words: str) -> Cell:
    """The offset to the right and ahead of `2 steps left and 1 step forward`."""
    right = ahead = 0
    for count, way in re.findall(r"(\d+) steps? (\w+)", words):
        right += int(count) * {"left": -1, "right": 1}.get(way, 0)
        ahead += int(count) if way == "forward" else 0
    return right, ahead
