"""Skills that let the delver play for a while: get a digging tool, dive, or simply play on."""

from collections.abc import Callable, Sequence

from balrog_rag.bots.nethack.delver.journey import journey
from balrog_rag.bots.nethack.delver.rules import FIRST, RULES, Rule, follow, prepare
from balrog_rag.bots.nethack.delver.state import Bot, Did
from balrog_rag.bots.nethack.plan.plan_game import PlanGame
from balrog_rag.bots.nethack.plan.plan_travel import uncover
from balrog_rag.bots.nethack.skills import exploring, gear, moving, stairs, trading
from balrog_rag.contracts.programs import ProgramFailed
from balrog_rag.envs.nethack.world.player import Skill

_PREPARED = "prepared"
"""The name under which a game remembers that the bot has looked at itself."""


def play_on(game: PlanGame, turns: int) -> Skill:
    """Let the delver play for this many turns."""
    begun = game.player.body.turn
    yield from _play(game, RULES, lambda: game.player.body.turn - begun >= turns)
    return f"the last rule followed was {game.bot().why}"


def fetch_digger(game: PlanGame) -> Skill:
    """Let the delver play until a digging tool is carried."""
    player = game.player
    if tool := gear.digger(player):
        return f"you carry one already: {tool.letter} - {tool.text}"
    yield from _play(game, RULES, lambda: gear.digger(player) is not None)
    tool = gear.digger(player)
    if tool is None:
        return "no digging tool yet"
    return f"you carry {tool.letter} - {tool.text} now"


def dive(game: PlanGame, level: int) -> Skill:
    """Go down to a level by digging and by stairs; fight, pray, eat and rest as the delver does."""
    body = game.player.body
    if level <= body.depth:
        raise ProgramFailed(f"Dlvl {level} is not below you; you are on Dlvl {body.depth}")
    yield from _play(game, (*FIRST, _descend), lambda: game.player.body.depth >= level)
    return f"on Dlvl {body.depth} now" if body.depth >= level else f"still on Dlvl {body.depth}"


def _play(game: PlanGame, rules: Sequence[Rule], done: Callable[[], bool]) -> Skill:
    bot = game.bot()
    if not game.kept.get(_PREPARED):
        game.kept[_PREPARED] = True
        yield from prepare(bot)
        yield from trading.autopickup_off(bot.player)
    return (yield from follow(bot, rules, lambda: done() or game.stop))


def _descend(bot: Bot) -> Did:
    """One leg of the way down: as the delver with a digging tool, else by stairs."""
    player = bot.player
    if bot.digger():
        return (yield from journey(bot))
    main = player.world.place.branch == stairs.MAIN
    told = yield from stairs.go_by_stairs(player, True, stairs.MAIN if main else None, bot.alarm)
    if told in (moving.NO_WAY, moving.STUCK):
        told = yield from exploring.explore(player, bot.alarm)
        if told == exploring.EXPLORED:
            yield from uncover(player)
    return True
