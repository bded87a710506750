"""Run one skill of a plan: leave no question open, stop at events, and report what happened."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from balrog_rag.bots.nethack.plan.plan_events import PlanEvent, Watch
from balrog_rag.bots.nethack.plan.plan_game import STOP, PlanGame, game_of
from balrog_rag.bots.nethack.skills import fighting
from balrog_rag.contracts.data import Parameter
from balrog_rag.contracts.programs import Begin, Program, ProgramFailed, ProgramKind
from balrog_rag.envs.nethack import WHOLE
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world.player import Player, Skill
from balrog_rag.envs.nethack.world.popups import waits

GAMES = (*WHOLE, "minihack")
_MOST_KEYS = 9_000
"""Keys of one call, fewer than those after which the harness stops a program with its questions open."""
_GRACE = 400
"""Keys after an event within which a bot comes to the end of its move."""
_EVENTS_KEPT = 15
"""Lines about what came into view that are kept of one call: a bot sees hundreds of things."""

Body = Callable[..., Skill]
"""A skill: a function of the game and the call's arguments by name."""


@dataclass(frozen=True)
class SkillRules:
    """What interrupts a skill, and how long it may last."""

    stops: Collection[str]
    turns: int = 300
    answers: bool = False
    """Whether it answers questions: then none is closed before or after it."""
    asks: bool = False
    """Whether it asks by itself whether it should stop (`PlanGame.stop`), and then does."""


def plan_skill(
    body: Body, rules: SkillRules, says: str, *parameters: Parameter, name: str = ""
) -> ProgramKind:
    """Make an action of a skill."""

    def make(begin: Begin) -> Program:
        game = game_of(begin.screen)
        return run_skill(game, lambda: body(game, **begin.arguments), rules)

    # Events are this module's own: the harness's would interrupt between the keys of one command.
    return ProgramKind(
        name=name or body.__name__,
        make=make,
        says=says,
        parameters=parameters,
        games=GAMES,
        interruptible=False,
    )


def run_skill(game: PlanGame, begin: Callable[[], Skill], rules: SkillRules) -> Skill:
    """Run a skill and return its report; a refusal or failure is raised as ProgramFailed."""
    player = game.player
    if not rules.answers:
        yield from settle(player)
    player.heard.clear()
    watch = Watch(game, rules.stops, rules.turns, game.tracker.stop_for_things)
    failed = ""
    game.kept[STOP] = ""
    try:
        told = yield from _guarded(game, begin(), watch, _GRACE if rules.asks else 0)
    except ProgramFailed as failure:
        told = failed = str(failure)
    if not rules.answers:
        yield from settle(player)
    del game.tracker.happened[:-_EVENTS_KEPT]
    report = f"{told}{_cost(player, watch)}"
    if failed:
        raise ProgramFailed(report)
    return report


def settle(player: Player) -> Skill:
    """Close what is open; the questions of the game that nobody asked for cost no call."""
    yield from player.close()
    return "settled"


def _cost(player: Player, watch: Watch) -> str:
    """What the call cost: turns and hit points."""
    body = player.body
    hp = f", HP {watch.begun_hp} to {body.hp}" if body.hp != watch.begun_hp else ""
    return f" ({watch.turns} turn{'' if watch.turns == 1 else 's'}{hp})" if watch.turns or hp else ""


def _guarded(game: PlanGame, body: Skill, watch: Watch, grace: int) -> Skill:
    """Pass the keys of a skill on until it ends or something happens.

    A skill learns from the screen after a key only when it is resumed, so it is resumed once more before it
    is stopped: its next key is then not pressed. That would break a bot's memory, which notes a prayer before
    it is said, so a bot is asked to stop, and has a number of keys (`grace`) for it.
    """
    player, came, pressed, left = game.player, None, 0, grace
    try:
        key = next(body)
        while True:
            arrays: Any = yield key
            pressed += 1
            event = watch.see()
            came = came or event
            if came is not None and left > 0:
                game.kept[STOP], left = came.text, left - 1
                key = body.send(arrays)
                continue
            key = body.send(arrays)
            if came is None and pressed < _MOST_KEYS:
                continue
            if waits(player.screen):  # in the middle of a command
                continue
            if came is None:
                return f"it had pressed {pressed:,} keys"
            if not (yield from _peaceful(player, came)):
                return f"interrupted by {came.kind}: {came.text}"
            came = None
    except StopIteration as stop:
        told = str(stop.value or "done")
        if came is None:
            return told
        happened = f"{came.kind}: {came.text}"
        return f"interrupted by {happened}; {told}" if game.kept[STOP] else f"{told}; {happened}"
    finally:
        body.close()


def _peaceful(player: Player, event: PlanEvent) -> Any:
    """Look at a monster that came into view, which takes no time; return whether it is peaceful."""
    monster = event.monster
    if monster is None or player.body.condition & w.HALLUCINATING or monster not in player.world.monsters:
        return False
    yield from fighting.make_sure(player, [monster])
    return not monster.hostile
