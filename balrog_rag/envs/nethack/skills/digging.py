"""Digging down: a pit first, Elbereth written in the pit, then the rest of the way.

The pit wipes out what was written before it, and whoever sits in it can still write. So what is written in
the pit keeps most monsters off for the longest part of the work.
"""

from dataclasses import dataclass

from balrog_rag.envs.nethack.skills import keys
from balrog_rag.envs.nethack.skills.gear import digger
from balrog_rag.envs.nethack.skills.moving import ALARMED, NO_WAY, Alarm, go_to
from balrog_rag.envs.nethack.skills.player import Player, Skill
from balrog_rag.envs.nethack.skills.surviving import engrave, guarded
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world import world as w
from balrog_rag.envs.nethack.world.level import Level

FELL, TOO_HARD, NO_TOOL = "fell to the next level", "the ground is too hard", "nothing to dig with"
_WRITINGS = 4
"""Times Elbereth is written in one pit."""
_SPOTS = 4
"""Squares tried before the ground of a level is taken to be too hard."""
_NO_HOLE = frozenset((*t.STAIRS, t.ALTAR, t.THRONE, t.FOUNTAIN, t.SINK, *t.STRAIGHT, t.DOORWAY, *t.WET))


@dataclass
class Pit:
    """A pit being dug."""

    level: Level
    place: int
    deep: bool = False
    """Whether it is a pit already."""
    guarded: bool = False
    """Whether Elbereth was read here, and nothing has happened since that may have spoilt it."""
    writings: int = 0
    hp: int = 0


def diggable(level: Level, place: int) -> bool:
    """Whether a hole can be dug at a square without water flowing in."""
    ground = level.terrain
    if ground[place] in _NO_HOLE or place in level.objects:
        return False
    return not any(ground[near] in t.WET for near in t.NEAR[place])


def dig_down(player: Player, alarm: Alarm) -> Skill:
    """Dig through the floor, here or where it can be done near by."""
    told = TOO_HARD
    for _ in range(_SPOTS):
        told = (yield from _to_a_spot(player, alarm)) or (yield from _dig_here(player, alarm))
        if told != TOO_HARD:
            break
    return told


def _dig_here(player: Player, alarm: Alarm) -> Skill:
    level = player.level
    pit = Pit(level, player.here, hp=player.body.hp)
    pit.deep = level.terrain[player.here] == t.PIT
    while player.level is level and player.here == pit.place:
        if alarm():
            return ALARMED
        yield from guard(player, pit)
        told = yield from _dig(player, pit)
        if told:
            return told
    return FELL if player.level is not level else "moved"


def _to_a_spot(player: Player, alarm: Alarm) -> Skill:
    """Go where a hole can be dug; nothing is said if that is here."""
    level = player.level
    if diggable(level, player.here) and not player.refusals[f"dig {level.place} {player.here}"]:
        return ""
    goals = [
        place
        for place in range(t.SIZE)
        if level.terrain[place] in (t.FLOOR, t.DARK_FLOOR, t.CORRIDOR, t.LIT_CORRIDOR)
        and diggable(level, place)
        and not player.refusals[f"dig {level.place} {place}"]
    ]
    if not goals:
        return NO_WAY
    told = yield from go_to(player, goals, alarm)
    return "" if player.here in goals else told


def guard(player: Player, pit: Pit) -> Skill:
    """See to it that Elbereth stands in the pit."""
    if not pit.deep and not player.hostiles(within=8):
        return "no need"
    if player.body.hp < pit.hp:
        pit.guarded = False
    pit.hp = player.body.hp
    if pit.guarded or pit.writings >= _WRITINGS or player.body.condition & w.BLIND:
        return "no need"
    if pit.writings and (yield from guarded(player)) == "guarded":
        pit.guarded = True
        return "guarded"
    pit.writings += 1
    yield from engrave(player)
    pit.guarded = (yield from guarded(player)) == "guarded"
    return "wrote"


def _dig(player: Player, pit: Pit) -> Skill:
    """Dig until disturbed, or until it is a pit or a hole; nothing is said while it goes on."""
    tool = digger(player)
    if tool is None:
        return NO_TOOL
    turn = player.body.turn
    yield from player.ask(
        keys.APPLY, ("want to use or apply", tool.letter), ("direction do you want to dig", ">")
    )
    if player.said("dig a pit"):
        pit.deep, pit.guarded, pit.writings = True, False, 0
    if player.said(
        "too hard", "cannot dig", "can't dig", "There isn't enough room", "stairs", "throne", "altar"
    ):
        player.refusals[f"dig {pit.level.place} {pit.place}"] += 1
        return TOO_HARD
    if player.body.turn == turn and player.level is pit.level:
        player.refusals[f"dig {pit.level.place} {pit.place}"] += 1
        return TOO_HARD if player.refusals[f"dig {pit.level.place} {pit.place}"] > 2 else ""
    return ""
