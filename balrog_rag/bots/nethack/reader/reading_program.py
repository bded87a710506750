"""The action `follow_rules`: the delver plays on for one move with the rules that are shown."""

from typing import Any

from balrog_rag.bots.nethack.delver.rules import play
from balrog_rag.bots.nethack.delver.state import Bot, Plan
from balrog_rag.bots.nethack.reader.shown_rules import RULES, ShownRules
from balrog_rag.contracts.programs import Begin, Program, ProgramFailed
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.player import Player
from balrog_rag.envs.nethack.world.shared_player import SharedScreen, player_of

NAME = "follow_rules"
ALL, NONE = "all", "none"
"""Rules to follow: every one, or none."""


class ReadingBot:
    """The delver between two calls: its generator stays suspended after the last key."""

    def __init__(self, player: Player) -> None:
        self.rules = ShownRules()
        self._bot = Bot(player, Plan(on=self.rules))
        self._keys = play(self._bot)
        self._begun = False

    @property
    def moment(self) -> tuple[int, Level, int]:
        """The turn and the hero's place: a fast hero moves more than once a turn."""
        player = self._bot.player
        return player.body.turn, player.level, player.here

    def next_key(self, screen: Any) -> int:
        """Return the key to press after this screen."""
        if self._begun:
            return self._keys.send(screen)
        self._begun = True
        return next(self._keys)


def follow_rules(begin: Begin) -> Program:
    """Play until the hero has moved or a turn has passed."""
    shown = named(str(begin.arguments["rules"]))
    assert isinstance(begin.screen, SharedScreen)
    kept = begin.screen.memory.kept
    if NAME not in kept:
        kept[NAME] = ReadingBot(player_of(begin.screen))
    bot: ReadingBot = kept[NAME]
    bot.rules.show(shown)
    moment, screen = bot.moment, begin.screen
    while bot.moment == moment:
        try:
            key = bot.next_key(screen)
        except StopIteration as stop:
            return str(stop.value)
        screen = yield key
    return "moved"


def named(text: str) -> frozenset[str]:
    """Parse the rules of a call: names with spaces between, `all` or `none`."""
    if text in (ALL, NONE):
        return frozenset(RULES if text == ALL else ())
    names = frozenset(text.split())
    if unknown := sorted(names.difference(RULES)):
        raise ProgramFailed(f"{unknown[0]!r} is not a withheld rule")
    return names
