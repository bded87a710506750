"""The remembered map of one level."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import terrain as t

BOULDER = "boulder"
_THINGS = (k.OBJECT, k.CORPSE, k.STATUE)


class Place(NamedTuple):
    """A level of the dungeon: the number of its branch, and its number within it."""

    branch: int
    level: int


class Level:
    """The map of one level as far as it was seen.

    If only an object or a monster was seen on a square, its ground is assumed to be floor, and that is
    forgotten when the monster has left unseen.
    """

    def __init__(self, place: Place) -> None:
        """Start with nothing known."""
        self.place = place
        self.terrain = [t.UNKNOWN] * t.SIZE
        self.objects: dict[int, int] = {}
        """Glyphs of the topmost objects, by square."""
        self.boulders: set[int] = set()
        self.fresh: dict[int, int] = {}
        """When a monster was seen to die where a corpse of its kind lies, by square."""
        self.left: dict[int, list[int]] = {}
        """The species that were seen on a square before a thing lay there: they may have died."""
        self.visited = bytearray(t.SIZE)
        self.searched = [0] * t.SIZE
        self.links: dict[int, Place] = {}
        """The known destination of stairs, by square."""
        self.forbidden: set[int] = set()
        """Squares that no path may cross."""
        self.shop: set[int] = set()
        """Squares known to be in a shop."""
        self.watched = False
        """Whether watchmen were seen, who punish violence and broken doors."""
        self.wet = False
        """Whether water or lava was seen."""
        self.daring = False
        """Whether paths may cross traps."""
        self.pushing = False
        """Whether paths may push boulders."""
        self.version = 0
        """Increases with every change that may open or close a path."""
        self.arrived = 0
        self.depth = 0
        """Levels below the surface, counted as in the bottom lines."""
        self.pet: int | None = None
        """When a pet was last seen here."""
        self.dug: int | None = None
        """When somebody was last heard to dig here."""
        self._felt: set[int] = set()
        """Visited squares from which nothing was seen, since we were blind."""
        self._assumed: set[int] = set()
        """Squares whose ground was never seen."""
        self._refused: set[tuple[int, int]] = set()
        self._steps: list[tuple[int, ...] | None] = [None] * t.SIZE
        self._shown: NDArray[Any] = np.full(t.SIZE, k.kinds().shows.index(k.EFFECT), np.int16)

    def see(self, glyphs: NDArray[Any], turn: int) -> bool:
        """Process the map of this turn; return whether anything changed."""
        changed = np.flatnonzero(glyphs != self._shown)
        if not len(changed):
            return False
        table = k.kinds()
        for place, glyph in zip(changed.tolist(), glyphs[changed].tolist(), strict=True):
            lay = self.objects.get(place) == glyph  # and a monster stood on it
            self._see(place, glyph, table.shows[glyph], table)
            if table.shows[glyph] in _THINGS and not lay:
                self._note_who_stood(place, glyph, turn, table)
        self._shown[:] = glyphs
        return True

    def _note_who_stood(self, place: int, thing: int, turn: int, table: k.Kinds) -> None:
        before = int(self._shown[place])
        if table.shows[before] not in (k.MONSTER, k.PET):
            return
        self.left.setdefault(place, []).append(table.species[before])
        if table.shows[thing] == k.CORPSE and table.species[before] == table.species[thing]:
            self.fresh[place] = turn

    def _see(self, place: int, glyph: int, shows: int, table: k.Kinds) -> None:
        if shows == k.TERRAIN:
            self.objects.pop(place, None)
            if place in self.boulders:
                self.boulders.discard(place)
                self.changed(place)
            code = table.terrain[glyph]
            if code:  # a square out of sight may look like stone
                self.set_terrain(place, code)
            elif place in self._assumed and not self.visited[place]:
                self.set_terrain(place, t.UNKNOWN)
            self._assumed.discard(place)
            return
        if shows in (k.EFFECT, k.SWALLOWED):
            return
        if self.terrain[place] == t.UNKNOWN:
            self._assumed.add(place)
            self.set_terrain(place, t.FLOOR)
        if shows in _THINGS:
            self._lay(place, glyph, table)

    def _lay(self, place: int, glyph: int, table: k.Kinds) -> None:
        self.objects[place] = glyph
        boulder = table.name[glyph] == BOULDER
        if boulder != (place in self.boulders):
            self.boulders.symmetric_difference_update((place,))
            self.changed(place)
        if self.terrain[place] in t.WALLS:  # dug through since it was last seen
            self.set_terrain(place, t.FLOOR)
        elif self.terrain[place] in t.CLOSED_DOORS:  # nothing lies in a closed door, so it is broken
            self.set_terrain(place, t.DOORWAY)

    def visit(self, place: int, blind: bool) -> None:
        """Remember that we stood on a square; what was visited blind counts only until we see again."""
        if blind and not self.visited[place]:
            self._felt.add(place)
        elif not blind and self._felt:
            for unseen in self._felt:
                self.visited[unseen] = 0
            self._felt.clear()
        self.visited[place] = 1

    def set_terrain(self, place: int, code: int) -> None:
        """Remember the ground of a square."""
        if self.terrain[place] != code:
            self.terrain[place] = code
            self.wet |= code in t.WET
            self.changed(place)

    def changed(self, place: int) -> None:
        """Note that paths over a square may have opened or closed."""
        self.version += 1
        self._steps[place] = None
        for near in t.NEAR[place]:
            self._steps[near] = None

    def dare(self, daring: bool = True) -> None:
        """Allow or forbid paths over traps."""
        if self.daring != daring:
            self.daring = daring
            self._forget_steps()

    def push(self) -> None:
        """Allow paths that push boulders from now on."""
        if not self.pushing:
            self.pushing = True
            self._forget_steps()

    def forbid(self, places: Iterable[int]) -> None:
        """Forbid paths over these squares."""
        new = set(places) - self.forbidden
        if new:
            self.forbidden |= new
            self._forget_steps()

    def allow(self, places: Iterable[int]) -> None:
        """Allow paths over these squares again."""
        self.forbidden -= set(places)
        self._forget_steps()

    def refuse(self, start: int, end: int) -> None:
        """Remember that the game rejected the step from one square to the other."""
        self._refused.add((start, end))
        self.changed(start)

    def forgive(self) -> None:
        """Forget rejected steps and doors that did not open: the cause may be gone."""
        self._refused.clear()
        self.forbidden &= self.shop
        self._forget_steps()

    def refused(self, start: int, end: int) -> bool:
        """Whether the game rejected this step."""
        return (start, end) in self._refused

    def steps(self, place: int) -> tuple[int, ...]:
        """The squares that can be entered from this one."""
        found = self._steps[place]
        if found is None:
            found = self._steps[place] = tuple(self._open_steps(place))
        return found

    def _open_steps(self, place: int) -> Iterable[int]:
        ground, passage = self.terrain, t.DARING if self.daring else t.CAREFUL
        straight = ground[place] in t.STRAIGHT
        for near, diagonal in t.AROUND[place]:
            code = ground[near]
            if not passage[code] or (diagonal and (straight or code in t.STRAIGHT)):
                continue
            if near in self.forbidden or (place, near) in self._refused:
                continue
            if near in self.boulders and not (self.pushing and self._movable(place, near)):
                continue
            yield near

    def _movable(self, place: int, boulder: int) -> bool:
        """Whether a boulder next to this square might be pushed from it."""
        beyond = 2 * boulder - place
        if not 0 <= beyond < t.SIZE or t.distance(boulder, beyond) != 1 or beyond in self.boulders:
            return False
        return self.terrain[beyond] not in t.WALLS

    def room(self, place: int) -> set[int]:
        """The squares of the room of a square, without its doors."""
        found, edge = {place}, [place]
        while edge:
            for near in t.NEAR[edge.pop()]:
                if near not in found and self.terrain[near] in t.INDOORS:
                    found.add(near)
                    edge.append(near)
        return found

    def _forget_steps(self) -> None:
        self.version += 1
        self._steps = [None] * t.SIZE

    def note_search(self, place: int, turns: int) -> None:
        """Remember that one searched from a square, or that it is as good as searched."""
        for near in t.NEAR[place]:
            self.searched[near] += turns

    def unknown_near(self, place: int) -> int:
        """The number of unseen squares around this one."""
        ground = self.terrain
        return sum(ground[near] == t.UNKNOWN for near in t.NEAR[place])

    def is_frontier(self, place: int) -> bool:
        """Whether something new may be seen from a square that we never visited."""
        return not self.visited[place] and self.unknown_near(place) > 0

    def spots(self, codes: Iterable[int]) -> list[int]:
        """The squares with such ground."""
        found = []
        for code in codes:
            place = -1
            for _ in range(self.terrain.count(code)):
                place = self.terrain.index(code, place + 1)
                found.append(place)
        return sorted(found)
