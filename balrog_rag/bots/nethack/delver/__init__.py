"""A player without a model: it gains a few levels, takes a pick-axe from a dwarf, and then only digs down."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from balrog_rag.bots.nethack.delver.switches import listed
from balrog_rag.contracts.programs import Begin, Program, ProgramKind
from balrog_rag.envs.nethack import WHOLE

if TYPE_CHECKING:  # the player itself is loaded with the first game, since every command lists the players
    from balrog_rag.bots.nethack.delver.state import Plan
    from balrog_rag.envs.nethack.world.player import Skill


def delver(arrays: Mapping[str, Any], plan: "Plan | None" = None) -> "Skill":
    """Play a game of NetHack from its first screen to its end."""
    from balrog_rag.bots.nethack.delver.rules import play
    from balrog_rag.bots.nethack.delver.state import Bot, Plan
    from balrog_rag.envs.nethack.world.shared_player import player_of

    return (yield from play(Bot(player_of(arrays), plan or Plan())))


def make(begin: Begin) -> Program:
    """Create the player as a program; agent.options may change its plan."""
    from balrog_rag.bots.nethack.delver.state import plan_of

    return delver(begin.screen, plan_of(begin.options))


def check(options: Mapping[str, Any]) -> None:
    """Refuse settings that no plan has, before a game begins."""
    from balrog_rag.bots.nethack.delver.state import plan_of

    plan_of(options)


DELVER = ProgramKind(
    name="delver",
    make=make,
    games=WHOLE,
    plays=True,
    check=check,
    switches=listed(),
    unlisted_keys=False,
)
