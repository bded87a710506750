"""Deal with shopkeepers: what is for sale or not paid, paying, and selling what can be spared."""

import re

from balrog_rag.bots.nethack.skills.gear import best_weapon, digs, is_weapon, loose, put_down
from balrog_rag.bots.nethack.skills.missiles import launcher
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world.items import Item
from balrog_rag.envs.nethack.world.player import Player, Skill
from balrog_rag.envs.nethack.world.refusals import Act, Refusal

PRICE = re.compile(r"\(for sale, (\d+) zorkmids?\)")
"""What a shop asks for an item, in its description."""
_DEAR = re.compile(r"\b(?:spellbook|ring|amulet|scroll|potion)s?\b")
"""Words for what sells well."""
_USED = re.compile(r"healing|magic mapping")
"""Words for what we have use for."""


def unpaid(player: Player) -> Item | None:
    """Goods that were picked up where we fell into a shop: with them, digging on would be theft."""
    return next(
        (
            i
            for i in player.world.items
            if "unpaid" in i.use and not player.refusals[Refusal(Act.DROP, i.text)]
        ),
        None,
    )


def pay(player: Player) -> Skill:
    """Pay for items from a shop."""
    yield from player.ask(keys.PAY, ("Itemized", "n"), ("Pay", "y"), ("pay", "y"))
    return Told.PAID if player.said("bought") else Told.COULD_NOT_PAY


def salable(player: Player) -> list[Item]:
    """What we can spare in a shop, the dearest first."""
    spare = [
        item
        for item in loose(player, best_weapon(player), launcher(player))
        if not (_USED.search(item.name) or digs(item.name))
    ]
    dear = [item for item in spare if _DEAR.search(item.name) and not item.slot]
    return dear + [item for item in spare if item.slot or is_weapon(item.name)]


def sell(player: Player, item: Item) -> Skill:
    """Sell an item to a shopkeeper; one who has no use for it leaves it on the floor."""
    gold = player.body.gold
    yield from put_down(player, item, ("Sell it", "y"), ("offers", "y"))
    return Told.SOLD if player.body.gold > gold else Told.NOT_SOLD


def autopickup_off(player: Player) -> Skill:
    """Make sure that walking does not pick items up: in a shop that is buying."""
    for _ in range(2):
        yield from player.command(keys.AUTOPICKUP)
        if player.said("OFF"):
            return Told.OFF
    return Told.ON
