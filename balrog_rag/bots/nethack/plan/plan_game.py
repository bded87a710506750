"""A game as the skills of a plan see it: the player that bots share, the tracker, and what bots remember."""

import re
from dataclasses import dataclass
from typing import Any

from balrog_rag.bots.nethack.delver.state import Bot, Plan
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.names import position
from balrog_rag.envs.nethack.world.player import Player
from balrog_rag.envs.nethack.world.tracker import TrackedScreen, Tracker

_BOT, STOP = "bot", "stop"
"""Names under which a game keeps the bot that its skills share, and why a skill should stop."""
_LONGEST = 200
_QUESTION = re.compile(r"\? \[|\?$|^In what direction")


@dataclass(frozen=True)
class PlanGame:
    """What every skill of a plan is given."""

    player: Player
    tracker: Tracker
    kept: dict[str, Any]
    """What skills remember between calls of one game."""

    def bot(self) -> Bot:
        """The delver that plays for skills; it remembers between calls, as it does when it plays alone."""
        bot = self.kept.get(_BOT)
        if bot is None:
            bot = self.kept[_BOT] = Bot(self.player, Plan())
        assert isinstance(bot, Bot)
        return bot

    @property
    def stop(self) -> bool:
        """Whether something happened for which a skill that asks should stop."""
        return bool(self.kept.get(STOP))

    @property
    def level(self) -> Level:
        """The level of the player."""
        return self.player.level


def game_of(screen: Any) -> PlanGame:
    """The game that shows this screen."""
    assert isinstance(screen, TrackedScreen), "these skills are offered with env.actions=plan alone"
    return PlanGame(screen.memory.player(), screen.tracker, screen.memory.kept)


def said(player: Player) -> str:
    """What the game said last since the command began, without its questions, in one line."""
    told = ""
    for text in reversed(player.heard):
        if told and len(text) + len(told) > _LONGEST:
            break
        if not _QUESTION.search(text):
            told = f"{text} {told}"
    return told[:_LONGEST].strip()


def monster_words(player: Player, monster: Monster) -> str:
    """Format as `jackal at (12, 4), 3 squares away`."""
    name = monster.species.name if monster.species else "unseen monster"
    far = t.distance(monster.place, player.here)
    return f"{name} at {position(monster.place)}, {far} square{'' if far == 1 else 's'} away"
