"""Search for a solution of a Sokoban level with few boxes."""

import heapq
from collections.abc import Iterator
from functools import cached_property
from itertools import count, permutations
from typing import NamedTuple, TypeAlias

Boxes: TypeAlias = frozenset[int]

MOST_STATES = 400_000
"""States after which a search is given up: some 20 seconds and 300 MB."""
_WEIGHT = 2
"""Weight of the estimate: solutions are found sooner, and may be longer than the shortest."""
_BLOCKED = 1 << 20


class Push(NamedTuple):
    """A box pushed: from where the player stands, and in which direction."""

    stand: int
    move: int


class Level:
    """Floor and goals of a level; squares are numbers, and moves are differences between them."""

    def __init__(self, floor: frozenset[int], goals: frozenset[int], moves: tuple[int, ...]) -> None:
        self.floor, self.goals, self.moves = floor, goals, moves

    @cached_property
    def pushes(self) -> dict[int, dict[int, int]]:
        """By goal and square: how many pushes bring a single box there; squares without a way are missing."""
        return {goal: self._pulled_from(goal) for goal in self.goals}

    def _pulled_from(self, goal: int) -> dict[int, int]:
        far, edge = {goal: 0}, [goal]
        for place in edge:
            for move in self.moves:
                before, stand = place - move, place - 2 * move
                if before not in far and before in self.floor and stand in self.floor:
                    far[before] = far[place] + 1
                    edge.append(before)
        return far

    def estimate(self, boxes: Boxes) -> int:
        """Lower bound of the pushes that are left; `_BLOCKED` or more if a box cannot reach a goal."""
        order = tuple(boxes)
        rows = [[self.pushes[goal].get(box, _BLOCKED) for goal in self.goals] for box in order]
        if len(order) > 5:  # permutations would be too many
            return sum(min(row) for row in rows)
        columns = permutations(range(len(self.goals)), len(order))
        return min(sum(row[at] for row, at in zip(rows, chosen, strict=True)) for chosen in columns)

    def walks(self, start: int, boxes: Boxes) -> dict[int, int]:
        """Steps to every square that can be reached without a push."""
        far, edge = {start: 0}, [start]
        for place in edge:
            for move in self.moves:
                near = place + move
                if near not in far and near in self.floor and near not in boxes:
                    far[near] = far[place] + 1
                    edge.append(near)
        return far

    def way(self, start: int, end: int, boxes: Boxes) -> list[int]:
        """The moves of a shortest walk."""
        far = self.walks(end, boxes)
        moves = []
        while start != end:
            move = next(move for move in self.moves if far.get(start + move, -1) == far[start] - 1)
            moves.append(move)
            start += move
        return moves

    def stuck(self, box: int, boxes: Boxes) -> bool:
        """Whether a box stands in a full square of four boxes and walls, not all of them on goals."""
        for across, down in ((self.moves[0], self.moves[2]), (self.moves[0], self.moves[3])):
            for back in (0, across):
                corner = box - back
                four = (corner, corner + across, corner + down, corner + across + down)
                full = all(place not in self.floor or place in boxes for place in four)
                if full and any(place in boxes and place not in self.goals for place in four):
                    return True
        return False


class _State(NamedTuple):
    player: int
    boxes: Boxes


def solve(level: Level, player: int, boxes: Boxes, most: int = MOST_STATES) -> list[int] | None:
    """Return the moves of a solution, or None if none was found; weighted A* over walks and pushes."""
    start, order = _State(player, boxes), count()
    cost = {start: 0}
    came: dict[_State, tuple[_State, Push]] = {}
    queue = [(0, next(order), start)]
    estimates: dict[Boxes, int] = {}
    closed = set[_State]()
    while queue and len(cost) <= most:
        _, _, state = heapq.heappop(queue)
        if state in closed:
            continue
        closed.add(state)
        if state.boxes <= level.goals:
            return _moves(level, came, state)
        for push, steps, after in _pushed(level, state):
            so_far = cost[state] + steps
            if so_far >= cost.get(after, so_far + 1):
                continue
            if after.boxes not in estimates:
                estimates[after.boxes] = level.estimate(after.boxes)
            left = estimates[after.boxes]
            if left < _BLOCKED:
                cost[after], came[after] = so_far, (state, push)
                heapq.heappush(queue, (so_far + _WEIGHT * left, next(order), after))
    return None


def _pushed(level: Level, state: _State) -> Iterator[tuple[Push, int, _State]]:
    """Every push that is possible now: the push, the steps that it takes, and what follows."""
    walks = level.walks(state.player, state.boxes)
    for box in state.boxes:
        for move in level.moves:
            stand, target = box - move, box + move
            if stand not in walks or target not in level.floor or target in state.boxes:
                continue
            boxes = state.boxes - {box} | {target}
            if not level.stuck(target, boxes):
                yield Push(stand, move), walks[stand] + 1, _State(box, boxes)


def _moves(level: Level, came: dict[_State, tuple[_State, Push]], state: _State) -> list[int]:
    """The moves from the start to a state."""
    moves: list[int] = []
    while state in came:
        before, push = came[state]
        moves = [*level.way(before.player, push.stand, before.boxes), push.move, *moves]
        state = before
    return moves
