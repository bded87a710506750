"""Fight hand to hand, and from a distance."""

import itertools
from collections.abc import Sequence
from functools import partial

from balrog_rag.bots.nethack.skills.exploring import search
from balrog_rag.bots.nethack.skills.fight_cost import adjacent, blows_to_kill, damage_a_turn
from balrog_rag.bots.nethack.skills.looking import look_at
from balrog_rag.bots.nethack.skills.missiles import missile_of, shoots
from balrog_rag.bots.nethack.skills.moving import NO_WAY, Alarm, follow, go_to, occupied, step
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.level import Level
from balrog_rag.envs.nethack.world.player import MINES, Player, Skill
from balrog_rag.envs.nethack.world.routes import Ways, first
from balrog_rag.envs.nethack.world.species import Species

THREW, NOTHING_TO_THROW = Told.THREW, Told.NOTHING_TO_THROW
_HORSES = ("pony", "horse", "warhorse")
_MEAT, _FRUIT = ("tripe ration", "meatball", "meat stick"), ("apple", "carrot")
"""Food that tames dogs and cats, and horses, when it is thrown to them."""
_KEPT = ("pick", "mattock", "healing", "ration", "wafer", "lichen", "tripe", "wand", "sword", "axe", "mace")
"""Words for items that are never thrown, even for want of others."""


def attack(player: Player, enemy: Monster) -> Skill:
    """Hit a monster on a neighbouring square; of one that may be peaceful, the game tells that it is.

    With `F` the game does not ask before a peaceful monster is hit; walking into one, it does.
    """
    doubtful = enemy.peaceful is None and enemy.species is not None and "peacefuls" not in player.unknown
    dazed = bool(player.body.condition & w.DAZED)
    if doubtful and dazed and player.level.watched and not enemy.attacked:
        yield from player.command(keys.SEARCH)  # one cannot walk straight, and a mistake means arrest
        return Told.WAITED
    if doubtful and not dazed and player.level.terrain[enemy.place] not in t.WET:
        yield from player.command(t.heading(player.here, enemy.place))
        enemy.peaceful = player.said("Really attack")
        return Told.ATTACKED
    yield from player.command(keys.FIGHT, t.heading(player.here, enemy.place))
    if player.said("gets angry"):
        enemy.peaceful, enemy.attacked = False, True  # in a town it would be taken for peaceful again
    return Told.ATTACKED


def make_sure(player: Player, enemies: Sequence[Monster]) -> Skill:
    """Look at those monsters that may turn out to be peaceful."""
    for enemy in enemies:
        if enemy.peaceful is None and (enemy.species is None or not enemy.species.always_hostile):
            yield from look_at(player, enemy)
    return Told.LOOKED


def presume(player: Player, enemies: Sequence[Monster]) -> None:
    """Conclude from common knowledge which of them are peaceful; where that is chance, an attack will tell.

    Who lives in a town is peaceful whatever its kind, so there only an attack tells.
    """
    town = _town(player)
    for enemy in enemies:
        species = enemy.species
        if enemy.peaceful is None and species is not None and not (enemy.attacked or enemy.doubted):
            told = species.peaceful_to(player.race, player.alignment)
            likely = told is None and species.sign == 1  # five of six dwarves are peaceful to the lawful
            if not town or told or likely:
                enemy.peaceful = True if likely else told


def surely_hostile(player: Player, enemy: Monster) -> bool:
    """Whether missiles and spells at it would not anger a peaceful monster."""
    species = enemy.species
    if enemy.peaceful is False or enemy.attacked or species is None or species.never_touch:
        return True
    told = species.peaceful_to(player.race, player.alignment)
    return enemy.peaceful is None and not _town(player) and told is False


def _town(player: Player) -> bool:
    """Whether this may be Minetown, where all who live there are peaceful, whatever their kind."""
    return player.level.watched or (
        player.world.place.branch == MINES and player.body.depth >= TUNING.town_depth
    )


def untouchable(player: Player, species: Species) -> bool:
    """Whether hitting such a monster harms, as far as this player knows."""
    if not species.never_touch:
        return False
    rule = "floating_eye" if species.paralyses else "gas_spore" if species.explodes else "passives"
    return rule not in player.unknown


def touchable(player: Player, enemy: Monster) -> bool:
    """Whether a monster may be hit with what is wielded."""
    species = enemy.species
    if species is None:
        return True
    armed = any(item.wielded for item in player.world.items)
    stone = species.petrifies and "cockatrice" not in player.unknown
    return not untouchable(player, species) and (armed or not stone)


def weakest(player: Player, enemies: Sequence[Monster]) -> Monster:
    """Whom to hit first: the one that costs most relative to the blows it takes."""

    def worth(enemy: Monster) -> float:
        return damage_a_turn(player, enemy.species) / blows_to_kill(player, enemy.species)

    return max(enemies, key=lambda enemy: (worth(enemy), -enemy.place))


def fight(player: Player, enemies: Sequence[Monster]) -> Skill:
    """Make one move of a fight: shoot or hit an adjacent enemy, throw at a distant one, wait or approach."""
    if shoots(player) and (yield from shoot(player, enemies, nearest=1)) == THREW:
        return THREW
    near = [enemy for enemy in adjacent(player, enemies) if touchable(player, enemy)]
    if near:
        # Who is held strikes at nobody else until that one is dead (hack.c:1520).
        holders = [enemy for enemy in near if player.holds(enemy)]
        return (yield from attack(player, weakest(player, holders or near)))
    if (yield from shoot(player, enemies)) == THREW:
        return THREW
    return (yield from approach(player, enemies))


def tame(player: Player, enemies: Sequence[Monster]) -> Skill:
    """Throw its favourite food to a dog, cat or horse, which makes it a pet."""
    for enemy in enemies:
        treat = player.world.item(*_treats(enemy))
        if treat and in_range(player, player.here, enemy):
            key = chr(t.heading(player.here, enemy.place))
            yield from player.ask(keys.THROW, ("want to throw", treat.letter), ("In what direction", key))
            return THREW
    return NOTHING_TO_THROW


def _treats(enemy: Monster) -> tuple[str, ...]:
    species = enemy.species
    if species is None:
        return ()
    return _MEAT if species.companion else _FRUIT if species.name in _HORSES else ()


def approach(player: Player, enemies: Sequence[Monster]) -> Skill:
    """Step towards the nearest enemy, or wait a turn for it to come."""
    targets = {enemy.place for enemy in enemies if touchable(player, enemy)}
    if not targets:
        return Told.NOBODY_TO_GO_TO
    way = first(player.level, player.here, targets.__contains__, occupied(player) - targets)
    if way is None or len(way) > 2 * TUNING.throw_reach:
        return Told.NOBODY_WITHIN_REACH
    awake = [enemy for enemy in enemies if enemy.helpless <= player.body.turn]  # the others do not come
    if len(way) == 2 and any(enemy.species and enemy.species.speed > TUNING.crawling for enemy in awake):
        yield from player.command(keys.SEARCH)  # an enemy that comes to us does not hit first
        return Told.WAITED
    return (yield from step(player, way[0]))


def shoot(player: Player, enemies: Sequence[Monster], anything: bool = False, nearest: int = 2) -> Skill:
    """Throw something at the nearest enemy in line; if necessary anything that can be spared."""
    missile = missile_of(player) or (spare(player) if anything else None)
    if missile is None:
        return NOTHING_TO_THROW
    for enemy in enemies:
        if surely_hostile(player, enemy) and in_range(player, player.here, enemy, nearest):
            key = chr(t.heading(player.here, enemy.place))
            if missile == missile_of(player):
                player.thrown |= {item.name for item in player.world.items if item.letter == missile}
            yield from player.ask(keys.THROW, ("want to throw", missile), ("In what direction", key))
            return THREW
    return Told.NOBODY_IN_LINE


def shoot_away(player: Player, enemy: Monster, alarm: Alarm) -> Skill:
    """Kill from a distance what must not be touched: go to where it is in line, and throw."""
    if missile_of(player) is None and spare(player) is None:
        return NOTHING_TO_THROW
    if in_range(player, player.here, enemy):
        return (yield from shoot(player, [enemy], anything=True, nearest=1))
    goals = [place for place in _star(enemy.place) if in_range(player, place, enemy)]
    return (yield from go_to(player, goals, alarm))


def lure(player: Player, enemy: Monster, alarm: Alarm) -> Skill:
    """Let a slow monster that is in the way come out into a room, where we can walk around it."""
    level = player.level
    ways = Ways(level, player.here, occupied(player))
    wide = [
        place
        for place, steps in enumerate(ways.steps)
        if steps >= 0
        and t.distance(place, enemy.place) >= TUNING.lure_far
        and len(level.steps(place)) >= TUNING.lure_wide
    ]
    goal = ways.nearest(wide)
    if goal is None:
        return NO_WAY
    told = yield from follow(player, ways.to(goal), alarm)
    for _ in range(TUNING.lure_waits):
        if alarm() or t.distance(player.here, enemy.place) <= 2:
            break
        yield from search(player, TUNING.lure_wait)
    return told


def _star(place: int) -> list[int]:
    """Squares near a square that are on a straight line with it."""
    x, y = t.xy(place)
    squares = []
    for dx, dy in t.HEADINGS:
        for far in range(1, TUNING.shooting_stand + 1):
            if 0 <= x + far * dx < t.WIDTH and 0 <= y + far * dy < t.HEIGHT:
                squares.append(t.spot(x + far * dx, y + far * dy))
    return squares


def spare(player: Player) -> str | None:
    """The letter of something to throw if there are no missiles."""
    for item in reversed(player.world.items):
        held = item.worn or item.wielded or "gold piece" in item.name
        if not held and not any(word in item.name for word in _KEPT):
            return item.letter
    return None


def in_range(player: Player, start: int, enemy: Monster, nearest: int = 1) -> bool:
    """Whether a missile from a square would reach a monster, and no friendly one if it misses."""
    place, level = enemy.place, player.level
    nearest = 2 if enemy.species and enemy.species.explodes else nearest
    if not nearest <= t.distance(start, place) <= TUNING.throw_reach or not t.heading(start, place):
        return False
    way = t.ray(start, place, TUNING.missile_flight)
    flight = list(itertools.takewhile(partial(_open, level, place), way))
    if enemy.species and enemy.species.explodes:
        flight += t.NEAR[place]
    return place in flight and player.friends().isdisjoint(flight)


def _open(level: Level, target: int, place: int) -> bool:
    """Whether missiles fly over a square; a target in a wall has dug it, and its door is open by now."""
    ground = level.terrain[place]
    if place == target:
        return place not in level.boulders
    return t.DARING[ground] and ground not in t.CLOSED_DOORS and place not in level.boulders
