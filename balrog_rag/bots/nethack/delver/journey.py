"""Where to go next: gain levels near the surface, get a pick-axe in the Mines, dig down."""

from balrog_rag.bots.nethack.delver.battle import while_digging
from balrog_rag.bots.nethack.delver.obstacles import blocked_by_friends, make_way
from balrog_rag.bots.nethack.delver.retreat import fall, on_base
from balrog_rag.bots.nethack.delver.state import HELD, Bot, Did
from balrog_rag.bots.nethack.skills import (
    digging,
    exploring,
    magic,
    moving,
    stairs,
    surviving,
    tunnelling,
)
from balrog_rag.bots.nethack.skills.fight_cost import adjacent
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Level, Place
from balrog_rag.envs.nethack.world.player import SOKOBAN, Skill
from balrog_rag.envs.nethack.world.refusals import Act, Refusal
from balrog_rag.envs.nethack.world.routes import first

_DONE = (moving.ARRIVED, moving.ALARMED)


def journey(bot: Bot) -> Did:
    """Travel one leg of the way."""
    player = bot.player
    branch = player.world.place.branch
    if bot.recovering() and not adjacent(player, bot.enemies()):
        yield from exploring.search(player, TUNING.short_wait)
        return True
    if bot.starving() and (yield from fall(bot, 1.0)):
        return True
    if branch == SOKOBAN:
        yield from _by_stairs(bot, True, None)
    elif bot.digger():
        if branch == stairs.MAIN:
            yield from _dig(bot)
        else:
            yield from _climb(bot)
    elif branch == stairs.MINES:
        yield from _hunt(bot)
    else:
        yield from _main(bot)
    return True


def _dig(bot: Bot) -> Skill:
    player, plan = bot.player, bot.plan
    if len(player.hostiles()) >= TUNING.crowd and (yield from fall(bot, 1.0)):
        return "fell"
    if player.body.level < plan.dive_level and player.body.depth <= plan.dive_explore:
        told = yield from _explore(bot)
        if told != exploring.EXPLORED:
            return told
    if (yield from _await_prayer(bot)):
        return "waited"
    if _too_early(bot) and not bot.enemies() and not bot.walled_in():
        return (yield from exploring.search(player, TUNING.wait))
    if not digging.held(player):
        if (yield from _climb_once(bot)):
            return "climbed"
        if (yield from _near_stairs(bot)):
            return "went down"
    told = yield from digging.dig_down(player, lambda: dig_alarm(bot), lambda: _writes(bot))
    if told in (digging.TOO_HARD, moving.NO_WAY, moving.STUCK):
        told = yield from _by_stairs(bot, True, None)
    return told


def _too_early(bot: Bot) -> bool:
    """Whether to wait or to rest before going deeper, while that is still safe."""
    body, plan = bot.player.body, bot.plan
    if not bot.on.waiting:
        return False
    if body.turn < plan.dive_turn:
        return True
    if body.hp >= body.max_hp * plan.rest_until or body.depth > plan.rest_depth:
        return False
    bot.resting = body.hunger < w.WEAK
    return bot.resting


def _await_prayer(bot: Bot) -> Did:
    """Wait until a prayer may free our hands: while a cursed tool binds them, no Elbereth can be written."""
    player = bot.player
    hope = bot.on.prayer and bot.on.prayer_curses and not player.unlucky and bot.bound < TUNING.bound
    if not (player.cursed_hands and hope) or player.body.depth > TUNING.bound_depth:
        return False
    if bot.enemies() or bot.walled_in():
        return False
    bot.bound += TUNING.wait
    yield from exploring.search(player, TUNING.wait)
    return True


def _climb_once(bot: Bot) -> Did:
    """Take stairs up near by, if held progression is the aim: a level that we leave upwards is held."""
    player, depth = bot.player, bot.player.body.depth
    if bot.plan.aim != HELD or depth <= max(bot.climbed, TUNING.sokoban_above) or player.pit_here:
        return False
    up = set(stairs.known_stairs(player, False))
    way = first(player.level, player.here, up.__contains__, moving.occupied(player))
    if way is None or len(way) > TUNING.climb:
        return False
    told = yield from stairs.go_by_stairs(player, False, None, lambda: dig_alarm(bot))
    if player.body.depth < depth:
        bot.climbed = depth
    return told in _DONE


def _near_stairs(bot: Bot) -> Did:
    """Take stairs down that are nearer than a hole would be."""
    player, level = bot.player, bot.player.level
    if not bot.on.near_stairs or player.body.depth <= TUNING.deepest_entrance or player.pit_here:
        return False
    way = first(
        level, player.here, set(stairs.known_stairs(player, True)).__contains__, moving.occupied(player)
    )
    if way is None or len(way) > _strides(bot):
        return False
    told = yield from stairs.go_by_stairs(player, True, None, lambda: _kept(bot))
    return told == moving.ARRIVED


def _kept(bot: Bot) -> bool:
    """Whether not to walk on to stairs."""
    return digging.held(bot.player) or dig_alarm(bot)


def _strides(bot: Bot) -> int:
    """The distance up to which stairs are nearer than a hole; digging is slower if Elbereth is needed."""
    if bot.player.hostiles(within=TUNING.chased):
        return TUNING.strides_chased
    return TUNING.strides_dwarf if bot.player.race == "dwarven" else TUNING.strides


def dig_alarm(bot: Bot) -> bool:
    """Whether to stop digging for something more urgent."""
    player = bot.player
    if surviving.in_mortal_need(player) and bot.may_pray():
        return True
    return bool(while_digging(bot, bot.enemies()))


def _writes(bot: Bot) -> bool:
    """Whether to write Elbereth in a pit."""
    return bot.on.elbereth and bot.on.elbereth_pit


def _climb(bot: Bot) -> Skill:
    told = yield from stairs.go_by_stairs(bot.player, False, None, bot.alarm)
    if told in (moving.NO_WAY, moving.STUCK):
        up = stairs.known_stairs(bot.player, False)
        if up and (yield from tunnelling.tunnel(bot.player, up, bot.alarm)) in _DONE:
            return "tunnelled"
        if (yield from _burrow(bot)):
            return "tunnelled"
        if bot.player.refusals[Refusal(Act.SEARCH, bot.player.level.place)] > TUNING.stuck_searches:
            return (yield from digging.dig_down(bot.player, lambda: dig_alarm(bot), lambda: _writes(bot)))
        return (yield from _uncover(bot))
    return told


def _burrow(bot: Bot) -> Did:
    """Tunnel to what may hide the stairs, once all that ways lead to was looked at."""
    player = bot.player
    name = Refusal(Act.BURROW, player.level.place)
    searched = player.refusals[Refusal(Act.SEARCH, player.level.place)] > 0
    if not (bot.on.burrowing and searched) or player.refusals[name] > TUNING.burrows:
        return False
    if exploring.explorable(player):
        return False
    player.refusals[name] += 1
    return (yield from tunnelling.burrow(player, bot.alarm)) in _DONE


def _hunt(bot: Bot) -> Skill:
    """Look for dwarves through the Mines, level by level, but let those near the stairs come first."""
    if on_base(bot) and bot.quiet < bot.plan.siege:
        bot.quiet += TUNING.short_wait
        return (yield from exploring.search(bot.player, TUNING.short_wait))
    if not on_base(bot):
        bot.quiet = 0
    if _at_the_end(bot):
        return (yield from _by_stairs(bot, False, None))
    if not bot.starving():
        told = yield from exploring.explore(bot.player, bot.alarm)
        if told != exploring.EXPLORED:
            return told
        if _digger_about(bot):
            return (yield from _await_digger(bot))
    return (yield from _by_stairs(bot, True, None))


def _digger_about(bot: Bot) -> bool:
    """Whether a monster of this level has been digging lately: it carries what we are looking for."""
    player = bot.player
    heard, waited = player.level.dug, player.refusals[Refusal(Act.LISTEN, player.level.place)]
    lately = heard is not None and player.body.turn - heard < TUNING.dug_lately
    return bot.on.listening and lately and waited < TUNING.listen_longest


def _await_digger(bot: Bot) -> Skill:
    """Wait on the stairs up, if there is a way to them, for a monster that digs."""
    player = bot.player
    player.refusals[Refusal(Act.LISTEN, player.level.place)] += 1
    told = yield from moving.go_to(player, stairs.known_stairs(player, False), bot.alarm)
    if told != moving.ALARMED:
        yield from exploring.search(player, TUNING.wait)
    return told


def _at_the_end(bot: Bot) -> bool:
    """Whether we are returning because some level of the Mines had no way on."""
    player = bot.player
    searched = player.refusals[Refusal(Act.SEARCH, player.level.place)] > TUNING.mines_given_up
    bot.mined |= searched and not stairs.known_stairs(player, down=True)
    return bot.mined


def _main(bot: Bot) -> Skill:
    """Go through the first levels of the main dungeon and into the Mines."""
    player, plan = bot.player, bot.plan
    body = player.body
    if bot.starving() or bot.mined:
        return (yield from _by_stairs(bot, True, stairs.MAIN))
    mines, grown = _way_to_mines(bot), body.turn > plan.patience
    if mines is None and 2 <= body.depth <= TUNING.deepest_entrance:
        yield from magic.read_map(player)
    back = mines is None and not grown and body.depth <= TUNING.too_deep and _passed_by(bot)
    if mines is None and (body.depth <= TUNING.deepest_entrance or not back):
        told = yield from _explore(bot)
        if told != exploring.EXPLORED:
            return told
    if mines is None and not grown and (yield from _seek(bot)):
        return "searched"
    if mines is not None and body.depth <= TUNING.too_deep:
        if body.level < plan.mines and not grown:
            return (yield from exploring.search(player, TUNING.wait))
        return (yield from _towards(bot, *mines))
    if back:
        return (yield from _by_stairs(bot, False, stairs.MAIN))
    return (yield from _by_stairs(bot, True, stairs.MAIN))


def _seek(bot: Bot) -> Did:
    """Search for a while for hidden passages where the stairs to the Mines may be."""
    player = bot.player
    name = _seeking(player.world.place)
    due = bot.on.seeking and player.refusals[name] < bot.plan.seek
    if not due or not 2 <= player.body.depth <= TUNING.deepest_entrance:
        return False
    if _deferred(bot) or len(player.level.spots(t.DOWN)) > 1:
        return False
    if (yield from exploring.look_under(player, bot.alarm)) != exploring.EXPLORED:
        return True
    if not player.level.pushing:
        player.level.push()
        return True
    player.refusals[name] += 1
    return (yield from exploring.search_for_exits(player, bot.alarm)) != moving.NO_WAY


def _deferred(bot: Bot) -> bool:
    """Whether to visit deeper levels before searching any level for hidden passages."""
    world = bot.player.world
    return (
        world.place.level < TUNING.deepest_entrance
        and Place(stairs.MAIN, TUNING.deepest_entrance) not in world.levels
    )


def _untried(bot: Bot) -> bool:
    """Whether stairs down are known here that may lead to the Mines."""
    level = bot.player.level
    return bot.player.body.depth <= TUNING.deepest_entrance and bool(
        set(level.spots(t.DOWN)) - set(level.links)
    )


def _passed_by(bot: Bot) -> bool:
    """Whether we passed a level above from which stairs may lead to the Mines."""
    if not bot.on.seeking or _deferred(bot) or _untried(bot):
        return False
    above = range(2, min(bot.player.world.place.level, TUNING.deepest_entrance + 1))
    places = (Place(stairs.MAIN, level) for level in above)
    return any(bot.player.refusals[_seeking(place)] < bot.plan.seek for place in places)


def _seeking(place: Place) -> Refusal:
    """What searches of a level for the way to the Mines count as."""
    return Refusal(Act.SEEK, place)


def _way_to_mines(bot: Bot) -> tuple[Level, list[int]] | None:
    """The level and the stairs that lead to the Mines, or may lead there because they are a second pair."""
    for place, level in bot.player.world.levels.items():
        if place.branch != stairs.MAIN or not 2 <= place.level <= TUNING.deepest_entrance:
            continue
        places = level.spots(t.DOWN)
        linked = [at for at in places if at in level.links]
        entrance = [at for at in linked if level.links[at].branch == stairs.MINES]
        if entrance:
            return level, entrance
        if len(places) > 1 and linked:
            return level, [at for at in places if at not in linked]
    return None


def _towards(bot: Bot, level: Level, places: list[int]) -> Skill:
    """Go to a level of the main dungeon, to these stairs, and down."""
    player = bot.player
    if player.level is not level:
        return (yield from _by_stairs(bot, player.world.place.level < level.place.level, stairs.MAIN))
    told = yield from moving.go_to(player, places, bot.alarm)
    if player.here in places:
        yield from stairs.wait_for_pet(player)
        return (yield from stairs.take_stairs(player, down=True))
    if told in (moving.NO_WAY, moving.STUCK):
        return (yield from _uncover(bot))
    return told


def _explore(bot: Bot) -> Skill:
    """Explore all of a level that can be seen without searching."""
    told = yield from exploring.explore(bot.player, bot.alarm)
    if told == exploring.EXPLORED and (yield from make_way(bot)):
        return "shot"
    return told


def _by_stairs(bot: Bot, down: bool, branch: int | None) -> Skill:
    told = yield from stairs.go_by_stairs(bot.player, down, branch, bot.alarm)
    if told in (moving.NO_WAY, moving.STUCK):
        return (yield from _uncover(bot))
    return told


def _uncover(bot: Bot) -> Skill:
    """See more of the level, if necessary by searching for hidden passages."""
    player, level = bot.player, bot.player.level
    for see in (exploring.explore, exploring.look_under):
        told = yield from see(player, bot.alarm)
        if told != exploring.EXPLORED:
            return told
    if (yield from make_way(bot)) or (yield from blocked_by_friends(bot)):
        return "shot"
    if not level.steps(player.here):
        level.forgive()
    if not level.pushing:
        level.push()
        return told
    name = Refusal(Act.SEARCH, level.place)
    player.refusals[name] += 1
    if (yield from magic.read_map(player)) == Told.READ:
        return "read"
    if player.refusals[name] > TUNING.cautious_searches:
        level.dare()
    if player.refusals[name] % TUNING.forgiving == 0:
        level.forgive()
    told = yield from exploring.search_for_exits(player, bot.alarm)
    if told == moving.NO_WAY:
        yield from exploring.search(player, TUNING.baffled_wait)
    return told
