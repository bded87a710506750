"""Skills for rare places: the next push of a Sokoban level, ways over water, and what is remembered."""

from collections.abc import Iterator

from balrog_rag.bots.nethack.minihacker import cold
from balrog_rag.bots.nethack.minihacker.hero import Hero
from balrog_rag.bots.nethack.minihacker.sokoban import Level as BoxLevel
from balrog_rag.bots.nethack.minihacker.sokoban import solve
from balrog_rag.bots.nethack.plan.plan_game import PlanGame
from balrog_rag.bots.nethack.plan.sokoban_solutions import SokobanStep, next_steps
from balrog_rag.bots.nethack.skills import magic
from balrog_rag.contracts.programs import ProgramFailed
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import Item
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.level_memory import level_line
from balrog_rag.envs.nethack.world.player import Keys, Player, Skill
from balrog_rag.util.wording import many

_STRAIGHT = (1, -1, t.WIDTH, -t.WIDTH)
_MOST_STATES = 60_000
"""States of a search: about 3 seconds of processor, once per level."""
_HOLES = (t.PIT, t.SPIKED_PIT, t.HOLE, t.TRAP_DOOR)
_PUSHES = "pushes"
_FROZEN = 12
"""Efforts to freeze a way."""


def sokoban_step(game: PlanGame) -> Skill:
    """Push one boulder: as a known solution of the level does next, onto fountains, or into a hole."""
    player, level = game.player, game.level
    if not level.boulders:
        raise ProgramFailed("no boulder is known on this level")
    for step in next_steps(_boulders(player), frozenset(level.spots(_HOLES))):
        if _way(player, step.boulder - step.moves[0]) is not None:
            yield from _follow(player, step)
            left = many(len(level.spots(_HOLES)), "holes")
            return f"pushed a boulder as a known solution does; open: {left}"
    return (yield from _searched(game))


def _follow(player: Player, step: SokobanStep) -> Keys:
    """Walk behind the boulder and push it, around its corners, for as long as it moves."""
    boulder = step.boulder
    for move in step.moves:
        way = _way(player, boulder - move)
        if way is None:
            raise ProgramFailed("there is no way to the boulder that has to be pushed next")
        for walk in (*way, move):
            yield from _moved(player, walk)
        boulder += move


def _way(player: Player, end: int) -> list[int] | None:
    """The moves that lead there without a push, not over holes and not aslant; None if none do."""
    boulders = _boulders(player)
    floor = (_floor(player.level) | {player.here}).difference(player.level.spots(_HOLES))
    ways = BoxLevel(floor, frozenset(), _STRAIGHT)
    return ways.way(player.here, end, boulders) if end in ways.walks(player.here, boulders) else None


def _boulders(player: Player) -> frozenset[int]:
    """The boulders of the level; what was under the hero is seen when the hero leaves."""
    return frozenset(player.level.boulders) - {player.here}


def _moved(player: Player, move: int) -> Keys:
    place = player.here
    yield from player.command(t.heading(place, place + move))
    if player.here != place + move:
        raise ProgramFailed(f"the way is blocked: {' '.join(player.heard)[-80:]}")


def _searched(game: PlanGame) -> Skill:
    """Make the next push of a solution that a search finds."""
    player, level = game.player, game.level
    state = (level.place, player.here, frozenset(level.boulders))
    planned: dict[object, list[int]] = game.kept.setdefault(_PUSHES, {})
    goals = _goals(game)
    if not goals and not level.spots(_HOLES):
        raise ProgramFailed("no hole or fountain is known on this level")
    moves = planned.pop(state, None) or _solution(player, goals)
    if not moves:
        raise ProgramFailed("no solution was found from here; explore what is unseen first")
    pushed = 0
    for number, move in enumerate(moves):
        pushes = player.here + move in level.boulders
        yield from _moved(player, move)
        pushed += pushes
        after = moves[number + 1 :]
        if pushes and after:
            planned.clear()
            planned[level.place, player.here, frozenset(level.boulders)] = after
        if pushes:
            break
    left = len(moves) - number - 1
    return f"pushed; {left} moves are left" if left else "pushed; this was the last move"


def _floor(level: Level) -> frozenset[int]:
    """The squares that can be walked on."""
    return frozenset(at for at in range(t.SIZE) if t.CAREFUL[level.terrain[at]])


def _goals(game: PlanGame) -> frozenset[int]:
    """The fountains of the level, also those on which boulders stand by now."""
    seen: set[int] = game.kept.setdefault(f"fountains {game.level.place}", set())
    seen.update(game.level.spots((t.FOUNTAIN,)))
    return frozenset(seen)


def _solution(player: Player, goals: frozenset[int]) -> list[int] | None:
    """The moves that solve a level whose goals are fountains, or that bring one boulder into a hole."""
    ground = player.level
    floor = _floor(ground)
    boulders = frozenset(ground.boulders)
    if goals and len(boulders) <= len(goals):
        return solve(BoxLevel(floor, goals, _STRAIGHT), player.here, boulders, _MOST_STATES)
    holes = ground.spots(_HOLES)
    found = list(_single(player.here, floor, boulders, holes))
    return min(found, key=len) if found else None


def _single(
    here: int, floor: frozenset[int], boulders: frozenset[int], holes: list[int]
) -> Iterator[list[int]]:
    """For each boulder the moves that bring it into a hole while the others stay."""
    for boulder in sorted(boulders):
        free = floor - (boulders - {boulder})
        for hole in holes:
            level = BoxLevel(free | {hole}, frozenset((hole,)), _STRAIGHT)
            if boulder in level.pushes[hole]:
                moves = solve(level, here, frozenset((boulder,)), _MOST_STATES)
                if moves:
                    yield moves


def cross_water(game: PlanGame) -> Skill:
    """Freeze water or lava with a wand of cold or a frost horn, or push a boulder into it."""
    player, level = game.player, game.level
    wet = set(level.spots((t.POOL, t.LAVA, t.WATER)))
    if not wet:
        raise ProgramFailed("no water or lava is known on this level")
    hero = Hero(player, range(256))
    hero.empty |= {item.letter for item in player.world.items if not _freezes(player, item)}
    tools = cold.instruments(hero)
    if not tools:
        moves = _fill(player, wet)
        if moves is None:
            raise ProgramFailed(
                "no wand of cold or frost horn is carried, and no boulder can be pushed into the water"
            )
        for move in moves:
            here = player.here
            yield from player.command(t.heading(here, here + move))
            if player.here not in (here, here + move):
                break
        return f"pushed a boulder: {' '.join(player.heard)[-80:]}"
    for _ in range(_FROZEN):
        if not (yield from cold.cross_lava(hero)) or set(level.spots((t.ICE,))):
            break
    if not level.spots((t.ICE,)):
        raise ProgramFailed(f"nothing froze: {' '.join(player.heard)[-80:]}")
    return "a way is frozen; move_to or explore_level leads over the ice"


def _freezes(player: Player, item: Item) -> bool:
    """Whether an item is known to send a ray of cold."""
    return magic.kind_of_wand(player, item) == "cold" or "frost horn" in item.name


def _fill(player: Player, wet: set[int]) -> list[int] | None:
    """The moves that push a boulder into the nearest water."""
    ground = player.level
    floor = _floor(ground)
    shore = [at for at in wet if any(near in floor for near in t.NEAR[at])]
    found = list(_single(player.here, floor, frozenset(ground.boulders), shore)) if ground.boulders else []
    return min(found, key=len) if found else None


def recall(game: PlanGame, level: int | None = None) -> Skill:
    """Say all that is remembered of a level; takes no time."""
    yield from ()
    world = game.player.world
    wanted = world.body.depth if level is None else level
    lines = [level_line(world, each, most=40) for each in world.levels.values() if each.depth == wanted]
    if not lines:
        known = sorted({each.depth for each in world.levels.values() if each.depth})
        raise ProgramFailed(f"Dlvl {wanted} is not known; you know Dlvl {', '.join(map(str, known))}")
    return " ".join(lines).removesuffix(".")
