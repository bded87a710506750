"""Skills that tell items apart and deal with shopkeepers: engrave-tests, prices, buying, selling, paying."""

import re
from collections.abc import Iterable

from balrog_rag.bots.nethack.plan.plan_game import PlanGame, said
from balrog_rag.bots.nethack.plan.plan_items import carried, class_of
from balrog_rag.bots.nethack.skills import gear, looking, magic, trading
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.contracts.programs import ProgramFailed
from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world.items import Item
from balrog_rag.envs.nethack.world.player import Player, Skill

DEALS = ("buy", "pay", "sell")
_CHARISMA = 8
"""The place of charisma in NLE's bottom-line numbers."""
_OFFER = re.compile(r"offers(?: only)? (\d+) gold piece")
_FACTORS = ((19, (1, 2)), (18, (2, 3)), (16, (3, 4)), (11, (1, 1)), (8, (4, 3)), (6, (3, 2)), (0, (2, 1)))
"""By minimum charisma, what a shopkeeper makes of a base price (NetHack 3.6.7, get_cost in shk.c)."""
_MOST_NAMES = 10


def identify(game: PlanGame, item_letter: str | None = None) -> Skill:
    """Engrave with an unknown wand; in a shop learn what a price says of an item, carried or underfoot."""
    player = game.player
    if item_letter is None:
        wand = magic.unknown_wand(player)
        if wand is not None:
            return (yield from _engrave(player, wand))
        return (yield from _asked_price(player))
    item = carried(player, item_letter)
    if class_of(item.name) == "wand":
        return (yield from _engrave(player, item))
    if player.here not in player.level.shop:
        raise ProgramFailed("only a shopkeeper's price tells more about it; go to a shop")
    return (yield from _offered_price(player, item))


def _engrave(player: Player, wand: Item) -> Skill:
    """Write a letter with a wand, and say what that told."""
    yield from magic.try_wand(player, wand)
    now = player.world.carried(wand.letter) or wand
    told, meaning = said(player), player.wands.get(now.name)
    return f"{wand.letter} is {now.text}{f', a wand of {meaning}' if meaning else ''}: {told}"


def _asked_price(player: Player) -> Skill:
    """What the price of the thing underfoot says of it."""
    yield from looking.look_here(player)
    told = " ".join(player.heard)
    price = trading.PRICE.search(told)
    if price is None:
        raise ProgramFailed("there is no unknown wand to engrave with, and nothing for sale underfoot")
    bases = _bases_of_price(int(price[1]), int(player.screen.blstats[_CHARISMA]))
    return f"{told[-100:]} {_candidates(told[: price.start()], bases)}"


def _offered_price(player: Player, item: Item) -> Skill:
    """Put an item down so that the shopkeeper makes an offer, decline it, and take the item up again."""
    yield from player.begin()
    yield from player.press(keys.DROP)
    if player.screen.asks:
        yield from player.press(ord(item.letter))
    offer = _OFFER.search(player.screen.question) or _OFFER.search(" ".join(player.heard))
    yield from player.close()
    yield from gear.pick_up(player, lambda text: item.name in text)
    if offer is None:
        raise ProgramFailed(f"no offer was made: {said(player)}")
    amount = int(offer[1])
    return f"{amount} gold pieces were offered: {_candidates(item.name, {2 * amount, 3 * amount})}"


def _bases_of_price(price: int, charisma: int) -> set[int]:
    """The base prices from which a price may have been made, with and without the surcharge of a third."""
    up, down = next(factor for least, factor in _FACTORS if charisma >= least)
    plain = {base for base in range(1, 4 * price + 4) if base * up // down == price}
    return plain | {base for base in range(1, 4 * price + 4) if base * up * 4 // (down * 3) == price}


def _candidates(name: str, bases: Iterable[int]) -> str:
    """The kinds of item of the same class and of such a base price."""
    from nle import nethack as nh

    wanted, found = class_of(name), []
    symbols = {"scroll": "?", "potion": "!", "ring": "=", "wand": "/", "spellbook": "+", "amulet": '"'}
    symbol, prices, table = symbols.get(wanted, ""), set(bases), k.kinds()
    for number in range(nh.NUM_OBJECTS):
        entry = nh.objdescr.from_idx(number)
        same = table.symbol[nh.GLYPH_OBJ_OFF + number] == symbol
        if same and entry.oc_name and nh.objclass(number).oc_cost in prices:
            found.append(str(entry.oc_name))
    more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
    if not found:
        return "its price tells nothing more"
    return f"by its price one of {', '.join(found[:_MOST_NAMES])}{more}"


def shop(game: PlanGame, deal: str, item_letter: str | None = None) -> Skill:
    """Buy what lies underfoot, pay for what is carried, or sell an item."""
    player = game.player
    if player.here not in player.level.shop:
        raise ProgramFailed("you are not in a shop; go_to shop")
    if deal == "pay":
        return (yield from _pay(player))
    if deal == "sell":
        if item_letter is None:
            raise ProgramFailed("name the item to sell: shop sell a")
        return (yield from _sell(player, carried(player, item_letter)))
    yield from looking.look_here(player)
    price = trading.PRICE.search(" ".join(player.heard))
    if price is None:
        raise ProgramFailed("nothing underfoot is for sale")
    if int(price[1]) > player.body.gold:
        raise ProgramFailed(f"it costs {price[1]} and you have {player.body.gold} gold pieces")
    yield from gear.pick_up(player, lambda text: "for sale" in text or "zorkmid" in text)
    return (yield from _pay(player))


def _pay(player: Player) -> Skill:
    done = yield from trading.pay(player)
    return f"{done}: {said(player)}"


def _sell(player: Player, item: Item) -> Skill:
    gold = player.body.gold
    if (yield from trading.sell(player, item)) == Told.SOLD:
        return f"sold for {player.body.gold - gold} gold pieces"
    return f"not sold: {said(player)}"
