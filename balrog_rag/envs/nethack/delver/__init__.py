"""A player without a model: it grows a little, takes a pick-axe from a dwarf, and digs down for good."""

from balrog_rag.envs.nethack.delver.bot import play
from balrog_rag.envs.nethack.delver.state import Bot, Plan
from balrog_rag.envs.nethack.skills.player import Player, Skill
from balrog_rag.envs.nethack.world.screen import Screen


def delver(screen: Screen, seed: int, plan: Plan | None = None) -> Skill:
    """Play a game of NetHack from its first screen to its end."""
    return (yield from play(Bot(Player(screen, seed), plan or Plan())))
