"""Boxoban levels in the published format: walls drawn at random, boxes pulled away from their goals."""

from random import Random

from balrog_rag.bots.nethack.minihacker.sokoban import Level

WIDTH = 10
MOVES = (1, -1, WIDTH, -WIDTH)
BOXES, LEAST_FLOOR = 4, 25


def level(seed: int, pulls: int = 60) -> str:
    """A level that has a solution, as text: `#` walls, `$` boxes, `.` goals, `@` the player."""
    random = Random(seed)
    while True:
        floor = _floor(random)
        goals = frozenset(random.sample(sorted(floor), BOXES))
        player = random.choice(sorted(floor - goals))
        boxes, player = _pulled(random, Level(floor, goals, MOVES), player, pulls)
        if not boxes & goals and player not in goals and len(floor) >= LEAST_FLOOR:
            return _text(floor, goals, boxes, player)


def read(text: str) -> tuple[Level, int, frozenset[int]]:
    """The level, the player's square and the boxes of a level as text."""
    squares = {y * WIDTH + x: sign for y, row in enumerate(text.splitlines()) for x, sign in enumerate(row)}
    places = {sign: frozenset(place for place in squares if squares[place] == sign) for sign in "#$.@"}
    floor = frozenset(squares) - places["#"]
    return Level(floor, places["."], MOVES), min(places["@"]), places["$"]


def _floor(random: Random) -> frozenset[int]:
    floor = {y * WIDTH + x for y in range(1, WIDTH - 1) for x in range(1, WIDTH - 1)}
    for _ in range(random.randint(4, 7)):
        x, y = random.randint(1, WIDTH - 2), random.randint(1, WIDTH - 2)
        wide, high = random.randint(1, 3), random.randint(1, 2)
        floor -= {(y + down) * WIDTH + x + across for across in range(wide) for down in range(high)}
    return frozenset(floor)


def _pulled(random: Random, ground: Level, player: int, pulls: int) -> tuple[frozenset[int], int]:
    boxes = ground.goals
    for _ in range(pulls):
        near = ground.walks(player, boxes)
        possible = [
            (box, move)
            for box in sorted(boxes)
            for move in MOVES
            if box - move in near and box - 2 * move in near
        ]
        if not possible:
            break
        box, move = random.choice(possible)
        boxes, player = boxes - {box} | {box - move}, box - 2 * move
    return boxes, player


def _text(floor: frozenset[int], goals: frozenset[int], boxes: frozenset[int], player: int) -> str:
    signs = dict.fromkeys(floor, " ") | dict.fromkeys(goals, ".") | dict.fromkeys(boxes, "$") | {player: "@"}
    rows = ("".join(signs.get(y * WIDTH + x, "#") for x in range(WIDTH)) for y in range(WIDTH))
    return "\n".join(rows) + "\n"
