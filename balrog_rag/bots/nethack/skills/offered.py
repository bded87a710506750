"""Skills of the delver as actions for any player: env.programs=[dig_down, hold_out, ...].

All calls of a game share one player, which knows what earlier calls, bots and plain keys led to.
"""

from collections.abc import Callable

from balrog_rag.contracts.programs import Begin, Program, ProgramKind
from balrog_rag.envs.nethack import WHOLE

GAMES = (*WHOLE, "minihack")
TRIES, SIGHT = 6, 8


def dig_down(begin: Begin) -> Program:
    """Dig through the floor, with Elbereth in the pit."""
    from balrog_rag.bots.nethack.skills import digging, moving
    from balrog_rag.envs.nethack.world.shared_player import player_of

    return (yield from digging.dig_down(player_of(begin.screen), moving.never))


def see_level(begin: Begin) -> Program:
    """See all of the level that is visible without searching."""
    from balrog_rag.bots.nethack.skills import exploring
    from balrog_rag.envs.nethack.world.shared_player import player_of

    player = player_of(begin.screen)
    while (told := (yield from exploring.explore(player))) != exploring.EXPLORED:
        if player.hostiles():
            return "an enemy is in sight"
    return told


def hold_out(begin: Begin) -> Program:
    """Write Elbereth underfoot until it reads correctly."""
    from balrog_rag.bots.nethack.skills import surviving
    from balrog_rag.bots.nethack.skills.told import Told
    from balrog_rag.envs.nethack.world.shared_player import player_of

    player = player_of(begin.screen)
    for _ in range(TRIES):
        if (yield from surviving.guarded(player)) == Told.GUARDED:
            return "Elbereth stands here"
        yield from surviving.engrave(player)
    return "it never read right"


def strike(begin: Begin) -> Program:
    """Fight the enemies in sight as long as hit points last."""
    from balrog_rag.bots.nethack.skills import fighting
    from balrog_rag.bots.nethack.skills.told import Told
    from balrog_rag.envs.nethack.world.shared_player import player_of

    player = player_of(begin.screen)
    while enemies := player.hostiles(within=SIGHT):
        if player.body.hp * 2 < player.body.max_hp:
            return "less than half of the hit points are left"
        fighting.presume(player, enemies)
        told = yield from fighting.fight(player, [enemy for enemy in enemies if enemy.hostile] or enemies[:1])
        if told in (Told.NOBODY_WITHIN_REACH, Told.NOBODY_TO_GO_TO):
            return told
    return "no enemy is in sight"


def pray_when_due(begin: Begin) -> Program:
    """Pray in need, unless it is too early for a prayer to be heard."""
    from balrog_rag.bots.nethack.skills import surviving
    from balrog_rag.envs.nethack.world import known_world as w
    from balrog_rag.envs.nethack.world.shared_player import player_of

    player = player_of(begin.screen)
    if not surviving.in_mortal_need(player) and player.body.hunger < w.WEAK:
        return "there is no need that a god would see to"
    if player.unlucky:
        return "your god is angry and would not help"
    if not surviving.may_pray(player):
        return _too_early(player.prayed, player.body.turn)
    return (yield from surviving.pray(player))


def _too_early(prayed: int | None, turn: int) -> str:
    if prayed is None:
        return "it is too early in the game for a prayer"
    return f"it is too early: you prayed {turn - prayed} turns ago"


def advance_skill(begin: Begin) -> Program:
    """Advance a skill that has been trained enough."""
    from balrog_rag.bots.nethack.skills import gear
    from balrog_rag.envs.nethack.world.shared_player import player_of

    return (yield from gear.advance(player_of(begin.screen)))


def _kind(make: Callable[[Begin], Program], says: str) -> ProgramKind:
    return ProgramKind(name=make.__name__, make=make, says=says, games=GAMES)


DIG_DOWN = _kind(dig_down, "dig through the floor with what you carry, protected by Elbereth in the pit")
SEE_LEVEL = _kind(see_level, "walk until nothing new can be seen of this level without searching")
HOLD_OUT = _kind(hold_out, "write Elbereth where you stand, until it reads right")
STRIKE = _kind(strike, "fight the enemies in sight until half of your hit points are gone")
PRAY_WHEN_DUE = _kind(pray_when_due, "pray if you are starving or near death, and it is not too early")
ADVANCE_SKILL = _kind(
    advance_skill, "advance a skill with weapons or spells, once you feel more confident in it"
)
