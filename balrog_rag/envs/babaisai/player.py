"""A player of Baba Is AI without a model: it parses the board from the text and searches for a way to win."""

import re
from collections import deque
from collections.abc import Collection, Generator, Iterator
from heapq import heappop, heappush
from itertools import count

from balrog_rag.envs.babaisai.simulation import DIRECTIONS, Board, Cell, Tile
from balrog_rag.envs.small_engine import Moment

_MOST_BOARDS = 1000
_GREED = 4
_NEW_LEVEL = "["
_FAR, _UNNAMED, _SHUT = 40, 10, 8
"""Search costs: of a rule that cannot be made, of a goal without a name, and of one out of reach."""
_LINE = re.compile(r"^(rule `(\w+)`|\w+) (.*)$")
_WAYS: dict[str, Cell] = {"to the right": (1, 0), "to the left": (-1, 0), "up": (0, -1), "down": (0, 1)}


def play(goal: str, first: Moment) -> Generator[str, Moment, None]:
    """Search for a way to win and follow it; search again if the board is not as expected."""
    moment = first
    while moves := solve(read_board(moment.long)):
        for move in moves:
            moment = yield move
            if moment.long.startswith(_NEW_LEVEL):
                break
    while True:
        yield "idle"


def read_board(text: str) -> Board:
    """Parse the board from its description.

    The border is not described. The blocks that name the player and the goal lie at it when a level begins,
    and so does the wall between two rooms; a board without a wall is a square.
    """
    rules, _, things = text.rpartition("Active rules:\n")[2].partition("\n\nObjects on the map:\n")
    you = next((line.split()[0] for line in rules.split("\n") if line.endswith(" is you")), "baba")
    seen = [((0, 0), Tile(you)), *_lines(things)]
    left, top = (min(cell[axis] for cell, _ in seen) for axis in (0, 1))
    right, bottom = (max(cell[axis] for cell, _ in seen) for axis in (0, 1))
    walled = any(tile == Tile("wall") for _, tile in seen)
    height = bottom - top + 3
    board = Board(right - left + 3 if walled else height, height)
    for cell, tile in seen:
        board.put((cell[0] - left + 1, cell[1] - top + 1), tile)
    board.read()
    return board


def _lines(text: str) -> Iterator[tuple[Cell, Tile]]:
    for line in text.split("\n"):
        match = _LINE.match(line)
        if match is not None:
            steps = [
                (int(number) * _WAYS[way][0], int(number) * _WAYS[way][1])
                for number, way in re.findall(r"(\d+) steps? (to the right|to the left|up|down)", match[3])
            ]
            cell = (sum(x for x, _ in steps), sum(y for _, y in steps))
            yield cell, Tile(match[2] or match[1], block=bool(match[2]))


def solve(board: Board) -> list[str]:
    """Return moves that win, or that came closest in a bounded search.

    Boards are distinguished by the positions of blocks and the cells that the player can reach. A push makes
    a new board; boards nearest to a helpful rule are tried first.
    """
    order = count()
    heap = [(0, next(order), board, list[str]())]
    known: set[object] = set()
    best: tuple[int, list[str]] = (_FAR * _FAR, [])
    while heap and len(known) < _MOST_BOARDS:
        _, _, here, moves = heappop(heap)
        walks = _walks(here)
        won = next((walk for cell, walk in walks.items() if _is_goal(here, cell)), None)
        if won is not None:
            return moves + won
        state = (here.blocks(), here.which("you"), min(walks, default=None))
        if state in known:
            continue
        known.add(state)
        left = _still_to_do(here, walks)
        best = min(best, (left, moves), key=lambda found: found[0])
        for after, more in _pushes(here, walks):
            guess = len(moves) + len(more) + _GREED * _still_to_do(after, _walks(after))
            heappush(heap, (guess, next(order), after, moves + more))
    return best[1]


def _player(board: Board) -> tuple[Cell, Tile] | None:
    return next(board.things(board.which("you")), None)


def _walks(board: Board) -> dict[Cell, list[str]]:
    """The ways to all reachable cells."""
    player = _player(board)
    if player is None:
        return {}
    walks: dict[Cell, list[str]] = {player[0]: []}
    queue = deque([player[0]])
    while queue:
        cell = queue.popleft()
        for direction, (dx, dy) in DIRECTIONS.items():
            ahead = (cell[0] + dx, cell[1] + dy)
            if ahead not in walks and board.may_enter(ahead):
                walks[ahead] = [*walks[cell], direction]
                queue.append(ahead)
    return walks


def _is_goal(board: Board, cell: Cell) -> bool:
    """Whether stepping onto a cell wins; the player's own cell does not count."""
    player = _player(board)
    win = board.which("win")
    return (
        player is not None
        and cell != player[0]
        and any(not tile.block and tile.word in win for tile in board.at(cell))
    )


def _pushes(board: Board, walks: dict[Cell, list[str]]) -> Iterator[tuple[Board, list[str]]]:
    """Every board after one push, with the moves to it."""
    player = _player(board)
    for cell, walk in walks.items() if player else ():
        for direction, (dx, dy) in DIRECTIONS.items():
            ahead = (cell[0] + dx, cell[1] + dy)
            if not any(tile.block for tile in board.at(ahead)) or player is None:
                continue
            after = board.copy()
            after.take(*player)
            after.put(cell, player[1])
            after.move(direction)
            if after.blocks() != board.blocks() and _player(after) is not None:
                yield after, [*walk, direction]


def _still_to_do(board: Board, walks: dict[Cell, list[str]]) -> int:
    """About how many pushes are missing: a goal must be named and reachable."""
    present = {tile.word for _, tile in board.things({"wall", "ball", "key", "door", "baba"})}
    goals = board.which("win") & present
    if goals:
        if any(cell in walks for cell, _ in board.things(goals)):
            return 0
        return min(1 + _to_name(board, "you", present - board.which("you"))[0], _SHUT)
    pushes, block = _to_name(board, "win", present)
    x, y = block
    near = any((x + dx, y + dy) in walks for dx, dy in DIRECTIONS.values())
    if near:
        return _UNNAMED + pushes
    return _UNNAMED + pushes + min(1 + _to_name(board, "you", present - board.which("you"))[0], _SHUT)


def _to_name(board: Board, what: str, nouns: Collection[str]) -> tuple[int, Cell]:
    """The distance of the nearest suitable noun from where it would complete the rule, and its position."""
    blocks = board.blocks()
    words = dict(blocks)
    ends = [(x - 2, y) for (x, y), word in blocks if word == what and words.get((x - 1, y)) == "is"]
    ways = [
        (abs(x - ex) + abs(y - ey), (x, y)) for (x, y), word in blocks if word in nouns for ex, ey in ends
    ]
    return min(ways, default=(_FAR, (0, 0)))
