"""What the player of MiniHack knows, and how it moves: every key costs one of a task's 100 steps."""

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from balrog_rag.contracts.data import TaskView
from balrog_rag.envs.nethack.actions import NETHACK_WORDS
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.player import Player
from balrog_rag.envs.nethack.world.refusals import Act, Refusal
from balrog_rag.envs.nethack.world.routes import Ways

Acted: TypeAlias = Generator[int, Any, bool]
"""Presses keys, and returns whether there was anything to do."""

_ANSWERS = 8
_MOVES = tuple(map(ord, t.HEADINGS.values()))
_REMEMBERED = 6
"""Turns for which an enemy out of sight is reckoned with."""
_BUMPS = 3
"""Rejected steps onto a square after which it counts as blocked."""


def actions_by_key(view: TaskView) -> dict[int, str]:
    """The task's accepted actions, by the key that each presses."""
    answers = {ord(name): name for name in sorted(view.accepted) if len(name) == 1}
    words = {word.key: name for name, word in NETHACK_WORDS.items() if name in view.accepted}
    return answers | words


@dataclass
class Hero:
    """The player's knowledge beyond the screen."""

    player: Player
    keys: Collection[int]
    """The keys that the task accepts."""
    tried: set[int] = field(default_factory=set)
    """Squares on which picking up was tried."""
    piles: set[int] = field(default_factory=set)
    """Squares with several things."""
    empty: set[str] = field(default_factory=set)
    """Letters of instruments that no longer work."""
    waits: int = 0
    met: dict[int, int] = field(default_factory=dict)
    """When each enemy was last in sight, by its number."""

    def crowd(self) -> int:
        """How many enemies were in sight not long ago."""
        turn = self.player.body.turn
        self.met |= {enemy.number: turn for enemy in self.player.hostiles()}
        return sum(turn - seen <= _REMEMBERED for seen in self.met.values())

    def can(self, *wanted: int) -> bool:
        """Whether the task accepts all of these keys."""
        return all(key in self.keys for key in wanted)

    def press(self, *pressed: int) -> Acted:
        """Press keys one after another, turning pages; stop when a key is not accepted."""
        self.player.heard.clear()
        for key in pressed:
            if key not in self.keys:
                return False
            yield from self.player.press(key)
        return True

    def leave_question(self) -> Acted:
        """Close what is open, with a key that the task accepts."""
        screen = self.player.screen
        if not (screen.asks or screen.asks_text or screen.menu):
            return False
        escape = next((key for key in (keys.ESC, keys.ENTER, keys.NO) if key in self.keys), _MOVES[0])
        for _ in range(_ANSWERS):
            yield from self.player.press(escape)
            screen = self.player.screen
            if not (screen.asks or screen.asks_text or screen.menu):
                break
        return True

    def pass_time(self) -> Acted:
        """Search, or step to and fro where a task has no such action."""
        self.waits += 1
        if self.can(keys.SEARCH):
            return (yield from self.press(keys.SEARCH))
        free = [place for place in self.player.level.steps(self.player.here) if not self.monster_at(place)]
        if free:
            return (yield from step(self, free[self.waits % len(free)]))
        return (yield from self.press(_MOVES[self.waits % len(_MOVES)]))

    def monster_at(self, place: int) -> Monster | None:
        """The monster shown at a square."""
        return self.player.world.monster_at(place)

    def ways(self) -> Ways:
        """Paths around monsters that are not next to us, since others move on."""
        return Ways(self.player.level, self.player.here, self.obstacles())

    def obstacles(self) -> set[int]:
        """Squares of monsters."""
        return {monster.place for monster in self.player.world.monsters}


def step(hero: Hero, place: int) -> Acted:
    """Step to a neighbouring square, which opens a closed door; kick a locked one."""
    player = hero.player
    here, level = player.here, player.level
    key = t.heading(here, place)
    if player.refusals[Refusal(Act.LOCKED, place)] and hero.can(keys.KICK, key):
        return (yield from hero.press(keys.KICK, key))
    yield from hero.press(key)
    if player.said("This door is locked"):
        player.refusals[Refusal(Act.LOCKED, place)] += 1
    elif player.here == here and level.terrain[place] not in t.CLOSED_DOORS and not hero.monster_at(place):
        name = Refusal(Act.STEP, (here, place))
        player.refusals[name] += 1
        if player.refusals[name] >= _BUMPS:
            level.refuse(here, place)
    return True


def walk(hero: Hero, way: Sequence[int]) -> Acted:
    """Make the first step of a path."""
    return bool(way) and (yield from step(hero, way[0]))
