"""Walk: a single step, a path, or to a place, including doors and boulders on the way."""

from collections.abc import Callable, Collection, Sequence

from balrog_rag.bots.nethack.skills.looking import engraving, look_here
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.player import Player, Skill
from balrog_rag.envs.nethack.world.refusals import Act, Refusal
from balrog_rag.envs.nethack.world.routes import first

ARRIVED, ALARMED, STUCK, NO_WAY = Told.ARRIVED, Told.ALARMED, Told.STUCK, Told.NO_WAY

_BLOCKED_FOR_GOOD = (
    "You try to squeeze",
    "Perhaps that's why",
    "You are carrying too much to get through",
    "In vain",
    "in vain",
    "solid stone",
    "doesn't fit",
    "can't fit",
    "can't move diagonally",
    "can't get",
    "There is an obstacle",
    "It's a wall",
    "It's solid",
    "is in your way",
)

_HELD = (
    "You stop.",
    "You swap",
    "You move right into",
    "stuck to",
    "cannot escape",
    "in the way",
    "trapped",
    "pit",
    "trap",
    "web",
    "cannot pull",
    "held",
)
"""Words about temporary obstacles."""

Alarm = Callable[[], bool]
"""Whether to stop before the next key."""


def never() -> bool:
    """An alarm that is never raised."""
    return False


def occupied(player: Player) -> set[int]:
    """Squares that monsters make unwise to cross; pets are swapped with, unless we are dazed.

    What was only felt is shown until we come back, and may have left long ago.
    """
    dazed, near = player.body.condition & w.DAZED, (player.here, *t.NEAR[player.here])
    return {
        monster.place
        for monster in player.world.monsters
        if (dazed or not monster.tame) and (monster.species or monster.place in near)
    }


def step(player: Player, place: int) -> Skill:
    """Step to a neighbouring square; a closed door there is opened, or kicked in."""
    here, level = player.here, player.level
    # Where somebody stands, the door is open by now, and hidden.
    if level.terrain[place] in t.CLOSED_DOORS and player.world.monster_at(place) is None:
        return (yield from open_door(player, place))
    # To walk over goods would pick them up, if autopickup is on: in a shop that is buying.
    goods = place in level.shop and place in level.objects
    yield from player.command(*((keys.MOVE_ONLY,) if goods else ()), t.heading(here, place))
    if player.screen.question:
        yield from player.command(keys.ESC)
    if player.here != here or player.level is not level:
        return ARRIVED
    _learn(player, here, place)
    return STUCK


def _learn(player: Player, here: int, place: int) -> None:
    """Remember that a step was rejected."""
    if player.said("Really attack"):
        monster = player.world.monster_at(place)
        if monster:
            monster.peaceful = True
        return
    player.refusals[Refusal(Act.SQUEEZE)] += player.said("carrying too much to get through")
    if not player.said(*_BLOCKED_FOR_GOOD) and player.said(*_HELD):
        return
    level = player.level
    name = Refusal(Act.STEP, (level.place, here, place))
    player.refusals[name] += 1
    if player.refusals[name] >= TUNING.step_tries or player.said(*_BLOCKED_FOR_GOOD):
        level.refuse(here, place)


def open_door(player: Player, place: int) -> Skill:
    """Open the closed door on a neighbouring square, if necessary with kicks."""
    level, here = player.level, player.here
    key = t.heading(here, place)
    name, locked = (Refusal(act, (level.place, place)) for act in (Act.DOOR, Act.LOCKED))
    player.refusals[name] += 1
    if player.refusals[name] > TUNING.door_kicks or (player.refusals[locked] and watched(player)):
        level.forbid([place])
        return STUCK
    if player.refusals[locked]:
        yield from player.ask(keys.KICK, ("In what direction", chr(key)))
        if player.said("Your leg", "You can't move your leg", "no leverage", "in no shape"):
            level.forbid([place])
        return Told.KICKED
    yield from player.ask(keys.OPEN, ("In what direction", chr(key)))
    if player.said("This door is locked"):
        player.refusals[locked] += 1
        yield from look_here(player)
        if engraving(player):  # most likely the shop of an absent shopkeeper, who wants nobody inside
            level.forbid([place])
    elif player.said("no door", "broken"):
        level.set_terrain(place, t.DOORWAY)
    elif player.said("already open"):
        level.refuse(here, place)
    return Told.OPENED


def watched(player: Player) -> bool:
    """Whether a watchman is in sight, who would arrest whoever breaks a door or digs through a wall."""
    return any(monster.species and monster.species.watchman for monster in player.world.monsters)


def follow(player: Player, way: Sequence[int], alarm: Alarm) -> Skill:
    """Walk along a path, until arrived, alarmed, or elsewhere than expected."""
    level = player.level
    for place in way:
        if alarm():
            return ALARMED
        if place not in level.steps(player.here) and level.terrain[place] not in t.TRAPS:
            return STUCK
        if _stands(player, place):
            return STUCK
        yield from step(player, place)
        if player.here != place or player.level is not level:
            return STUCK
    return ARRIVED


def _stands(player: Player, place: int) -> bool:
    monster = player.world.monster_at(place)
    return monster is not None and not monster.tame


def go_to(player: Player, goals: Collection[int], alarm: Alarm = never) -> Skill:
    """Go to the nearest of these squares."""
    level = player.level
    wanted = frozenset(goals)
    for _ in range(TUNING.longest_walk):
        if player.here in wanted or player.level is not level:
            return ARRIVED
        way = first(level, player.here, wanted.__contains__, occupied(player) - wanted)
        if way is None:
            return NO_WAY
        told = yield from follow(player, way, alarm)
        if told == ALARMED:
            return told
    return STUCK
