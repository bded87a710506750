"""Measure where ways on are hidden, and how many turns the search for them takes.

    python benchmarks/searches.py [--games 60] [--seed 311900]

The delver plays until it first searches each of the levels 1 to 4. There the true map is read from the
engine's memory, which no player can do. The first table has the frequency of hidden ways to places not yet
seen, by the chance that `exploring.Hopes` gives a square. Then the search is played on paper: where `Hopes`
sends a searcher, for how many turns of walking and searching, until a way on is found.
"""

import argparse
import copy
import ctypes
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing import get_context
from statistics import mean

from bots import spec

from balrog_rag.bots.nethack.delver import delver
from balrog_rag.bots.nethack.delver.state import Plan
from balrog_rag.bots.nethack.skills import exploring
from balrog_rag.bots.nethack.skills.moving import Alarm, never, occupied
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.game import NetHackEngine
from balrog_rag.envs.nethack.game_end import read_symbol
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Level, Place
from balrog_rag.envs.nethack.world.player import MAIN, Player, Skill
from balrog_rag.envs.nethack.world.routes import Ways

DEEPEST, LONGEST, TURNS = 4, 3500, 2500
"""The last level looked at, the turn at which a game is ended, and the turns of a search on paper."""
MARKS = (100, 200, 400, 800, 1600)
HIDDEN, FIRST_OPEN, ROOM = (14, 15), 22, 24
"""NetHack's `typ` (rm.h) of what is hidden, of doors and all else that one can walk on, and of floors."""
ENOUGH = 4
"""Squares of rooms not seen before that make a hidden way worth finding: a niche has none."""


class Square(ctypes.Structure):
    """NetHack's `struct rm`."""

    _fields_ = (
        ("glyph", ctypes.c_int),
        ("typ", ctypes.c_byte),
        ("seen", ctypes.c_ubyte),
        ("flags", ctypes.c_ushort),
    )


@dataclass
class Case:
    """A level as the player knew it when it began to search, and what was there."""

    level: Level
    here: int
    truth: list[int]
    """NetHack's `typ` of each square."""

    @cached_property
    def ways(self) -> Ways:
        return Ways(self.level, self.here)

    @cached_property
    def worth_finding(self) -> set[int]:
        """The hidden squares within reach of a search that lead to places not yet seen."""
        steps = self.ways.steps
        beside = {near for place, far in enumerate(steps) if far >= 0 for near in t.NEAR[place]}
        return {place for place in beside if self.truth[place] in HIDDEN and self._new_rooms(place, steps)}

    def _new_rooms(self, hidden: int, steps: list[int]) -> bool:
        seen, edge = {hidden}, deque([hidden])
        while edge:
            for near in t.BESIDE[edge.popleft()]:
                if near not in seen and steps[near] < 0 and self._open(near):
                    seen.add(near)
                    edge.append(near)
        new = (place for place in seen if self.truth[place] >= ROOM)
        return sum(self.level.terrain[place] == t.UNKNOWN for place in new) >= ENOUGH

    def _open(self, place: int) -> bool:
        return self.truth[place] in HIDDEN or self.truth[place] >= FIRST_OPEN


class Kinds(exploring.Hopes):
    """The chance by kind of each square where something may be hidden, before any search."""

    def __init__(self, level: Level, ways: Ways) -> None:
        self.kinds: dict[int, float] = {}
        super().__init__(level, ways)

    def _note(self, place: int, chance: float) -> None:
        self.kinds[place] = max(chance, self.kinds.get(place, 0.0))


def true_map(engine: NetHackEngine) -> list[int]:
    """Read the `typ` of each square of this level from the engine's memory."""
    columns = read_symbol(engine._game, "level", (Square * t.HEIGHT) * (t.WIDTH + 1))
    return [columns[x + 1][y].typ for y in range(t.HEIGHT) for x in range(t.WIDTH)]


def cases_of(number: int, seed: int) -> list[Case]:
    """Play one game up to its searches."""
    engine = NetHackEngine(spec(seed, number, "@"), None)
    engine.start()
    found: dict[Place, Case] = {}
    search = exploring.search_for_exits

    def noted(player: Player, alarm: Alarm = never) -> Skill:
        place = player.level.place
        if place.branch == MAIN and place.level <= DEEPEST and place not in found:
            level = copy.deepcopy(player.level)
            level.forbid(occupied(player))
            found[place] = Case(level, player.here, true_map(engine))
        return (yield from search(player, alarm))

    exploring.search_for_exits = noted
    program = delver(engine.arrays, Plan())
    key = next(program)
    while not engine.press(key).ended and int(engine.arrays["blstats"][20]) < LONGEST:
        key = program.send(engine.arrays)
    engine.close()
    exploring.search_for_exits = search
    return list(found.values())


def searched_on_paper(case: Case) -> Iterator[tuple[int, float]]:
    """Yield the turn and the chance that a way on was found by then."""
    level, here, missed, turn = copy.deepcopy(case.level), case.here, 1.0, 0
    while turn < TURNS and missed > 0.001:
        ways = Ways(level, here)
        best = exploring.Hopes(level, ways).best()
        assert best is not None
        turn, here = turn + ways.steps[best], best
        for _ in range(TUNING.search_at_once):
            turn += 1
            missed *= TUNING.search_missed ** len(case.worth_finding.intersection(t.NEAR[here]))
            yield turn, 1 - missed
        level.note_search(here, TUNING.search_at_once)


def turns_to_find(course: list[tuple[int, float]]) -> float:
    """The expected turn of success; what is not found by the last turn counts as that turn."""
    expected, before = 0.0, 0.0
    for turn, found in course:
        expected += (found - before) * turn
        before = found
    return expected + (1 - before) * course[-1][0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--seed", type=int, default=311900)
    given = parser.parse_args()
    with get_context("spawn").Pool(2) as pool:
        played = pool.imap(partial(cases_of, seed=given.seed), range(given.games))
        cases = [case for found in played for case in found]
    squares, ways_on = Counter[float](), Counter[float]()
    for case in cases:
        for place, chance in Kinds(case.level, case.ways).kinds.items():
            squares[chance] += 1
            ways_on[chance] += place in case.worth_finding
    print(f"{given.games} games, {len(cases)} first searches")
    for chance, number in squares.most_common():
        hits = ways_on[chance]
        print(f"chance {chance:<6} {number:6} squares, {hits:3} ways on: {hits / number:.4f}")
    courses = [list(searched_on_paper(case)) for case in cases if case.worth_finding]
    if courses:
        tell(courses)


def tell(courses: list[list[tuple[int, float]]]) -> None:
    """Print how long the searches take that have something to find."""
    print(f"{len(courses)} with something to find: {mean(map(turns_to_find, courses)):.0f} turns on average")
    for mark in MARKS:
        by_then = [max((chance for turn, chance in each if turn <= mark), default=0) for each in courses]
        print(f"found within {mark:4} turns: {mean(by_then):.3f}")


if __name__ == "__main__":
    main()
