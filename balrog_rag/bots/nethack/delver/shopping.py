"""Buy a digging tool or food in a shop, and sell things for it."""

from balrog_rag.bots.nethack.delver.state import Bot, Did
from balrog_rag.bots.nethack.skills import exploring, gear, moving, surviving, trading
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.player import Player
from balrog_rag.envs.nethack.world.refusals import Act, Refusal


def buy(bot: Bot) -> Did:
    """Buy a digging tool or food, if a shop is seen to have some that we can pay."""
    player, level = bot.player, bot.player.level
    if not bot.on.shopping or bot.enemies():
        return False
    goals = [place for place in level.objects if place in level.shop and _sells(bot, place)]
    if not goals:
        return False
    level.allow(level.shop)
    told = yield from moving.go_to(player, goals, bot.alarm)
    if player.here in goals:
        return (yield from _purchase(bot))
    if told != moving.ALARMED and not (yield from _wait_for_shopkeeper(bot)):
        bot.priced |= {(level.place, place): 0 for place in goals}
    return True


def _wait_for_shopkeeper(bot: Bot) -> Did:
    """Go to the shopkeeper, who stands in the way at first; for whoever is in the door, he steps aside."""
    player = bot.player
    waits = Refusal(Act.SHOP, player.level.place)
    keepers = [m for m in player.world.monsters if m.species and m.species.shopkeeper]
    if not keepers or player.refusals[waits] >= TUNING.shop_waits:
        return False
    player.refusals[waits] += 1
    beside = t.NEAR[min(keepers, key=lambda m: t.distance(m.place, player.here)).place]
    if player.here not in beside and (yield from moving.go_to(player, beside, bot.alarm)) != moving.NO_WAY:
        return True
    yield from exploring.search(player, 1)
    return True


def _purchase(bot: Bot) -> Did:
    """Buy what is wanted of the goods here; for a digging tool that is too dear, sell what we can spare."""
    player = bot.player
    tools: list[int] = []

    def wish(text: str) -> bool:
        price = trading.PRICE.search(text)
        if price and gear.digs(text):
            tools.append(int(price[1]))
        return _buys(bot, text)

    yield from gear.pick_up(player, wish)
    price = min(tools, default=0)
    if price > player.body.gold and _wealth(player) >= price and (yield from _raise(bot, price)):
        yield from gear.pick_up(player, wish)
    bot.priced[player.world.place, player.here] = price if price > player.body.gold else 0
    if trading.unpaid(player):
        yield from trading.pay(player)
    return True


def _raise(bot: Bot, price: int) -> Did:
    """Sell what we can spare until we can pay a price."""
    player = bot.player
    while player.body.gold < price and not bot.enemies() and (spare := trading.salable(player)):
        yield from trading.sell(player, spare[0])
    return player.body.gold >= price


def _wealth(player: Player) -> int:
    """Our gold, and what we can spare may bring."""
    return player.body.gold + TUNING.sale * len(trading.salable(player))


def _sells(bot: Bot, place: int) -> bool:
    """Whether what a shop has there may be bought: what was too dear, when we have become richer."""
    level = bot.player.level
    price = bot.priced.get((level.place, place))
    if price is not None:
        return 0 < price <= _wealth(bot.player)
    return _worth_buying(bot, k.kinds().name[level.objects[place]])


def _buys(bot: Bot, text: str) -> bool:
    """Whether an item of this description is for sale, wanted and can be paid."""
    price = trading.PRICE.search(text)
    return price is not None and int(price[1]) <= bot.player.body.gold and _worth_buying(bot, text)


def _worth_buying(bot: Bot, name: str) -> bool:
    """Whether to buy such a thing: a digging tool, and food if we have none and are hungry or rich."""
    player = bot.player
    if gear.digs(name):
        return bot.plan.dig and not gear.digger(player) and _wealth(player) >= TUNING.cheap
    if not (bot.on.larder and surviving.is_ration(name)) or gear.digger(player):  # no shop admits diggers
        return False
    enough = TUNING.cheap_food if player.body.hunger >= w.HUNGRY else TUNING.rich
    return player.body.gold >= enough and not surviving.rations(player, lichens=True)
