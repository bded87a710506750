"""Fight, shoot, hold out on Elbereth, or run."""

from collections.abc import Sequence

from balrog_rag.bots.nethack.delver.retreat import (
    drink,
    fall,
    hold,
    in_haven,
    leave_by_stairs,
    losing,
    on_base,
    retreat,
)
from balrog_rag.bots.nethack.delver.state import Bot, Did
from balrog_rag.bots.nethack.skills import fighting, gear, magic, stairs
from balrog_rag.bots.nethack.skills.fight_cost import adjacent, cost_of
from balrog_rag.bots.nethack.skills.moving import ARRIVED, step, watched
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import Item
from balrog_rag.envs.nethack.world.known_world import Monster

_NO_RAY = ("striking", "slow monster")
"""Wands whose effect ends where it strikes; all others send rays that bounce off walls."""


def engulfed(bot: Bot) -> Did:
    """Fight a monster that has swallowed us, from inside."""
    if not bot.player.world.swallowed:
        return False
    yield from bot.player.command(keys.FIGHT, ord("j"))
    return True


def battle(bot: Bot) -> Did:
    """Make one move against the enemies in sight."""
    player = bot.player
    if bot.hurt:
        bot.heed(player.hostiles(within=1))
        if not player.body.condition & w.HALLUCINATING:  # which makes looks useless
            _suspect(bot)
    seen = bot.enemies()
    if seen:
        if player.level.watched:  # attacking the wrong one means arrest
            for enemy in seen:
                enemy.peaceful = None
        if bot.on.peacefuls:
            fighting.presume(player, seen)
    enemies = bot.enemies()
    if not enemies:
        bot.waited = 0
        return (yield from _avoid_blast(bot)) or (yield from _murder(bot))
    if (yield from _avoid_blast(bot)):
        return True
    if not digging_down(bot) and (yield from leave_by_stairs(bot, enemies)):
        return True
    if (yield from drink(bot, enemies)):
        return True
    if digging_down(bot):
        return (yield from _defend(bot, while_digging(bot, enemies)))
    return (yield from _rest_on(bot, enemies)) or (yield from _fight(bot, enemies))


def _suspect(bot: Bot) -> None:
    """A monster believed peaceful may be another one of its kind: look again when something hurts us."""
    for other in bot.player.world.monsters:
        near = t.distance(other.place, bot.player.here) <= TUNING.suspect_near
        if near and other.peaceful and other.species and not other.species.always_peaceful:
            other.peaceful, other.doubted = None, True


def _rest_on(bot: Bot, enemies: Sequence[Monster]) -> Did:
    """Stay on Elbereth while the enemies around are more than we can easily beat."""
    if not in_haven(bot) or cost_of(bot.player, enemies) <= TUNING.easy * bot.player.body.hp:
        return False
    return (yield from hold(bot, enemies))


def _fight(bot: Bot, enemies: Sequence[Monster]) -> Did:
    player = bot.player
    if bot.on.taming and (yield from fighting.tame(player, enemies)) == fighting.THREW:
        return True
    hopeless = losing(bot, enemies)
    if (yield from _magic(bot, enemies, hopeless)):
        return True
    if hopeless and (yield from retreat(bot, enemies)):
        return True
    if (yield from _rearm(bot)):
        return True
    waits = (on_base(bot) or hopeless) and not bot.under_fire() and bot.waited < TUNING.ambush
    if waits and not adjacent(player, enemies):
        bot.waited += 1
        if (yield from fighting.shoot(player, enemies)) != fighting.THREW:
            yield from player.command(keys.SEARCH)
        return True
    told = yield from fighting.fight(player, enemies)
    if told in (Told.NOBODY_WITHIN_REACH, Told.NOBODY_TO_GO_TO):
        bot.ignore(enemies, TUNING.out_of_reach)
        return False
    if not adjacent(player, enemies) and told != fighting.THREW:
        bot.tire(enemies[0], TUNING.tired)
    return True


def _rearm(bot: Bot) -> Did:
    """Wield a weapon in a fight, if a change of form left our hands empty; take it up if it fell off here."""
    player = bot.player
    if not (bot.on.rearm and bot.on.weapons) or any(item.wielded for item in player.world.items):
        return False
    best = gear.best_weapon(player)
    if best is not None:
        yield from gear.wield(player, best)
        return True
    if not gear.unarmed(player) or player.shed != (player.world.place, player.here):
        return False
    player.shed = None
    return (yield from gear.pick_up(player, gear.is_weapon)) == Told.TOOK


def _murder(bot: Bot) -> Did:
    """Go and kill a peaceful dwarf for its pick-axe."""
    player, prey = bot.player, bot.prey()
    if prey is None:
        return False
    victim, way = prey
    if way:
        if (yield from step(player, way[0])) != ARRIVED:
            bot.tire(victim, TUNING.tired)
    elif watched(player):  # who sees it calls the watch, as any watchman does that we could see (mon.c:3042)
        yield from player.command(keys.SEARCH)
        bot.tire(victim, TUNING.tired)
    else:
        yield from fighting.attack(player, victim)
    return True


def _avoid_blast(bot: Bot) -> Did:
    """Shoot an exploding monster while it is still far enough, or keep away from it."""
    player, pit = bot.player, bot.player.pit_here
    if not bot.on.blasts:
        return False
    spores = [
        enemy for enemy in player.hostiles(TUNING.blast_near) if enemy.species and enemy.species.explodes
    ]
    if not spores or (pit is not None and pit.deep):  # there is no time to climb out of a pit
        return False
    if (yield from fighting.shoot(player, spores, anything=True)) == fighting.THREW:
        return True
    places = {monster.place for monster in player.world.monsters}
    away = [near for near in player.level.steps(player.here) if near not in places]
    best = max(away, key=lambda place: (t.distance(place, spores[0].place), place), default=None)
    if best is None or t.distance(best, spores[0].place) <= t.distance(player.here, spores[0].place):
        return False
    yield from step(player, best)
    return True


def digging_down(bot: Bot) -> bool:
    """Whether we are on the way down and have a digging tool."""
    player, plan = bot.player, bot.plan
    growing = player.body.level < plan.dive_level and player.body.depth <= plan.dive_explore
    return bool(bot.digger()) and player.world.place.branch == stairs.MAIN and not growing


def hurrying(bot: Bot) -> bool:
    """Whether we are digging down where every turn is dangerous."""
    return digging_down(bot) and bot.player.body.depth > bot.plan.rest_depth


def _magic(bot: Bot, enemies: Sequence[Monster], hopeless: bool) -> Did:
    """Heal by a spell, send bolts at strong enemies; the rest only if a fight is being lost."""
    player = bot.player
    if not bot.on.magic:
        return False
    wounded = player.body.hp < TUNING.heal_below * player.body.max_hp and bot.on.healing_spells
    if wounded and magic.can_cast(player, magic.HEALING):
        yield from magic.cast(player, magic.HEALING, player.here)
        return True
    for enemy in enemies:
        reached = fighting.surely_hostile(player, enemy) and fighting.in_range(player, player.here, enemy)
        if not reached or enemy.helpless > player.body.turn:
            continue
        worthy = hopeless or enemy.species is None or enemy.species.level > 0
        if worthy and magic.can_cast(player, magic.FORCE_BOLT):
            yield from magic.cast(player, magic.FORCE_BOLT, enemy.place)
            return True
        if (hopeless or _dangerous_digger(bot, enemy)) and (yield from _stop(bot, enemy)):
            return True
    return False


def _dangerous_digger(bot: Bot, enemy: Monster) -> bool:
    """Whether it is a dwarf, whose blows are hard and whose pick-axe we want."""
    return enemy.species is not None and "dwarf" in enemy.species.name and not gear.digger(bot.player)


def _stop(bot: Bot, enemy: Monster) -> Did:
    """Put an enemy to sleep, or stop it with something stronger."""
    player = bot.player
    wand = magic.attack_wand(player)
    if wand is not None and not _safe_to_zap(bot, wand, enemy):
        return False
    if wand is None and not magic.can_cast(player, magic.SLEEP):
        return False
    if wand is not None:
        yield from magic.zap(player, wand, chr(t.heading(player.here, enemy.place)))
    else:
        yield from magic.cast(player, magic.SLEEP, enemy.place)
    if wand is None or "sleep" in magic.kind_of_wand(player, wand):
        _put_to_sleep(bot, enemy, player.body.level // 2 + 1 if wand is None else TUNING.sleep_wand)
    return True


def _put_to_sleep(bot: Bot, enemy: Monster, dice: int) -> None:
    """Leave those out of account for a while whom a ray of sleep towards an enemy reached."""
    player = bot.player
    reached = t.ray(player.here, enemy.place, TUNING.suspect_near)
    for other in player.hostiles():
        missed = other.species and player.said(f"misses the {other.species.name}")
        if other.place in reached and not missed:
            other.helpless = player.body.turn + dice * TUNING.sleep_die


def _safe_to_zap(bot: Bot, wand: Item, enemy: Monster) -> bool:
    """Whether the effect of a wand towards an enemy will not bounce straight back to us."""
    kind = magic.kind_of_wand(bot.player, wand)
    if kind in _NO_RAY or (kind == magic.SLEEP and bot.player.race == "elven"):
        return True
    ground, squares = bot.player.level.terrain, t.ray(bot.player.here, enemy.place, TUNING.ray)
    return len(squares) == TUNING.ray and all(t.DARING[ground[at]] for at in squares)


def _defend(bot: Bot, fought: Sequence[Monster]) -> Did:
    """Fall away from what prevents digging, or fight it: by magic, or with the better weapon."""
    player = bot.player
    if not fought:
        return False
    cost = cost_of(player, fought)
    hopeless = cost > TUNING.pit_losing * player.body.hp
    if (hopeless and (yield from fall(bot, 1.0))) or (yield from _magic(bot, fought, hopeless)):
        return True
    best = gear.best_weapon(player)
    if best and not best.wielded and cost > TUNING.serious:
        yield from gear.wield(player, best)
    else:
        yield from fighting.fight(player, fought)
    return True


def while_digging(bot: Bot, enemies: Sequence[Monster]) -> list[Monster]:
    """Whom to fight while digging down: enemies that ignore Elbereth (each blow interrupts us), weak ones."""
    player = bot.player
    near = [enemy for enemy in adjacent(player, enemies) if fighting.touchable(player, enemy)]
    fought = [enemy for enemy in near if _fought(bot, enemy)]
    undaunted = [enemy for enemy in fought if _undaunted(bot, enemy)]
    if any(enemy.species for enemy in undaunted) and player.body.level > TUNING.pit_novice:
        return fought  # beside them no hole is ever finished
    if undaunted:
        return fought if cost_of(player, fought) < TUNING.pit_affordable * player.body.hp else []
    around = [enemy for enemy in enemies if t.distance(enemy.place, player.here) <= TUNING.pit_around]
    return [] if cost_of(player, around) > TUNING.pit_easy * player.body.hp else fought


def _fought(bot: Bot, enemy: Monster) -> bool:
    if _undaunted(bot, enemy):
        return True
    return enemy.species is not None and enemy.species.level < bot.player.body.level and not _guarded(bot)


def _undaunted(bot: Bot, enemy: Monster) -> bool:
    """Whether Elbereth does not keep a monster off, or we cannot write it."""
    if enemy.species is None:
        return not _guarded(bot)
    return not enemy.species.fears_elbereth or bot.player.cursed_hands


def _guarded(bot: Bot) -> bool:
    pit = bot.player.pit_here
    return pit is not None and pit.guarded
