"""Boxoban: read the level, search for a solution, and walk it."""

from balrog_rag.bots.nethack.minihacker.hero import Acted, Hero
from balrog_rag.bots.nethack.minihacker.sokoban import Level, solve
from balrog_rag.envs.nethack.world import terrain as t

_STRAIGHT = (1, -1, t.WIDTH, -t.WIDTH)


def push(hero: Hero) -> Acted:
    """Push every boulder onto a fountain, if a solution is found."""
    player = hero.player
    ground = player.level
    floor = frozenset(place for place in range(t.SIZE) if t.CAREFUL[ground.terrain[place]])
    goals = frozenset(ground.spots((t.FOUNTAIN,)))
    level = Level(floor, goals, _STRAIGHT)
    for move in solve(level, player.here, frozenset(ground.boulders)) or ():
        here = player.here
        yield from hero.press(t.heading(here, here + move))
        if player.world.over or player.here != here + move:
            return False
    return True
