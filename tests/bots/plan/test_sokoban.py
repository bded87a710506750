"""`sokoban_step` on NetHack's own Sokoban maps and on MiniHack's."""

import pytest

from balrog_rag.bots.nethack.plan.sokoban_solutions import MAPS, next_steps
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.envs.nethack.world import terrain as t
from tests.bots.netplay.made import Played
from tests.bots.plan.made_plan import planned
from tests.knowledge.sokoban import CORNERS, STEPS, Place, levels, solutions
from tests.knowledge.test_sokoban import described

MOST_CALLS = 60


def on_screen(name: str, places: frozenset[Place]) -> frozenset[int]:
    left, top = CORNERS[name]
    return frozenset(t.spot(x + left, y + top - 1) for x, y in places)


@pytest.mark.parametrize("name", sorted(CORNERS))
def test_the_solutions_are_those_of_the_guide(name: str) -> None:
    level = levels()[name]
    boulders, holes = on_screen(name, level.boulders), on_screen(name, level.holes)
    moves = {way: right + down * t.WIDTH for way, (right, down) in STEPS.items()}
    wanted = [(t.spot(x, y - 1), [moves[way] for way in pushes]) for (x, y), pushes in solutions()[name]]
    assert list(MAPS[name].steps()) == wanted
    assert wanted[0] in next_steps(boulders, holes)
    # After its first push the rest of the step is next; a boulder that stands elsewhere is none of the way.
    place, (move, *rest) = wanted[0]
    after = next_steps(boulders - {place} | {place + move}, holes)
    assert ((place + move, rest) if rest else wanted[1]) in after
    assert next_steps(boulders - {place}, holes) == []


def solve(game: Played) -> list[str]:
    """Call the skill until the level is solved, and eat in between; return what it said."""
    said = []
    for _ in range(MOST_CALLS):
        said.append(game.do("sokoban_step"))
        if "Hungry" in said[-1]:
            game.do("eat")
        elif not said[-1].startswith("pushed") or game.last.ended:
            break
    return said


@pytest.mark.parametrize(
    "name",
    ["soko4-1", *(pytest.param(name, marks=pytest.mark.slow) for name in sorted({*CORNERS} - {"soko4-1"}))],
)
def test_every_hole_is_filled(name: str) -> None:
    game = planned("", "arc-dwa-law-fem", des_file=described(levels()[name]))
    assert "open: 0 holes" in solve(game)[-2]


@pytest.mark.slow
@pytest.mark.parametrize("name", [f"{number}{letter}" for number in (1, 2, 3, 4) for letter in "ab"])
def test_minihacks_levels_are_solved(name: str) -> None:
    options = {"actions": "plan", "no_progress_calls": 0, "no_progress": 0}
    game = Played(GameSpec("minihack", f"MiniHack-Sokoban{name}-v1", Seeds(1, 1), 2000, options))
    assert "open: 0 holes" in solve(game)[-2]
