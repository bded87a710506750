"""Dig down: first a pit, then Elbereth written in the pit, then the rest of the way.

The pit erases what was written before it, and a hero in the pit can still write. So Elbereth in the pit keeps
most monsters off for the longest part of the work.
"""

from collections.abc import Callable, Generator
from typing import Any

from balrog_rag.bots.nethack.skills.gear import dig, digger, free_hands
from balrog_rag.bots.nethack.skills.looking import look_here
from balrog_rag.bots.nethack.skills.moving import ALARMED, NO_WAY, Alarm, follow, occupied
from balrog_rag.bots.nethack.skills.surviving import engrave, guarded, steady
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.player import Pit, Player, Skill
from balrog_rag.envs.nethack.world.refusals import Act, Refusal
from balrog_rag.envs.nethack.world.routes import Ways

FELL, TOO_HARD, NO_TOOL = Told.FELL, Told.TOO_HARD, Told.NO_TOOL
MISSPELT, FLOODED = Told.MISSPELT, Told.FLOODED
_DIGGING = ("digging downward", "You hit", "You miss", "You destroy", "You kill")
"""Words for actions that take a move: digging, or hitting a monster that has swallowed us with the tool."""
_GROUND = t.CORRIDORS | {t.FLOOR, t.DARK_FLOOR}
_NO_HOLE = frozenset((*t.STAIRS, t.ALTAR, t.THRONE, t.FOUNTAIN, t.SINK, *t.DOORS, *t.WET))


def always() -> bool:
    """Return True."""
    return True


def diggable(level: Level, place: int) -> bool:
    """Whether a hole can be dug at a square."""
    return level.terrain[place] not in _NO_HOLE and place not in level.boulders


def wetness(level: Level, place: int) -> int:
    """The number of squares next to this one that may let water into a hole."""
    ground = level.terrain
    wet = sum(ground[near] in t.WET for near in t.NEAR[place])
    return wet + (level.unknown_near(place) if wet or level.wet else 0)


def dig_down(player: Player, alarm: Alarm, elbereth: Callable[[], bool] = always) -> Skill:
    """Dig through the floor, here or near by, protected by Elbereth while `elbereth` holds."""
    told: str = TOO_HARD
    for _ in range(TUNING.dig_spots):
        if held(player) and elbereth() and not _untried(player, player.here):
            yield from guard(player, _pit(player))  # who holds us lets go in fright (monmove.c:277)
        told = (yield from _to_a_spot(player, alarm)) or (yield from _dig_here(player, alarm, elbereth))
        if told != TOO_HARD:
            break
    return told


def held(player: Player) -> bool:
    """Whether a monster next to us holds us: one cannot walk away, or fall through a hole (dig.c:669)."""
    return any(player.holds(enemy) for enemy in player.hostiles(within=1))


def _dig_here(player: Player, alarm: Alarm, elbereth: Callable[[], bool]) -> Skill:
    level, pit = player.level, _pit(player)
    if not pit.deep and (yield from _on_goods(player)):
        _refuse(player, player.here)
        return TOO_HARD
    while player.level is level and player.here == pit.place:
        if alarm() or player.world.swallowed:
            return ALARMED
        if elbereth() and (yield from guard(player, pit)) == MISSPELT:
            continue  # under attack, digging would be interrupted again and again
        told = yield from _dig(player, pit)
        if told:
            return told
    return FELL if player.level is not level else Told.MOVED


def _on_goods(player: Player) -> Generator[int, Any, bool]:
    """Whether an item for sale is underfoot, which would fall with us and count as stolen.

    A blind hero has to search by touch, which takes time.
    """
    if player.body.condition & w.BLIND:
        return False
    yield from look_here(player)
    return player.said("for sale", "no charge")


def _pit(player: Player) -> Pit:
    """The pit begun here before, or a new one."""
    level, here, pit = player.level, player.here, player.pit_here
    if pit is None:
        pit = player.pit = Pit(level, here, level.terrain[here] == t.PIT, hp=player.body.hp)
    return pit


def _to_a_spot(player: Player, alarm: Alarm) -> Skill:
    """Go where a hole can be dug, as far from water as possible; returns nothing if that is here."""
    level, pit = player.level, player.pit_here
    if pit is not None and pit.deep and not _refused(player, player.here):
        return ""  # climbing out takes as long as half a hole
    for _ in range(TUNING.dig_spots):
        if held(player) and _untried(player, player.here):
            return ""
        ways = Ways(level, player.here, occupied(player) | _mimics(level))
        spots = [
            (wetness(level, place), place in level.objects, steps, place)
            for place, steps in enumerate(ways.steps)
            if 0 <= steps <= TUNING.dig_walk and _untried(player, place)
        ]
        if not spots:
            return NO_WAY
        place = min(spots)[3]
        if place == player.here:
            return ""
        told = yield from follow(player, ways.to(place), alarm)
        if told == ALARMED:
            return told
    return ""


def _mimics(level: Level) -> set[int]:
    """Squares with a strange object, which is how some mimics look."""
    symbols = k.kinds().symbol
    return {place for place, glyph in level.objects.items() if symbols[glyph] == "]"}


def _untried(player: Player, place: int) -> bool:
    level = player.level
    floor = level.terrain[place] in _GROUND or place == player.here
    if place in level.shop and place in level.objects:
        return False  # items for sale would fall with us and count as stolen
    return floor and diggable(level, place) and not _refused(player, place)


def _refused(player: Player, place: int) -> bool:
    """Whether no hole can be dug at a square of this level."""
    return player.refusals[Refusal(Act.DIG, (player.level.place, place))] > TUNING.dig_refusals


def _refuse(player: Player, place: int) -> None:
    """Remember that none can, for a reason that the game or we have."""
    player.refusals[Refusal(Act.DIG, (player.level.place, place))] += TUNING.dig_refusals + 1


def guard(player: Player, pit: Pit) -> Skill:
    """Make sure that Elbereth is engraved in the pit."""
    if not _worth_writing(player, pit):
        return Told.NO_NEED
    hurt, blind = player.body.hp < pit.hp, bool(player.body.condition & w.BLIND)
    if hurt or (not blind and player.hostiles(within=1)):
        pit.guarded = False
    pit.hp = player.body.hp
    unable = player.cursed_hands or (blind and not hurt) or not steady(player)
    if pit.guarded or pit.writings >= TUNING.pit_writings or unable:
        return Told.NO_NEED
    if pit.writings and not blind and (yield from guarded(player)) == Told.GUARDED:
        pit.guarded = True
        return Told.GUARDED
    return (yield from _write(player, pit))


def _worth_writing(player: Player, pit: Pit) -> bool:
    """Whether a monster may come that Elbereth keeps off; one that ignores it leaves no time to write."""
    seen = player.hostiles(within=TUNING.undaunted_sight)
    if seen and not any(enemy.species is None or enemy.species.fears_elbereth for enemy in seen):
        return False
    near, wild = (
        (TUNING.write_near_dwarf, TUNING.write_depth_dwarf)
        if player.race == "dwarven"
        else (TUNING.write_near, TUNING.write_depth)
    )
    return pit.deep or player.body.depth >= wild or bool(player.hostiles(within=near))


def _write(player: Player, pit: Pit) -> Skill:
    """Write Elbereth once; every fourth time a letter is wrong. A blind hero cannot read it to check."""
    pit.writings += 1
    told = yield from engrave(player)
    if told != Told.WROTE:
        # From the edge of the pit its bottom is out of reach (engrave.c:571); digging on leads back into it.
        reached = not player.said("reach the bottom")
        pit.writings = TUNING.pit_writings if reached else pit.writings - 1
        return told
    if player.body.condition & w.BLIND:
        pit.guarded = True  # until a blow shows that it is not
        return told
    pit.guarded = (yield from guarded(player)) == Told.GUARDED
    return Told.WROTE if pit.guarded else MISSPELT


def _dig(player: Player, pit: Pit) -> Skill:
    """Dig until disturbed, or until there is a pit or a hole; returns nothing while digging continues."""
    tool = digger(player)
    if tool is None:
        return NO_TOOL
    yield from free_hands(player, tool)
    turn, refusal = player.body.turn, Refusal(Act.DIG, (pit.level.place, pit.place))
    yield from dig(player, tool, ">")
    if player.said("fills with"):
        yield from look_here(player)  # the message about where we crawled to comes with the next screen only
        return FLOODED
    if player.said("dig a pit"):
        pit.deep, pit.guarded, pit.writings = True, False, 0
    if player.said(
        "too hard", "cannot dig", "can't dig", "There isn't enough room", "stairs", "throne", "altar"
    ):
        _refuse(player, pit.place)
        return TOO_HARD
    # A fast hero may be interrupted within the turn; that does not count as a refusal.
    if player.body.turn == turn and player.level is pit.level and not player.said(*_DIGGING):
        player.refusals[refusal] += 1
        return TOO_HARD if _refused(player, pit.place) else ""
    return ""
