"""Shortest paths over a level."""

from collections.abc import Callable, Collection

from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.terrain import SIZE


class Ways:
    """Distances and paths from one square."""

    def __init__(self, level: Level, start: int, blocked: Collection[int] = ()) -> None:
        """Every step costs the same; no path crosses a blocked square."""
        self.start = start
        self.steps, self._before = _spread(level, start, blocked)
        """Steps to each square, -1 if unreachable."""

    def to(self, place: int) -> list[int]:
        """The squares of the path to a square, without the start; empty if there is none."""
        way = []
        while self.steps[place] > 0:
            way.append(place)
            place = self._before[place]
        return way[::-1]

    def nearest(self, places: Collection[int]) -> int | None:
        """The square with the shortest path."""
        reached = [place for place in places if self.steps[place] >= 0]
        return min(reached, key=self.steps.__getitem__, default=None)


def _spread(level: Level, start: int, blocked: Collection[int]) -> tuple[list[int], list[int]]:
    far, before = [-1] * SIZE, [-1] * SIZE
    for place in blocked:
        far[place] = -2
    far[start] = 0
    edge = [start]
    steps = 0
    while edge:
        steps += 1
        beyond = []
        for place in edge:
            for near in level.steps(place):
                if far[near] == -1:
                    far[near], before[near] = steps, place
                    beyond.append(near)
        edge = beyond
    return far, before


def first(
    level: Level, start: int, wanted: Callable[[int], bool], blocked: Collection[int] = ()
) -> list[int] | None:
    """The shortest path to a wanted square other than the start; None if none is reachable."""
    before = {start: start, **dict.fromkeys(blocked, -1)}
    edge = [start]
    while edge:
        beyond = []
        for place in edge:
            for near in level.steps(place):
                if near not in before:
                    before[near] = place
                    if wanted(near):
                        return _way(before, start, near)
                    beyond.append(near)
        edge = beyond
    return None


def _way(before: dict[int, int], start: int, place: int) -> list[int]:
    way = []
    while place != start:
        way.append(place)
        place = before[place]
    return way[::-1]
