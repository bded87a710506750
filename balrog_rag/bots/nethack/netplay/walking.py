"""Walk, and fight what is in the way: skills that fail if a popup comes up."""

from collections import Counter
from collections.abc import Collection, Sequence

from balrog_rag.bots.nethack.netplay.popup_guards import no_popup
from balrog_rag.contracts.programs import ProgramFailed
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.names import position
from balrog_rag.envs.nethack.world.player import Keys, Skill
from balrog_rag.envs.nethack.world.routes import Ways, first
from balrog_rag.envs.nethack.world.tracked_player import SkillPlayer
from balrog_rag.envs.nethack.world.tracker import Tracker

_PATIENCE = 5
"""Steps without effect after which a skill gives up."""
_REFUSALS = 2
"""Failures after which a step between two squares is considered impossible."""


def square(x: int | str, y: int | str) -> int:
    """The square of a position; fails for one that is not on the map."""
    if not (0 <= int(x) < t.WIDTH and 0 <= int(y) < t.HEIGHT):
        raise ProgramFailed(
            f"position ({x}, {y}) is not on the map; "
            f"x goes from 0 to {t.WIDTH - 1}, y from 0 to {t.HEIGHT - 1}"
        )
    return t.spot(int(x), int(y))


def monsters(tracker: Tracker) -> set[int]:
    """Squares that paths avoid: those of peaceful monsters, and of all if they are to be avoided."""
    seen = tracker.player.world.monsters
    return {each.place for each in seen if not each.tame and (tracker.avoiding or each.peaceful)}


def ways(tracker: Tracker) -> Ways:
    """Distances from here."""
    player = tracker.player
    return Ways(player.level, player.here, monsters(tracker) - {player.here})


def press(player: SkillPlayer, *pressed: int) -> Keys:
    """Press keys that must not bring up a popup."""
    for key in pressed:
        yield from player.press(key)
        no_popup(player.screen)


def bump(tracker: Tracker, place: int) -> Skill:
    """Walk against a neighbouring square; a monster there is hit, after a question if it is peaceful."""
    player = tracker.player
    here, level = player.here, player.level
    player.tried = place
    player.heard.clear()
    enemy = player.world.monster_at(place)
    yield from player.press(t.heading(here, place))
    if enemy is not None and "Really attack" in player.screen.question:
        enemy.peaceful = True
    no_popup(player.screen)
    if player.here != here or player.level is not level:
        return "moved"
    return "hit" if enemy is not None and not enemy.tame else "stayed"


def hit(tracker: Tracker, place: int) -> Skill:
    """Fight towards a neighbouring square; the game does not ask, so peaceful monsters are hit, too."""
    player = tracker.player
    player.heard.clear()
    yield from press(player, keys.FIGHT, t.heading(player.here, place))
    return "hit"


def walk(tracker: Tracker, goals: Collection[int]) -> Skill:
    """Go to the nearest of these squares; what is in the way is hit, unless monsters are avoided."""
    player, level = tracker.player, tracker.player.level
    wanted, refused, stuck = frozenset(goals), Counter[tuple[int, int]](), 0
    while player.here not in wanted:
        way = _way(tracker, wanted)
        if way is None:
            raise ProgramFailed(f"no way leads there{_blocked(tracker)}")
        here = player.here
        done = yield from bump(tracker, way[0])
        if player.level is not level:
            return "on another level"
        stuck = stuck + 1 if done == "stayed" else 0
        refused[here, way[0]] += done == "stayed"
        if refused[here, way[0]] >= _REFUSALS:
            level.refuse(here, way[0])
        if stuck >= _PATIENCE:
            raise ProgramFailed(f"the way is blocked at {position(way[0])}{_last(player)}")
    return "arrived"


def _way(tracker: Tracker, wanted: Collection[int]) -> list[int] | None:
    """The shortest path to a wanted square; a trap is entered only if it is wanted itself."""
    level, here = tracker.player.level, tracker.player.here
    way = first(level, here, wanted.__contains__, monsters(tracker))
    if way is not None:
        return way
    beside = {near: place for place in wanted if level.terrain[place] in t.TRAPS for near in t.NEAR[place]}
    if here in beside:
        return [beside[here]]
    way = first(level, here, beside.__contains__, monsters(tracker))
    return None if way is None else [*way, beside[way[-1]]]


def _blocked(tracker: Tracker) -> str:
    return " round the monsters" if monsters(tracker) else ""


def _last(player: SkillPlayer) -> str:
    """The last message of the game, if any."""
    return f": {player.heard[-1]}" if player.heard else ""


def move_to(tracker: Tracker, x: int, y: int) -> Skill:
    """Go to a position; one that cannot be entered is walked against once."""
    place, player = square(x, y), tracker.player
    if place == player.here:
        return f"you are at {position(place)} already"
    found = ways(tracker)
    if found.steps[place] >= 0 and player.world.monster_at(place) is None:
        done = yield from walk(tracker, [place])
        return f"arrived at {position(place)}" if done == "arrived" else done
    beside = _beside(tracker, place, found)
    if beside is None:
        raise ProgramFailed(f"no way leads to {position(place)}")
    yield from walk(tracker, [beside])
    yield from bump(tracker, place)
    if player.here == place:
        return f"arrived at {position(place)}"
    return f"walked against what is at {position(place)}"


def _beside(tracker: Tracker, place: int, found: Ways) -> int | None:
    """The nearest square from which another one can be walked against."""
    return found.nearest(t.NEAR[place])


def go_to(tracker: Tracker, room_id: int) -> Skill:
    """Go to the nearest square of a room or corridor."""
    rooms = tracker.rooms
    if not rooms.known(room_id):
        raise ProgramFailed(f"there is no room or corridor with number {room_id}")
    if rooms.root(room_id) in rooms.around(tracker.player.here):
        return f"you are in {rooms.word(rooms.root(room_id))} already"
    taken = {monster.place for monster in tracker.player.world.monsters}
    goals = [place for place in rooms.squares(room_id) if place not in taken]
    done = yield from walk(tracker, goals)
    return f"arrived in {rooms.word(rooms.root(room_id))}" if done == "arrived" else done


def melee_attack(tracker: Tracker, x: int, y: int) -> Skill:
    """Pursue the monster at a position, and hit it until it is gone."""
    player, level = tracker.player, tracker.player.level
    place = square(x, y)
    target = player.world.monster_at(place)
    if target is None:
        raise ProgramFailed(f"there is no monster at {position(place)}")
    name = target.species.name if target.species else "unseen monster"
    stuck = 0
    while player.level is level and (target := _again(player, target)) is not None:
        if t.distance(player.here, target.place) == 1:
            yield from hit(tracker, target.place)
            continue
        way = first(level, player.here, t.NEAR[target.place].__contains__, _others(player, target))
        if way is None:
            raise ProgramFailed(f"no way leads to the {name}")
        done = yield from bump(tracker, way[0])
        stuck = stuck + 1 if done == "stayed" else 0
        if stuck >= _PATIENCE:
            raise ProgramFailed(f"the way is blocked at {position(way[0])}{_last(player)}")
    return f"the {name} is gone"


def _others(player: SkillPlayer, target: Monster) -> set[int]:
    return {monster.place for monster in player.world.monsters} - {target.place}


def _again(player: SkillPlayer, target: Monster) -> Monster | None:
    """The monster's current position: its own, or that of the nearest of its kind."""
    seen = player.world.monsters
    if any(monster is target for monster in seen):
        return target
    like = [monster for monster in seen if monster.species is target.species and not monster.tame]
    near = [monster for monster in like if t.distance(monster.place, target.place) <= 1]
    return min(near, key=lambda monster: monster.place, default=None)


def way_beside(tracker: Tracker, place: int) -> list[int] | None:
    """The path to the nearest square beside another one, around all monsters."""
    player = tracker.player
    taken = {monster.place for monster in player.world.monsters}
    return first(player.level, player.here, t.NEAR[place].__contains__, taken)


def nearest_beside(tracker: Tracker, place: int) -> Skill:
    """Go to the nearest square beside another one."""
    if t.distance(tracker.player.here, place) == 1:
        return "there"
    beside: Sequence[int] = [near for near in t.NEAR[place] if near != tracker.player.here]
    if ways(tracker).nearest(beside) is None:
        raise ProgramFailed(f"no way leads next to {position(place)}")
    return (yield from walk(tracker, beside))
