"""Skills that go somewhere: explore, to a feature or a remembered place, up and down, to hidden passages."""

from collections.abc import Collection

from balrog_rag.bots.nethack.netplay.walking import move_to as walk_to
from balrog_rag.bots.nethack.netplay.walking import square
from balrog_rag.bots.nethack.plan.plan_game import PlanGame, monster_words
from balrog_rag.bots.nethack.skills import digging, exploring, fighting, gear, moving, stairs
from balrog_rag.contracts.programs import ProgramFailed
from balrog_rag.envs.nethack.world import routes
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Level, Place
from balrog_rag.envs.nethack.world.names import position
from balrog_rag.envs.nethack.world.player import Player, Skill
from balrog_rag.envs.nethack.world.refusals import Act, Refusal

FEATURE_WORDS = {
    "stairs_down": t.DOWN,
    "stairs_up": t.UP,
    "altar": (t.ALTAR,),
    "fountain": (t.FOUNTAIN,),
    "sink": (t.SINK,),
    "throne": (t.THRONE,),
    "grave": (t.GRAVE,),
    "door": tuple(t.CLOSED_DOORS),
    "trap_door": (t.TRAP_DOOR, t.HOLE),
}
"""Features by the words that go_to takes, with their ground."""
PLACES = (*FEATURE_WORDS, "shop", "item")
_VAIN = 4
"""Efforts without game time after which a skill gives up."""
_HOPS = 60
_SOKOBAN, _PUZZLE = 4, 4
"""The number of Sokoban's branch, and boulders from which a level may be a puzzle; there none is pushed."""
_HOLES = (t.TRAP_DOOR, t.HOLE)


def explore_level(game: PlanGame) -> Skill:
    """See all of the level that can be seen; where no way down is known, search for hidden passages."""
    player, level, vain = game.player, game.level, 0
    while player.level is level:
        turn = player.body.turn
        told = yield from exploring.explore(player)
        if told == exploring.EXPLORED:
            if level.spots(t.DOWN):
                return f"{exploring.EXPLORED} without searching; search_hidden may find more"
            told = yield from uncover(player)
            if told == moving.NO_WAY:
                return "nothing is left to explore, and there is nowhere to search"
        vain = 0 if player.body.turn != turn else vain + 1
        if vain > _VAIN:
            raise ProgramFailed(f"no headway: {told}")
    return "on another level"


def uncover(player: Player) -> Skill:
    """Look under things, push boulders, try refused steps again, and search where a passage is likeliest."""
    level = player.level
    told = yield from exploring.look_under(player)
    if told != exploring.EXPLORED:
        return told
    puzzle = level.place.branch == _SOKOBAN or len(level.boulders) >= _PUZZLE
    if not level.pushing and not puzzle:
        level.push()
        return "boulders may be pushed from now on"
    name = Refusal(Act.SEARCH, level.place)
    player.refusals[name] += 1
    if player.refusals[name] % 12 == 0:
        level.forgive()
    return (yield from exploring.search_for_exits(player))


def search_hidden(game: PlanGame, turns: int = 60) -> Skill:
    """Search for hidden passages where they are likeliest, for about this many turns."""
    player, level = game.player, game.level
    begun, known, vain = player.body.turn, _known(level), 0
    while player.body.turn - begun < turns:
        turn = player.body.turn
        told = yield from exploring.search_for_exits(player)
        if player.level is not level:
            return "on another level"
        if _known(level) > known and (yield from exploring.explore(player)) != exploring.EXPLORED:
            return "a way that was not known before is open; explore_level follows it"
        vain = 0 if player.body.turn != turn else vain + 1
        if told == moving.NO_WAY or vain > _VAIN:
            raise ProgramFailed("there is nowhere to search")
    return "nothing was found"


def _known(level: Level) -> int:
    """The number of squares that can be walked on."""
    return sum(t.DARING[code] for code in level.terrain)


def move_to(game: PlanGame, x: int, y: int) -> Skill:
    """Walk to a position, around monsters; an enemy that leaves no way around it is fought."""
    player, level, place = game.player, game.level, square(x, y)
    told = yield from moving.go_to(player, [place])
    if player.level is not level:
        return "on another level"
    if player.here == place:
        return f"arrived at {position(place)}"
    if (there := player.world.monster_at(place)) is not None and not there.tame:
        raise ProgramFailed(f"{monster_words(player, there)}, stands there; melee_attack x y attacks it")
    if told != moving.NO_WAY:
        raise ProgramFailed(f"could not get to {position(place)}: {told}")
    yield from fighting.make_sure(player, player.world.monsters)
    peaceful = [monster for monster in player.world.monsters if monster.peaceful and not monster.tame]
    free = routes.first(level, player.here, {place}.__contains__, set())
    around = routes.first(level, player.here, {place}.__contains__, {each.place for each in peaceful})
    if free is not None and around is None:
        blocking = next(each for each in peaceful if each.place in free)
        raise ProgramFailed(f"a peaceful {monster_words(player, blocking)}, is in the way")
    return (yield from walk_to(game.tracker, x, y))


def go_to(game: PlanGame, place: str, level: int | None = None) -> Skill:
    """Go to the nearest feature of a kind, on this level or on a remembered one."""
    player = game.player
    if level is not None and level != player.body.depth:
        yield from _to_depth(player, level)
    goals = places_of(player.level, place)
    if not goals:
        raise ProgramFailed(f"no {place} is known {_on(player, level)}")
    return (yield from _walk(player, goals, place))


def _on(player: Player, level: int | None) -> str:
    known = sorted({other.depth for other in player.world.levels.values() if other.depth})
    seen = f"on this level; you know Dlvl {', '.join(map(str, known))}"
    return f"on Dlvl {level}" if level is not None else seen


def places_of(level: Level, word: str) -> list[int]:
    """The squares that a word of go_to means on a level."""
    if word == "shop":
        return sorted(level.shop)
    if word == "item":
        return sorted(set(level.objects) - level.boulders - level.shop)
    return level.spots(FEATURE_WORDS[word])


def _walk(player: Player, goals: Collection[int], word: str) -> Skill:
    level = player.level
    if word == "shop":
        level.allow(level.shop)
    if word == "door":
        goals = {near for door in goals for near in t.BESIDE[door]}
    if player.here in goals:
        return f"you are there already, at {position(player.here)}"
    told = yield from moving.go_to(player, goals)
    if player.level is not level:
        return "on another level"
    if player.here not in goals:
        raise ProgramFailed(f"could not get to {word.replace('_', ' ')}: {told}")
    return f"arrived at {position(player.here)}"


def _to_depth(player: Player, depth: int) -> Skill:
    """Go to a known level by the stairs that lead there."""
    known = [place for place, level in player.world.levels.items() if level.depth == depth]
    # Branches have levels of the same depth; that of the present branch is meant.
    goal = min(known, key=lambda place: place.branch != player.world.place.branch, default=None)
    if goal is None:
        raise ProgramFailed(f"Dlvl {depth} is not known")
    for _ in range(_HOPS):
        if player.world.place == goal:
            return "there"
        hop = _next_hop(player, goal)
        if hop is None:
            raise ProgramFailed(f"no known stairs lead to Dlvl {depth}")
        down, places = hop
        told = yield from _by_stairs(player, down, places)
        if told != moving.ARRIVED:
            raise ProgramFailed(f"could not take the stairs on Dlvl {player.body.depth}: {told}")
    return "there"


def _next_hop(player: Player, goal: Place) -> tuple[bool, list[int]] | None:
    """The stairs of this level on the shortest known way to another level, and whether they lead down."""
    start, levels = player.world.place, player.world.levels
    came: dict[Place, Place] = {start: start}
    edge = [start]
    while edge and goal not in came:
        edge = [
            after
            for place in edge
            for after in dict.fromkeys(levels[place].links.values())
            if after in levels and came.setdefault(after, place) == place and after != start
        ]
    if goal in came:
        hop = goal
        while came[hop] != start:
            hop = came[hop]
        places = [at for at, to in player.level.links.items() if to == hop]
        return player.level.terrain[places[0]] in t.DOWN, places
    if goal.branch != start.branch:
        return None
    down = goal.level > start.level
    places = stairs.known_stairs(player, down, start.branch)
    return (down, places) if places else None


def _by_stairs(player: Player, down: bool, places: Collection[int]) -> Skill:
    """Go to one of these stairs and take them."""
    told = yield from moving.go_to(player, places)
    if player.here not in places:
        return told if told != moving.ARRIVED else moving.STUCK
    return (yield from stairs.take_stairs(player, down))


def down(game: PlanGame, x: int | None = None, y: int | None = None) -> Skill:
    """Go down the nearest stairs that are known, or those at a position."""
    return (yield from _take(game, True, x, y))


def up(game: PlanGame, x: int | None = None, y: int | None = None) -> Skill:
    """Go up the nearest stairs that are known, or those at a position."""
    if game.player.body.depth <= 1 and game.player.world.place == Place(0, 1):
        raise ProgramFailed("the stairs up on Dlvl 1 leave the dungeon and end the game")
    return (yield from _take(game, False, x, y))


def _take(game: PlanGame, going_down: bool, x: int | None, y: int | None) -> Skill:
    player = game.player
    if (x is None) != (y is None):
        raise ProgramFailed("a position needs both x and y, or neither")
    word = "down" if going_down else "up"
    holes = player.level.spots(_HOLES) if going_down else []
    if x is not None and y is not None:
        places = [_stairs_at(player, square(x, y), going_down, holes)]
        holes = [place for place in holes if place in places]
    else:
        places = stairs.known_stairs(player, going_down)
    if holes and not set(places) - set(holes):
        return (yield from _fall(player, holes))
    if not places:
        raise ProgramFailed(f"no stairs {word} are known here; {_hint(player, going_down)}")
    told = yield from _by_stairs(player, going_down, places)
    if told == moving.NO_WAY:
        where = ", ".join(map(position, places[:3]))
        raise ProgramFailed(f"no way to the stairs {word} at {where} is known; explore_level may find one")
    if told != moving.ARRIVED:
        raise ProgramFailed(f"could not go {word}: {told}{_heard(player)}")
    return f"on Dlvl {player.body.depth} now"


def _stairs_at(player: Player, place: int, going_down: bool, holes: Collection[int]) -> int:
    """The place, unless the ground there is known to be no stairs or hole; under an item it may be."""
    level, word = player.level, "down" if going_down else "up"
    ground, hidden = level.terrain[place], place in level.objects or place == player.here
    if ground not in (t.UNKNOWN, *(t.DOWN if going_down else t.UP)) and place not in holes and not hidden:
        known = ", ".join(map(position, stairs.known_stairs(player, going_down)))
        raise ProgramFailed(f"there are no stairs {word} at {position(place)}{known and f', but at {known}'}")
    return place


def _hint(player: Player, going_down: bool) -> str:
    dig = "dig_down, or " if going_down and gear.digger(player) else ""
    return f"{dig}explore_level to find them"


def _fall(player: Player, holes: Collection[int]) -> Skill:
    """Step into a trap door or hole."""
    level = player.level
    beside = {near: hole for hole in holes for near in t.NEAR[hole]}
    if player.here not in holes:
        yield from moving.go_to(player, beside)
        if player.level is level and player.here in beside:
            yield from player.command(t.heading(player.here, beside[player.here]))
    if player.level is level:
        yield from player.command(ord(">"))
    if player.level is level:
        raise ProgramFailed(f"could not fall through the hole{_heard(player)}")
    return f"fell to Dlvl {player.body.depth}"


def _heard(player: Player) -> str:
    """The last message of the game, if any."""
    return f": {player.heard[-1]}" if player.heard else ""


def dig_down(game: PlanGame) -> Skill:
    """Dig through the floor, with Elbereth in the pit."""
    player, depth = game.player, game.player.body.depth
    if gear.digger(player) is None:
        raise ProgramFailed("you carry nothing to dig with; fetch_digger gets a pick-axe")
    told = yield from digging.dig_down(player, moving.never)
    if player.body.depth == depth and told != digging.FELL:
        raise ProgramFailed(f"{told}{_heard(player)}")
    return f"fell to Dlvl {player.body.depth}"
