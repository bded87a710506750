"""Explore a whole level."""

from collections.abc import Iterable

from balrog_rag.bots.nethack.skills.moving import ALARMED, NO_WAY, Alarm, follow, never, occupied
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.player import Player, Skill
from balrog_rag.envs.nethack.world.routes import Ways, first

EXPLORED = Told.EXPLORED
_ROOM = t.INDOORS | t.WALLS


def explorable(player: Player) -> bool:
    """Whether a way leads to a square from which something new can be seen."""
    return _way_on(player) is not None


def _way_on(player: Player) -> list[int] | None:
    level = player.level
    return first(level, player.here, level.is_frontier, occupied(player))


def explore(player: Player, alarm: Alarm = never) -> Skill:
    """Go to the nearest square from which something new can be seen."""
    way = _way_on(player)
    if way is None:
        return EXPLORED
    return (yield from follow(player, way, alarm))


def look_under(player: Player, alarm: Alarm = never) -> Skill:
    """Go to the nearest object on a square that we have never visited: stairs may be under it."""
    level = player.level
    hidden = {place for place in level.objects if not level.visited[place]} - level.shop - level.boulders
    way = first(level, player.here, hidden.__contains__, occupied(player)) if hidden else None
    if way is None:
        return EXPLORED
    return (yield from follow(player, way, alarm))


def search_for_exits(player: Player, alarm: Alarm = never) -> Skill:
    """Go to where a hidden way on is likeliest, for the steps to get there, and search."""
    level = player.level
    ways = Ways(level, player.here, occupied(player))
    place = Hopes(level, ways).best()
    if place is None:
        return NO_WAY
    told = yield from follow(player, ways.to(place), alarm)
    if told == ALARMED or player.here != place:
        level.note_search(place, 1)  # so that what is never reached is given up
        return told
    if alarm():  # the last step may have shown something, such as a vault's guard
        return ALARMED
    return (yield from search(player, TUNING.search_at_once))


def search(player: Player, turns: int) -> Skill:
    """Search for a number of turns, or until disturbed."""
    begun = player.body.turn
    yield from player.command(*map(ord, str(turns)), keys.SEARCH)
    player.level.note_search(player.here, max(1, player.body.turn - begun))
    return Told.SEARCHED


class Hopes:
    """The chances that searching uncovers a way on: of every square where one may be hidden.

    Rooms are joined from left to right, so hidden doors that matter are mostly in east and west walls, and
    where there is room for a room behind; others lead into niches (mklev.c, join() and makeniche()).
    """

    def __init__(self, level: Level, ways: Ways) -> None:
        """`ways` tell what is reached from where we are."""
        self._level, self._steps = level, ways.steps
        self._chances: dict[int, float] = {}
        for place in filter(self._can_stand, range(t.SIZE)):
            weigh = self._weigh_passage if self._is_passage(place) else self._weigh_walls
            weigh(place)

    def best(self, places: Iterable[int] | None = None) -> int | None:
        """The square to search from: what is expected there, for the turns of walking and searching."""
        steps, turns = self._steps, TUNING.search_at_once
        reached = filter(self._can_stand, range(t.SIZE) if places is None else places)
        return max(reached, key=lambda each: (self.at(each) / (steps[each] + turns), -each), default=None)

    def at(self, place: int) -> float:
        """The expected number of ways on that a search from a square uncovers."""
        return sum(self._chances.get(near, 0.0) for near in t.NEAR[place])

    def _can_stand(self, place: int) -> bool:
        """Whether a way leads to a square, and not only up to it, as to a closed door."""
        return self._steps[place] >= 0 and self._level.terrain[place] not in t.CLOSED_DOORS

    def _note(self, place: int, chance: float) -> None:
        """Note the chance that a way is hidden at a square, less what searching in vain has taken from it."""
        left = chance * TUNING.search_missed ** self._level.searched[place]
        found = left / (1 - chance + left) * (1 - TUNING.search_missed**TUNING.search_at_once)
        self._chances[place] = max(found, self._chances.get(place, 0.0))

    def _is_passage(self, place: int) -> bool:
        ground = self._level.terrain[place]
        return ground in t.CORRIDORS or self._is_door(place) or self._is_littered(place)

    def _is_littered(self, place: int) -> bool:
        """Whether a square whose ground a thing has always hidden is one of a corridor, by its neighbours."""
        level = self._level
        around = {level.terrain[near] for near in t.NEAR[place] if near not in level.objects}
        return place in level.objects and bool(around & t.CORRIDORS) and not around & _ROOM

    def _is_door(self, place: int) -> bool:
        return self._level.terrain[place] in t.DOORS

    def _weigh_passage(self, place: int) -> None:
        """Weigh the unknown squares beside a corridor or door; corridors are dug in straight steps."""
        ground = self._level.terrain
        beside = t.BESIDE[place]
        unknown = [near for near in beside if ground[near] == t.UNKNOWN and t.INSIDE[near]]
        known = [near for near in beside if t.DARING[ground[near]]]
        if not self._is_door(place):
            self._weigh_cut_off(place, TUNING.chance_cut_off if len(known) == 1 else TUNING.chance_aside)
        for near in unknown:
            if any(self._cut_off(beyond) for beyond in t.NEAR[near]):
                self._note(near, TUNING.chance_cut_off)
            elif len(known) != 1 or self._is_door(place) or self._is_niche(place, known[0]):
                self._note(near, TUNING.chance_passage)
            else:
                ahead = near - place == place - known[0]
                self._note(near, TUNING.chance_ahead if ahead else TUNING.chance_aside)

    def _weigh_cut_off(self, corridor: int, chance: float) -> None:
        """Weigh the walls beside a corridor, before rooms that no way leads to.

        Several corridors may begin before the same door (mklev.c, join()), so not only ends count.
        """
        for wall in t.BESIDE[corridor]:
            if self._level.terrain[wall] in t.WALLS and self._cut_off_behind(wall, wall - corridor):
                self._note(wall, chance)

    def _is_niche(self, place: int, door: int) -> bool:
        """Whether a corridor is one square above or below a door: hardly any way leads on from niches."""
        return abs(door - place) == t.WIDTH and self._is_door(door)

    def _weigh_walls(self, place: int) -> None:
        """Weigh the walls beside a square of a room."""
        for wall in t.BESIDE[place]:
            if self._level.terrain[wall] in t.WALLS and not self._beside_a_door(wall):
                self._note(wall, self._behind(wall, wall - place))

    def _beside_a_door(self, wall: int) -> bool:
        """Whether a door is next to a square of a wall: no two doors are (mklev.c, bydoor())."""
        return any(self._is_door(near) for near in t.BESIDE[wall])

    def _behind(self, wall: int, step: int) -> float:
        """The chance that a door is hidden in a wall, by what may be behind it."""
        if self._cut_off_behind(wall, step):
            return TUNING.chance_cut_off
        depth = _depth(self._level, wall, step)
        if depth < TUNING.room_behind:
            return TUNING.chance_narrow if depth > 1 else TUNING.chance_passage
        return TUNING.chance_east_west if abs(step) == 1 else TUNING.chance_north_south

    def _cut_off_behind(self, wall: int, step: int) -> bool:
        return wall + step in t.BESIDE[wall] and self._cut_off(wall + step)

    def _cut_off(self, place: int) -> bool:
        """Whether one could stand on a square, but no way leads there."""
        level = self._level
        if self._steps[place] != -1 or place in level.forbidden:
            return False
        return level.terrain[place] != t.UNKNOWN and bool(t.DARING[level.terrain[place]])


def _depth(level: Level, wall: int, step: int) -> int:
    """How far the unknown area reaches behind a wall, up to a limit."""
    place = wall
    for run in range(TUNING.room_behind):
        place += step
        if not (0 <= place < t.SIZE and t.INSIDE[place]) or level.terrain[place] != t.UNKNOWN:
            return run
    return TUNING.room_behind
