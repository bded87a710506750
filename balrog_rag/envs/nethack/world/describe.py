"""Describe a moment in NetPlay's words: the player, rooms, monsters, and what is left to explore."""

from collections.abc import Iterable, Sequence

from balrog_rag.contracts.data import Part
from balrog_rag.envs.nethack.language import text_blstats
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.names import FEATURES, name_of, position
from balrog_rag.envs.nethack.world.popups import popup
from balrog_rag.envs.nethack.world.rooms import Rooms
from balrog_rag.envs.nethack.world.routes import Ways
from balrog_rag.envs.nethack.world.tracker import Tracker

CLOSE = 10
"""Steps within which a monster is close."""
_NO_EXIT = "Nothing is left to explore, but there may be hidden doors and passages."


def parts(tracker: Tracker, plan: bool = False) -> tuple[Part, ...]:
    """The parts of an observation beyond NetHack's own screen.

    The skills of a plan need no flag for their paths, and close what is open by themselves, so an open
    question is none that must be answered first.
    """
    player = tracker.player
    level, monsters = player.level, player.world.monsters
    ways = Ways(level, player.here, {monster.place for monster in monsters} - {player.here})
    reach = Reach(ways)
    close, distant = _monsters(tracker, reach)
    events = "\n".join(each.text for each in tracker.take_events())
    shown: list[tuple[str, str]] = [
        ("you", _you(tracker, flag=not plan)),
        ("rooms", "\n".join(_rooms(tracker.rooms, level, player.here, reach))),
        ("close monsters", "\n".join(close)),
        ("distant monsters", "\n".join(distant)),
        ("exploration", "\n".join(_exploration(tracker, ways)) or _NO_EXIT),
        ("open question" if plan else "popup", popup(player.screen)),
    ]
    said = [Part(name, text, "now") for name, text in shown if text]
    return (
        *([Part("events", events)] if events else []),
        *said,
        Part("statistics", text_blstats(player.screen.blstats), "never"),
    )


class Reach:
    """Distances of squares, in words."""

    def __init__(self, ways: Ways) -> None:
        """`ways` leads around monsters."""
        self._steps = ways.steps

    def steps(self, place: int) -> int:
        """Steps to a square, or to its nearest neighbour if it cannot be entered; -1 if there is no path."""
        steps = self._steps[place]
        if steps >= 0:
            return steps
        near = [self._steps[beside] for beside in t.NEAR[place] if self._steps[beside] >= 0]
        return min(near) + 1 if near else -1

    def words(self, place: int) -> str:
        """Format as `reachable in 3 steps`, or state that no path is known."""
        return _in_steps(self.steps(place))


def _in_steps(steps: int) -> str:
    if steps < 0:
        return "currently unreachable"
    return f"reachable in {steps} step{'' if steps == 1 else 's'}"


def _you(tracker: Tracker, flag: bool) -> str:
    prayed = tracker.prayed
    prayer = (
        "You have not prayed yet." if prayed is None else f"You prayed {tracker.turn - prayed} turns ago."
    )
    avoiding = f"avoid_monster is {'true' if tracker.avoiding else 'false'}.\n" if flag else ""
    return f"You are at {position(tracker.player.here)}.\n{avoiding}{prayer}"


def _things(level: Level) -> dict[int, list[str]]:
    """The things worth naming on each square: objects first, then the ground."""
    found: dict[int, list[str]] = {}
    for place, glyph in level.objects.items():
        if name := name_of(glyph):
            found[place] = [name]
    for place, code in enumerate(level.terrain):
        if code in FEATURES:
            found.setdefault(place, []).append(FEATURES[code])
    return found


def _rooms(rooms: Rooms, level: Level, here: int, reach: Reach) -> Iterable[str]:
    """One paragraph per room and corridor, that of the player first."""
    within: dict[int, list[str]] = {}
    nearest: dict[int, int] = {}
    for place in range(t.SIZE):
        if (number := rooms.number(place)) >= 0:
            within.setdefault(number, [])
            steps = reach.steps(place)
            if steps >= 0 and steps < nearest.get(number, t.SIZE):
                nearest[number] = steps
    for place, names in sorted(_things(level).items()):
        line = f"- {' and '.join(names)} at {position(place)}, {reach.words(place)}"
        for number in rooms.around(place):
            within[number].append(line)
    own = rooms.around(here)
    for number in sorted(within, key=lambda number: (number not in own, nearest.get(number, t.SIZE), number)):
        name = rooms.word(number)
        far = _in_steps(nearest.get(number, -1))
        yield f"You are in {name}. It contains:" if number in own else f"{name}, {far}, contains:"
        yield from within[number] or ["- no objects or features"]


def _monsters(tracker: Tracker, reach: Reach) -> tuple[list[str], list[str]]:
    """Lines on the close monsters, and on the others."""
    close, distant = [], []
    here = tracker.player.here
    seen = [(reach.steps(monster.place), monster) for monster in tracker.player.world.monsters]
    for steps, monster in sorted(seen, key=lambda each: (each[0] < 0, each[0], each[1].place)):
        line = f"- {_name(monster)} at {position(monster.place)}"
        if 0 <= steps <= CLOSE:
            plural = "" if steps == 1 else "s"
            close.append(f"{line}, {steps} step{plural} {compass(here, monster.place)}")
        else:
            distant.append(f"{line}, {_in_steps(steps)}")
    return close, distant


def _name(monster: Monster) -> str:
    name = monster.species.name if monster.species else "unseen monster"
    return f"tame {name}" if monster.tame else name


def compass(start: int, end: int) -> str:
    """The direction of one square from another, one of eight."""
    dx, dy = end % t.WIDTH - start % t.WIDTH, end // t.WIDTH - start // t.WIDTH
    down = "" if 2 * abs(dy) < abs(dx) else ("north" if dy < 0 else "south")
    across = "" if 2 * abs(dx) < abs(dy) else ("west" if dx < 0 else "east")
    return "-".join(filter(None, (down, across if dx else "")))


def _exploration(tracker: Tracker, ways: Ways) -> Iterable[str]:
    """Where something is left to explore, and what blocks the way."""
    rooms, level = tracker.rooms, tracker.player.level
    reached = [place for place, steps in enumerate(ways.steps) if steps >= 0]
    numbers = {number for place in reached if level.is_frontier(place) for number in rooms.around(place)}
    for number in sorted(numbers):
        yield f"{rooms.word(number)} can be explored further."
    for place in sorted(level.boulders):
        if beside := _reached_rooms(rooms, ways, place):
            yield f"A boulder at {position(place)} blocks the way in {rooms.word(beside[0])}."
    for place in level.spots(t.CLOSED_DOORS):
        if beside := _reached_rooms(rooms, ways, place):
            yield f"A closed door at {position(place)} leads out of {rooms.word(beside[0])}."


def _reached_rooms(rooms: Rooms, ways: Ways, place: int) -> Sequence[int]:
    """The numbers of the places on the reachable side of a square."""
    near = [beside for beside in t.NEAR[place] if ways.steps[beside] >= 0]
    nearest = min(near, key=ways.steps.__getitem__, default=None)
    return rooms.around(nearest) if nearest is not None else []
