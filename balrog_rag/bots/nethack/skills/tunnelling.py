"""Dig sideways: a tunnel through rock and walls to places that no path reaches."""

import heapq
from collections.abc import Collection, Iterator

from balrog_rag.bots.nethack.skills.digging import NO_TOOL
from balrog_rag.bots.nethack.skills.exploring import explorable
from balrog_rag.bots.nethack.skills.gear import dig, digger, free_hands
from balrog_rag.bots.nethack.skills.moving import (
    ALARMED,
    ARRIVED,
    NO_WAY,
    STUCK,
    Alarm,
    occupied,
    step,
    watched,
)
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.player import Player, Skill
from balrog_rag.envs.nethack.world.refusals import Act, Refusal
from balrog_rag.envs.nethack.world.routes import Ways

_SOLID = frozenset((t.UNKNOWN, t.STONE))
_HARD = ("too hard", "cannot reach", "can't reach", "not strong enough")


def tunnel(player: Player, goals: Collection[int], alarm: Alarm) -> Skill:
    """Go to one of these squares, through rock and walls if that is shorter."""
    level = player.level
    for _ in range(TUNING.tunnel_longest):
        if player.here in goals or player.level is not level:
            return ARRIVED
        if alarm():
            return ALARMED
        soft = _SOLID if watched(player) else _SOLID | t.WALLS
        place = _next(level, player.here, goals, occupied(player), soft)
        if place is None:
            return NO_WAY
        told = yield from (step if place in level.steps(player.here) else _dig)(player, place)
        if told == NO_TOOL:
            return NO_TOOL
    return STUCK


def burrow(player: Player, alarm: Alarm) -> Skill:
    """Tunnel to where something new is seen, on a level where no way leads to anything new."""
    level = player.level
    goals = set(unseen(level, Ways(level, player.here, occupied(player))))

    def enough() -> bool:
        return alarm() or explorable(player)

    return (yield from tunnel(player, goals, enough)) if goals else NO_WAY


def unseen(level: Level, ways: Ways) -> Iterator[int]:
    """Squares that were seen, but not reached, and what lies in the midst of the unknown."""
    for place in range(t.SIZE):
        code = level.terrain[place]
        if code == t.UNKNOWN:
            if _wide(level, place):
                yield place
        elif ways.steps[place] == -1 and t.DARING[code] and level.is_frontier(place):
            yield place


def _wide(level: Level, place: int) -> bool:
    """Whether nothing is known as far as two squares around."""
    x, y = t.xy(place)
    if not (2 < x < t.WIDTH - 3 and 2 < y < t.HEIGHT - 3):
        return False
    rows = range(place - 2 * t.WIDTH, place + 3 * t.WIDTH, t.WIDTH)
    return all(code == t.UNKNOWN for row in rows for code in level.terrain[row - 2 : row + 3])


def _dig(player: Player, place: int) -> Skill:
    """Dig at a neighbouring square until it gives way or we are disturbed, and step there."""
    level, tool = player.level, digger(player)
    if tool is None:
        return NO_TOOL
    name = Refusal(Act.TUNNEL, (level.place, place))
    player.refusals[name] += 1
    if player.refusals[name] > TUNING.tunnel_effort:
        level.forbid([place])
        return STUCK
    yield from free_hands(player, tool)
    direction = t.heading(player.here, place)
    yield from dig(player, tool, chr(direction))
    if player.said(*_HARD):
        level.forbid([place])
        return STUCK
    yield from player.command(direction)
    return Told.DUG


def _next(
    level: Level, start: int, goals: Collection[int], blocked: Collection[int], soft: Collection[int]
) -> int | None:
    """The first square of the cheapest path, if ground of these kinds may be dug through."""
    cost, came = {start: 0}, {start: start}
    edge = [(0, start)]
    while edge:
        so_far, place = heapq.heappop(edge)
        if place in goals:
            return _first(came, start, place)
        for near, more in _around(level, place, soft):
            if near not in blocked and so_far + more < cost.get(near, so_far + more + 1):
                cost[near], came[near] = so_far + more, place
                heapq.heappush(edge, (so_far + more, near))
    return None


def _first(came: dict[int, int], start: int, place: int) -> int:
    while came[place] != start:
        place = came[place]
    return place


def _around(level: Level, place: int, soft: Collection[int]) -> Iterator[tuple[int, int]]:
    """Squares next to one that can be walked or dug to, with the cost."""
    steps = level.steps(place)
    yield from ((near, 1) for near in steps)
    for near, diagonal in t.AROUND[place]:
        x, y = t.xy(near)
        inside = 2 <= x < t.WIDTH - 2 and 2 <= y < t.HEIGHT - 2
        if diagonal or near in steps or near in level.forbidden or not inside:
            continue
        if level.terrain[near] in soft or near in level.boulders:
            yield near, TUNING.tunnel_effort
