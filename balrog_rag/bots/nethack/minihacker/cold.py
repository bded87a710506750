"""Cross lava with what freezes it: a wand of cold, or a frost horn."""

from collections.abc import Iterator

from balrog_rag.bots.nethack.minihacker.hero import Acted, Hero, walk
from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import Item
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.routes import Ways

_USEFUL, _DETOUR = ("/", "("), 12
"""Symbols of wands and tools, and the steps that one is worth."""
_SPENT = ("othing happens", "You wrest", "toot", "ever mind")
"""Words about a wand without charges, and about a horn that has none or never had."""
SURE = 6
"""Squares that a ray certainly reaches: NetHack's buzz() gives it a range of 7 to 13."""
_RANGE = 13
_DIRECTIONS = {ord("l"): 1, ord("h"): -1, ord("j"): t.WIDTH, ord("k"): -t.WIDTH}


def pick_up(hero: Hero) -> Acted:
    """Pick up what lies underfoot, once; of a pile nothing, since MiniHack closes the menu by itself."""
    level, here = hero.player.level, hero.player.here
    wanted = not hero.tried or _useful(level, here)  # things under us at the start are not shown
    if here in hero.tried or not wanted or not hero.can(keys.PICK_UP):
        return False
    hero.tried.add(here)
    carried = len(hero.player.world.items)
    yield from hero.press(keys.PICK_UP)
    nothing = hero.player.said("There is nothing here")
    if len(hero.player.world.items) == carried and not nothing:
        hero.piles.add(here)
    return True


def scatter(hero: Hero) -> Acted:
    """Kick the topmost thing off a pile, so that each can be picked up alone."""
    if not hero.piles or not hero.can(keys.KICK):
        return False
    ways = hero.ways()
    best = min((stand for pile in hero.piles for stand in _stands_to_kick(hero, ways, pile)), default=None)
    if best is None:
        return False
    _, _, place, pile = best
    if place != hero.player.here:
        return (yield from walk(hero, ways.to(place)))
    yield from hero.press(keys.KICK, t.heading(place, pile))
    hero.piles.discard(pile)
    hero.tried.discard(pile)
    return True


def _stands_to_kick(hero: Hero, ways: Ways, pile: int) -> Iterator[tuple[bool, int, int, int]]:
    """Squares next to a pile from which a thing slides onto floor, best if a wall stops it there."""
    level = hero.player.level
    for stand in t.NEAR[pile]:
        target = 2 * pile - stand
        if ways.steps[stand] >= 0 and hero.can(t.heading(stand, pile)) and target in level.steps(pile):
            stopped = not t.DARING[level.terrain[2 * target - pile]]
            yield not stopped, ways.steps[stand], stand, pile


def fetch(hero: Hero) -> Acted:
    """Walk to a wand or tool near by."""
    level, ways = hero.player.level, hero.ways()
    near = [
        place
        for place in level.objects
        if 0 < ways.steps[place] <= _DETOUR and place not in hero.tried and _useful(level, place)
    ]
    goal = ways.nearest(near) if hero.can(keys.PICK_UP) else None
    return goal is not None and (yield from walk(hero, ways.to(goal)))


def _useful(level: Level, place: int) -> bool:
    glyph = level.objects.get(place)
    return glyph is not None and k.kinds().symbol[glyph] in _USEFUL


def instruments(hero: Hero) -> list[Item]:
    """Carried things that may send a ray of cold, and that the task's actions can name."""
    found = []
    for item in hero.player.world.items:
        wand = "wand" in item.name.split()
        able = hero.can(keys.ZAP if wand else keys.APPLY, ord(item.letter))
        if (wand or _is_horn(item)) and able and item.letter not in hero.empty:
            found.append(item)
    return sorted(found, key=lambda item: "wand" not in item.name)


def _is_horn(item: Item) -> bool:
    return item.name.endswith("horn") and "unicorn" not in item.name


def fire(hero: Hero, item: Item, direction: int) -> Acted:
    """Send a ray in a direction."""
    if "wand" in item.name:
        yield from hero.press(keys.ZAP, ord(item.letter), direction)
    else:
        yield from hero.press(keys.APPLY, ord(item.letter), keys.YES)
        if "direction" in hero.player.screen.question:
            yield from hero.press(direction)
    if hero.player.said(
        "nothing happens", "Nothing happens", "You wrest", "toot", "never mind", "Never mind"
    ):
        hero.empty.add(item.letter)
    yield from hero.leave_question()
    return True


def cross_lava(hero: Hero) -> Acted:
    """Freeze lava that is in the way, from where the ray cannot come back."""
    lava = set(hero.player.level.spots((t.LAVA, t.POOL, t.WATER)))
    tools = instruments(hero)
    if not lava or not tools:
        return False
    ways = hero.ways()
    best = min(_stands(hero, ways, lava), default=None)
    if best is None:
        return False
    _, place, direction = best
    if place != hero.player.here:
        return (yield from walk(hero, ways.to(place)))
    return (yield from fire(hero, tools[0], direction))


def _stands(hero: Hero, ways: Ways, lava: set[int]) -> Iterator[tuple[int, int, int]]:
    """Reachable squares with lava in a line, as cost, square and direction."""
    for place, steps in enumerate(ways.steps):
        if steps < 0:
            continue
        for key, ahead in _DIRECTIONS.items():
            if not hero.can(key):
                continue
            far, wall = _along(hero, place, ahead, lava)
            if far:
                returns = 2 * wall - 1 <= _RANGE
                yield steps + 20 * returns - wall * returns, place, key


def _along(hero: Hero, place: int, ahead: int, lava: set[int]) -> tuple[int, int]:
    """Squares to the first lava in a direction (0 if none is in range), and to the first wall."""
    ground, far, wall = hero.player.level.terrain, 0, 0
    while 0 <= place + ahead < t.SIZE:
        place, wall = place + ahead, wall + 1
        if place in lava:
            far = far or wall
        elif not t.DARING[ground[place]]:
            break
        if wall > _RANGE:
            break
    return (far, wall) if 0 < far <= SURE else (0, wall)
