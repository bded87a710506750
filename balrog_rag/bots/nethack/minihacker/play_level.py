"""The rules of the player in their order; the first that applies is followed."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from balrog_rag.bots.nethack.minihacker import boxes, cold, fights
from balrog_rag.bots.nethack.minihacker.hero import Acted, Hero, actions_by_key, walk
from balrog_rag.contracts.data import TaskView
from balrog_rag.contracts.programs import Program
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.player import Player, Skill
from balrog_rag.envs.nethack.world.routes import Ways

Rule: TypeAlias = Callable[[Hero], Acted]
"""Presses keys if it applies, and returns whether it did."""

_EDGE = 0.25
"""Steps that an unknown square near the goal of a walk is worth."""


def play(arrays: Mapping[str, Any], view: TaskView) -> Program:
    """Play until the game ends, with actions that the task accepts."""
    actions = actions_by_key(view)
    presses = _play(Hero(Player(arrays), actions), view)
    key = next(presses)
    while True:
        screen = yield actions[key]
        try:
            key = presses.send(screen)
        except StopIteration as stop:
            return str(stop.value)


def _play(hero: Hero, view: TaskView) -> Skill:
    if "Boxoban" in view.task:
        yield from boxes.push(hero)
    while not hero.player.world.over:
        for rule in RULES:
            if (yield from rule(hero)):
                break
        else:
            yield from hero.pass_time()
    return "the game is over"


def close_questions(hero: Hero) -> Acted:
    """Leave a question or menu that nothing here answers."""
    return (yield from hero.leave_question())


def go_to_stairs(hero: Hero) -> Acted:
    """Walk to stairs down that are in sight, which solves most tasks."""
    goal = hero.ways().nearest(hero.player.level.spots(t.DOWN))
    return goal is not None and (yield from walk(hero, hero.ways().to(goal)))


def explore(hero: Hero) -> Acted:
    """Walk towards the nearest square from which something new can be seen."""
    ways = hero.ways()
    best = min(
        (
            (_cost(hero, ways, place), place)
            for place in range(t.SIZE)
            if ways.steps[place] > 0 and hero.player.level.is_frontier(place)
        ),
        default=None,
    )
    return best is not None and (yield from walk(hero, ways.to(best[1])))


def _cost(hero: Hero, ways: Ways, place: int) -> float:
    """Steps to a square, less for squares with much that is unknown around them."""
    return ways.steps[place] - _EDGE * hero.player.level.unknown_near(place)


RULES: tuple[Rule, ...] = (
    close_questions,
    fights.zap_line,
    fights.withdraw,
    fights.strike,
    fights.wait,
    cold.pick_up,
    cold.scatter,
    cold.fetch,
    go_to_stairs,
    cold.cross_lava,
    explore,
    fights.hunt,
)
