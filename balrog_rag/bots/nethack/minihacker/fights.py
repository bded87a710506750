"""Fight by walking into enemies, one at a time where the level allows it."""

from balrog_rag.bots.nethack.minihacker import cold
from balrog_rag.bots.nethack.minihacker.hero import Acted, Hero, step, walk
from balrog_rag.bots.nethack.skills.fight_cost import cost_of
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.routes import first

_CROWD = 2
"""Enemies near us from which a narrow place is worth a walk."""
_NEAR, _FAR = 3, 14
_PASSAGE, _PATIENCE = 2, 25
_WORTH = 0.3
"""Part of the hit points that a fight must cost before a ray is spent on it."""


def enemies(hero: Hero, within: int) -> list[Monster]:
    """Enemies that may be struck."""
    return [
        enemy
        for enemy in hero.player.hostiles(within)
        if enemy.species is None or not enemy.species.never_touch
    ]


def zap_line(hero: Hero) -> Acted:
    """Send a ray at enemies in a line, if fighting them would cost much."""
    near = enemies(hero, cold.SURE)
    tools = cold.instruments(hero)
    if not near or not tools or cost_of(hero.player, near) < _WORTH * hero.player.body.hp:
        return False
    here, lines = hero.player.here, dict[int, int]()
    for enemy in near:
        key = t.heading(here, enemy.place)
        if key and hero.can(key):
            lines[key] = lines.get(key, 0) + 1
    best = max(lines, key=lambda key: (lines[key], key), default=0)
    if not best or (lines[best] < min(_CROWD, len(near)) and not _weak(hero)):
        return False
    return (yield from cold.fire(hero, tools[0], best))


def _weak(hero: Hero) -> bool:
    return hero.player.body.hp * 2 < hero.player.body.max_hp


def withdraw(hero: Hero) -> Acted:
    """Leave the open for a passage, where one enemy at a time reaches us, if several were met."""
    if hero.crowd() < _CROWD or _narrow(hero, hero.player.here) or not enemies(hero, _NEAR):
        return False
    ways = hero.ways()
    goal = ways.nearest(
        [place for place, steps in enumerate(ways.steps) if 0 < steps <= _FAR and _narrow(hero, place)]
    )
    return goal is not None and (yield from walk(hero, ways.to(goal)))


def wait(hero: Hero) -> Acted:
    """Let enemies in sight come into the passage in which we stand."""
    if hero.crowd() < _CROWD or not _narrow(hero, hero.player.here) or hero.waits >= _PATIENCE:
        return False
    yield from hero.pass_time()
    return True


def _narrow(hero: Hero, place: int) -> bool:
    return len(hero.player.level.steps(place)) <= _PASSAGE


def strike(hero: Hero) -> Acted:
    """Walk into an enemy next to us."""
    close = enemies(hero, 1)
    return bool(close) and (yield from step(hero, close[0].place))


def hunt(hero: Hero) -> Acted:
    """Walk towards an enemy in sight."""
    targets = {enemy.place for enemy in enemies(hero, t.WIDTH)}
    if not targets:
        return False
    way = first(hero.player.level, hero.player.here, targets.__contains__, hero.obstacles() - targets)
    return way is not None and (yield from walk(hero, way))
