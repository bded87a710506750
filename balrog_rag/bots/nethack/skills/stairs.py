"""Stairs, and the branches of the dungeon they lead to."""

from collections.abc import Generator
from typing import Any

from balrog_rag.bots.nethack.skills.fight_cost import adjacent
from balrog_rag.bots.nethack.skills.looking import look_here
from balrog_rag.bots.nethack.skills.moving import ARRIVED, NO_WAY, STUCK, Alarm, go_to, never
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.player import MAIN, MINES, Player, Skill
from balrog_rag.envs.nethack.world.refusals import Act, Refusal

__all__ = ("MAIN", "MINES", "go_by_stairs", "known_stairs", "take_stairs", "wait_for_pet")


def take_stairs(player: Player, down: bool) -> Skill:
    """Take the stairs underfoot, and remember where they lead."""
    level, here, place = player.level, player.here, player.world.place
    yield from player.command(keys.DOWN if down else keys.UP)
    if player.level is level:
        player.refusals[Refusal(Act.STAIRS, (place, here))] += 1
        if player.said("You can't go"):
            level.set_terrain(here, t.FLOOR)
        return STUCK
    level.links[here] = player.world.place
    if not (yield from _beside_stairs(player)):
        other = player.level
        other.set_terrain(player.here, t.STAIRS_UP if down else t.STAIRS_DOWN)
        other.links[player.here] = place
    return ARRIVED


def _beside_stairs(player: Player) -> Generator[int, Any, bool]:
    """Whether we are next to the stairs: every second time if a monster stood on them (do.c:1237)."""
    if player.body.condition & w.BLIND or not adjacent(player, player.world.monsters):
        return False
    yield from look_here(player)
    return not player.said("staircase", "ladder")


def wait_for_pet(player: Player, turns: int = TUNING.pet_turns) -> Skill:
    """Wait on stairs for a pet to come near, so that it follows."""
    level = player.level
    if level.place.branch == MAIN and level.place.level > TUNING.pet_depth:
        return Told.LEFT_BEHIND
    for _ in range(turns):
        near = any(m.tame and t.distance(m.place, player.here) <= 1 for m in player.world.monsters)
        lost = level.pet is None or player.body.turn - level.pet > TUNING.pet_lost
        if near or lost or player.level is not level or player.hostiles(TUNING.pet_enemy):
            break
        yield from player.command(keys.SEARCH)
    return Told.WAITED


def known_stairs(player: Player, down: bool, branch: int | None = None) -> list[int]:
    """Known stairs of this level, except those that lead to another branch than the wanted one."""
    level = player.level
    places = level.spots(t.DOWN if down else t.UP)
    fine = []
    for place in places:
        link = level.links.get(place)
        if player.refusals[Refusal(Act.STAIRS, (level.place, place))] >= TUNING.stairs_tries:
            continue
        if branch is None or link is None or link.branch == branch:
            fine.append(place)
    return fine


def go_by_stairs(player: Player, down: bool, branch: int | None = None, alarm: Alarm = never) -> Skill:
    """Go to stairs that may lead to this branch, and take them."""
    places = known_stairs(player, down, branch)
    if not places:
        return NO_WAY
    told = yield from go_to(player, places, alarm)
    if told != ARRIVED or player.here not in places:
        return told
    yield from wait_for_pet(player)
    return (yield from take_stairs(player, down))
