"""Explore a level or a room: doors, then unseen squares, then searches for hidden passages."""

from collections import Counter
from collections.abc import Callable, Iterable

from balrog_rag.bots.nethack.netplay.popup_guards import no_popup
from balrog_rag.bots.nethack.netplay.walking import monsters, square, walk, ways
from balrog_rag.bots.nethack.skills.exploring import Hopes
from balrog_rag.contracts.programs import ProgramFailed
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Place
from balrog_rag.envs.nethack.world.names import position
from balrog_rag.envs.nethack.world.player import Skill
from balrog_rag.envs.nethack.world.routes import first
from balrog_rag.envs.nethack.world.tracker import Tracker

_TRIES = 4
"""How often a door is tried."""
_SEARCHES = 5
"""Turns searched at one stop."""

Tried = Counter[tuple[Place, int]]


def closed_beside(tracker: Tracker) -> Iterable[int]:
    """Closed doors next to the player that can be opened from there."""
    level, here = tracker.player.level, tracker.player.here
    return (near for near in t.BESIDE[here] if level.terrain[near] in t.CLOSED_DOORS)


def open_door_beside(tracker: Tracker, door: int) -> Skill:
    """Try once to open a door next to the player."""
    player = tracker.player
    player.tried = door
    player.heard.clear()
    yield from player.press(keys.OPEN)
    if player.screen.asks:
        yield from player.press(t.heading(player.here, door))
    no_popup(player.screen)
    return "opened" if player.level.terrain[door] not in t.CLOSED_DOORS else "closed"


def open_neighbor_doors(tracker: Tracker) -> Skill:
    """Open the closed doors next to the player, each with a few tries."""
    opened = 0
    for door in list(closed_beside(tracker)):
        for _ in range(_TRIES):
            if (yield from open_door_beside(tracker, door)) == "opened":
                opened += 1
                break
            if (tracker.player.world.place, door) in tracker.locked:
                break
    if not opened:
        raise ProgramFailed("there is no closed door next to you that opens")
    return f"opened {opened} door{'s' if opened > 1 else ''}"


def explore_level(tracker: Tracker) -> Skill:
    """Explore, and search when nothing is left to explore, until something comes up."""
    tried: Tried = Counter()
    while True:
        done = yield from explore_once(tracker, tried, lambda place: True)
        if done == "explored":
            yield from search_somewhere(tracker, range(t.SIZE))


def explore_room(tracker: Tracker, room_id: int) -> Skill:
    """See all of one room or corridor."""
    number = _known(tracker, room_id)
    tried: Tried = Counter()
    while True:
        inside = frozenset(tracker.rooms.squares(number))
        if (yield from explore_once(tracker, tried, inside.__contains__, doors=False)) == "explored":
            return f"nothing is left to explore in {tracker.rooms.word(tracker.rooms.root(number))}"


def search_room(tracker: Tracker, room_id: int) -> Skill:
    """Search one room or corridor where hidden things are likeliest."""
    number = _known(tracker, room_id)
    while True:
        yield from search_somewhere(tracker, tracker.rooms.squares(number))


def _known(tracker: Tracker, number: int) -> int:
    if not tracker.rooms.known(number):
        raise ProgramFailed(f"there is no room or corridor with number {number}")
    return number


def explore_once(tracker: Tracker, tried: Tried, inside: Callable[[int], bool], doors: bool = True) -> Skill:
    """Explore one step: try a door, or walk to a square that shows something new."""
    player, level = tracker.player, tracker.player.level
    for door in closed_beside(tracker) if doors else ():
        key = player.world.place, door
        if tried[key] < _TRIES and key not in tracker.locked:
            tried[key] += 1
            return (yield from open_door_beside(tracker, door))
    hopeless = {place for (on, place) in tracker.locked if on == player.world.place}
    hopeless |= {
        place for (on, place), times in tried.items() if on == player.world.place and times >= _TRIES
    }
    blocked = monsters(tracker) | {place for place in hopeless if level.terrain[place] in t.CLOSED_DOORS}

    def wanted(place: int) -> bool:
        return inside(place) and (level.is_frontier(place) or _door_to_open(level.terrain[place]))

    way = first(level, player.here, wanted, blocked)
    if way is None:
        return "explored"
    goal = way[-2] if _door_to_open(level.terrain[way[-1]]) and len(way) > 1 else way[-1]
    yield from _stroll(tracker, goal, blocked)
    return "walked"


def _door_to_open(code: int) -> bool:
    return code in t.CLOSED_DOORS


def _stroll(tracker: Tracker, goal: int, blocked: set[int]) -> Skill:
    """Walk to a square; one that turns out to be unreachable is dropped."""
    try:
        return (yield from walk(tracker, [goal]))
    except ProgramFailed as failed:
        if "blocked" not in str(failed):
            raise
        tracker.player.level.visited[goal] = 1
        return "blocked"


def search_somewhere(tracker: Tracker, places: Iterable[int]) -> Skill:
    """Go to the most promising square for a search, and search."""
    best = Hopes(tracker.player.level, ways(tracker)).best(places)
    if best is None:
        raise ProgramFailed("there is nowhere to search")
    try:
        yield from walk(tracker, [best])
    except ProgramFailed:
        tracker.player.level.note_search(best, 1)  # so that what is never reached is given up
        raise
    yield from search_here(tracker, _SEARCHES)
    return "searched"


def search_here(tracker: Tracker, turns: int) -> Skill:
    """Search for this number of turns, or until disturbed."""
    player = tracker.player
    begun = player.body.turn
    for key in (*map(ord, str(turns)), keys.SEARCH):
        yield from player.press(key)
    no_popup(player.screen)
    player.level.note_search(player.here, max(1, player.body.turn - begun))
    return "searched"


def open_door(tracker: Tracker, x: int, y: int) -> Skill:
    """Go to a door and open it."""
    door, player = square(x, y), tracker.player
    if player.level.terrain[door] not in t.CLOSED_DOORS:
        raise ProgramFailed(f"there is no closed door at {position(door)}")
    yield from walk(tracker, t.BESIDE[door])
    for _ in range(_TRIES):
        if (yield from open_door_beside(tracker, door)) == "opened":
            return f"the door at {position(door)} is open"
    raise ProgramFailed(f"the door at {position(door)} does not open: {' '.join(player.heard)}")
