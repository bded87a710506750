"""Explore a whole level."""

from balrog_rag.bots.nethack.skills.moving import ALARMED, NO_WAY, Alarm, follow, never, occupied
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.player import Player, Skill
from balrog_rag.envs.nethack.world.routes import Ways, first

EXPLORED = Told.EXPLORED


def frontier(level: Level, place: int) -> bool:
    """Whether going there would show something new."""
    return not level.visited[place] and level.unknown_near(place) > 0


def explore(player: Player, alarm: Alarm = never) -> Skill:
    """Go to the nearest square from which something new can be seen."""
    level = player.level
    way = first(level, player.here, lambda place: frontier(level, place), occupied(player))
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
    """Go to where a hidden passage is likeliest, and search there."""
    level = player.level
    ways = Ways(level, player.here, occupied(player))
    steps, found = ways.steps, Hopes(level, ways)
    hopes = {place: found.at(place) for place, far in enumerate(steps) if far >= 0}
    if not hopes:
        return NO_WAY
    place = max(hopes, key=lambda each: (hopes[each] - TUNING.search_walk * steps[each], -each))
    if hopes[place] < TUNING.search_walk * (steps[place] + 1):  # all that is near has been searched enough
        place = max(hopes, key=lambda each: (hopes[each] / (steps[each] + TUNING.search_at_once), -each))
    told = yield from follow(player, ways.to(place), alarm)
    if told == ALARMED or player.here != place:
        return told
    if alarm():  # the last step may have shown something, such as a vault's guard
        return ALARMED
    return (yield from search(player, TUNING.search_at_once))


def search(player: Player, turns: int) -> Skill:
    """Search for a number of turns, or until disturbed."""
    begun = player.body.turn
    yield from player.command(*map(ord, str(turns)), keys.SEARCH)
    for place in t.NEAR[player.here]:
        player.level.searched[place] += max(1, player.body.turn - begun)
    return Told.SEARCHED


class Hopes:
    """The expected findings of a search at each square, which fall with every turn searched there."""

    def __init__(self, level: Level, ways: Ways | None = None) -> None:
        """`ways` from where we are tell what is seen but not reached: a passage to it is the likeliest."""
        self._level, self._ways = level, ways
        self._memory: dict[int, float] = {}

    def at(self, place: int) -> float:
        """The expected findings of a search from a square."""
        ground = self._level.terrain
        corridor = ground[place] in (t.CORRIDOR, t.LIT_CORRIDOR)
        if corridor or ground[place] == t.DOORWAY:
            weight = TUNING.promise_dead_end if self._ends(place) else TUNING.promise_passage
            return sum(self._beside(near, weight) for near in t.NEAR[place] if ground[near] == t.UNKNOWN)
        return sum(self._behind(place, near) for near in t.NEAR[place] if ground[near] in t.WALLS)

    def _beside(self, place: int, weight: float) -> float:
        if any(self._cut_off(near) for near in t.NEAR[place]):
            weight = TUNING.promise_dead_end
        return weight * self._left(place)

    def _cut_off(self, place: int) -> bool:
        """Whether one could stand on a square, but no way leads there."""
        level = self._level
        if self._ways is None or self._ways.steps[place] != -1 or place in level.forbidden:
            return False
        return level.terrain[place] != t.UNKNOWN and bool(t.DARING[level.terrain[place]])

    def _ends(self, place: int) -> bool:
        """Whether a corridor ends here: the squares that can be entered from it are all adjacent."""
        steps = set(self._level.steps(place))
        edge = [steps.pop()] if steps else []
        while edge:
            clump = steps.intersection(t.NEAR[edge.pop()])
            steps -= clump
            edge.extend(clump)
        return not steps

    def _left(self, place: int) -> float:
        return float(TUNING.search_kept ** self._level.searched[place])

    def _behind(self, place: int, wall: int) -> float:
        """The chance that something is hidden in a wall: it grows with the unknown area beyond."""
        step = wall - place
        if abs(step) not in (1, t.WIDTH):
            return 0.0
        if wall not in self._memory:
            self._memory[wall] = self._promise(wall, step) * self._left(wall)
        return self._memory[wall]

    def _promise(self, wall: int, step: int) -> float:
        if 0 <= wall + step < t.SIZE and self._cut_off(wall + step):
            return TUNING.promise_cut_off
        return TUNING.promise_wall + _depth(self._level, wall, step) / TUNING.promise_far


def _depth(level: Level, wall: int, step: int) -> int:
    """How far the unknown area reaches behind a wall, up to a limit."""
    place = wall
    for run in range(TUNING.promise_far):
        x, y = t.xy(place + step) if 0 <= place + step < t.SIZE else (0, 0)
        if not (1 < x < t.WIDTH - 2 and 1 < y < t.HEIGHT - 2) or level.terrain[place + step] != t.UNKNOWN:
            return run
        place += step
    return TUNING.promise_far
