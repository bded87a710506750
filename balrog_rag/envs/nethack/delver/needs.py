"""What cannot wait: mortal need, sickness, hunger."""

from balrog_rag.envs.nethack.delver.retreat import fall
from balrog_rag.envs.nethack.delver.state import Bot, Did
from balrog_rag.envs.nethack.skills import surviving
from balrog_rag.envs.nethack.world import world as w


def needs(bot: Bot) -> Did:
    """See to mortal need and hunger."""
    player = bot.player
    body = player.body
    if surviving.in_mortal_need(player) or body.condition & w.DEADLY:
        if surviving.may_pray(player):
            yield from surviving.pray(player)
            return True
        potion = surviving.healing(player)
        if potion:
            yield from surviving.quaff(player, potion)
            return True
        if (yield from fall(bot, 1.0)):
            return True
        if surviving.may_pray(player, desperate=True):
            yield from surviving.pray(player)
            return True
    if (player.feverish or player.cursed_hands) and not bot.enemies() and surviving.may_pray(player):
        yield from surviving.pray(player)
        return True
    if body.hunger >= w.HUNGRY and not bot.enemies() and (yield from surviving.eat(player)) == "ate":
        return True
    if body.hunger >= w.WEAK and surviving.may_pray(player, desperate=body.hunger >= w.FAINTING):
        yield from surviving.pray(player)
        return True
    return False
