"""The rooms and corridors of a level, with permanent numbers."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Level

NOTHING, ROOM, CORRIDOR = range(3)
WORDS = ("nothing", "room", "corridor")
_GROUND = t.INDOORS | t.TRAPS | frozenset((t.WATER, t.LAVA, t.AIR, t.CLOUD, t.VIBRATING_SQUARE))


class Merger(NamedTuple):
    """Several numbers that turned out to be one place."""

    numbers: tuple[int, ...]
    number: int


class Rooms:
    """Groups squares to rooms, which grow along the inside of walls, and corridors, which also bend."""

    def __init__(self) -> None:
        """Start with nothing known."""
        self.kinds: list[int] = []
        """The kind of place of each number."""
        self._same: list[int] = []
        self._of = [-1] * t.SIZE
        self._ground: list[int] = [t.UNKNOWN] * t.SIZE
        self._alone: set[int] = set()
        """Squares known only because something is on them; their neighbours will show what they are."""
        self._version = -1

    def number(self, place: int) -> int:
        """The number of the room or corridor of a square; -1 if there is none."""
        return self.root(self._of[place]) if self._of[place] >= 0 else -1

    def root(self, number: int) -> int:
        """The current number of a place, after mergers."""
        while self._same[number] != number:
            number = self._same[number]
        return number

    def known(self, number: int) -> bool:
        """Whether a place has that number."""
        return 0 <= number < len(self.kinds)

    def word(self, number: int) -> str:
        """Format as `room 2` or `corridor 5`."""
        return f"{WORDS[self.kinds[number]]} {number}"

    def squares(self, number: int) -> list[int]:
        """The squares of a place, without its doors."""
        wanted = self.root(number)
        return [place for place, of in enumerate(self._of) if of >= 0 and self.root(of) == wanted]

    def around(self, place: int) -> list[int]:
        """The numbers of all places of a square: a door belongs to those on both sides."""
        own = self.number(place)
        if own >= 0 or self._ground[place] not in t.DOORS:
            return [own] if own >= 0 else []
        return sorted({self.number(near) for near in t.BESIDE[place]} - {-1})

    def see(self, level: Level) -> tuple[list[int], list[Merger]]:
        """Process the ground of a level; return new numbers, and those that were merged."""
        if level.version == self._version:
            return [], []
        self._version = level.version
        pairs = enumerate(zip(level.terrain, self._ground, strict=True))
        changed = [place for place, (now, before) in pairs if now != before]
        self._ground = list(level.terrain)
        fresh = {place: self._kind(place) for place in {*changed, *self._alone}}
        self._alone = {place for place, kind in fresh.items() if kind == NOTHING and self._is_alone(place)}
        if any(self._of[place] >= 0 and self._changed(place, kind) for place, kind in fresh.items()):
            return self._rebuild(), []
        return self._add([place for place in sorted(fresh) if fresh[place] and self._of[place] < 0], fresh)

    def _changed(self, place: int, kind: int) -> bool:
        return self.kinds[self._of[place]] != kind

    def _kind(self, place: int) -> int:
        code = self._ground[place]
        if code in t.CORRIDORS:
            return CORRIDOR
        if code not in _GROUND:
            return NOTHING
        if code != t.FLOOR:
            return ROOM
        around = [self._ground[near] for near in t.NEAR[place]]
        if any(code in _GROUND for code in around):
            return ROOM
        if any(code in t.CORRIDORS for code in around):
            return CORRIDOR
        return NOTHING if self._is_alone(place) else ROOM

    def _is_alone(self, place: int) -> bool:
        return self._ground[place] == t.FLOOR and all(
            self._ground[near] == t.UNKNOWN for near in t.NEAR[place]
        )

    def _add(self, places: Sequence[int], kinds: dict[int, int]) -> tuple[list[int], list[Merger]]:
        new: list[int] = []
        mergers: list[Merger] = []
        for place in places:
            if self._of[place] >= 0:
                continue
            kind = kinds[place]
            group, touched = self._group(place, kind, kinds)
            numbers = sorted(touched)
            number = numbers[0] if numbers else self._new(kind)
            if not numbers:
                new.append(number)
            for other in numbers[1:]:
                self._same[other] = number
            if len(numbers) > 1:
                mergers.append(Merger(tuple(numbers), number))
            for member in group:
                self._of[member] = number
        return new, mergers

    def _group(self, start: int, kind: int, kinds: dict[int, int]) -> tuple[set[int], set[int]]:
        """The new squares connected to one, and the numbers of adjacent places."""
        group, edge, touched = {start}, [start], set[int]()
        while edge:
            for near in _joined(edge.pop(), kind):
                if self._of[near] >= 0:
                    if self.kinds[self._of[near]] == kind:
                        touched.add(self.root(self._of[near]))
                elif near not in group and kinds.get(near) == kind:
                    group.add(near)
                    edge.append(near)
        return group, touched

    def _new(self, kind: int) -> int:
        self.kinds.append(kind)
        self._same.append(len(self._same))
        return len(self.kinds) - 1

    def _rebuild(self) -> list[int]:
        """Regroup all squares, since some have changed; numbers are kept if possible."""
        known = len(self.kinds)
        before = [self.root(of) if of >= 0 else -1 for of in self._of]
        kinds = {place: kind for place in range(t.SIZE) if (kind := self._kind(place))}
        self._of, used = [-1] * t.SIZE, set[int]()
        for place, kind in kinds.items():
            if self._of[place] >= 0:
                continue
            group, _ = self._group(place, kind, kinds)
            old = {before[member] for member in group} - used - {-1}
            fitting = [number for number in old if self.kinds[number] == kind]
            number = min(fitting) if fitting else self._new(kind)
            used.add(number)
            for member in group:
                self._of[member] = number
        return list(range(known, len(self.kinds)))


def _joined(place: int, kind: int) -> Iterable[int]:
    return t.NEAR[place] if kind == CORRIDOR else t.BESIDE[place]
