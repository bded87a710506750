"""In the middle of a shop with a pick-axe, as after a fall: items underfoot are for sale."""

import pytest

from balrog_rag.bots.nethack.delver.rules import play
from balrog_rag.bots.nethack.delver.state import Bot, Plan
from balrog_rag.bots.nethack.skills import digging, looking
from tests.bots.skills.made import TWO_ROOMS, made

SHOP = (
    TWO_ROOMS
    + """REGION:(0,0,16,4),lit,"ordinary"
REGION:(9,1,15,3),lit,"shop"
DOOR:closed,(8,2)
BRANCH:(12,1,12,1),(0,0,0,0)
"""
)
ROBBED = ("worth of goods", "grabs your", "You stole", "thief", "Thief", "Usage fee")


def fall(player, heard):
    """Play until the next level is reached, and collect all messages."""
    program = play(Bot(player, Plan(dive_turn=0)))
    key = next(program)
    while player.body.depth == 1:
        arrays = yield key
        heard.append(player.world.message)
        key = program.send(arrays)
    return "fell"


@pytest.mark.parametrize("seed", [1, 2])
def test_who_falls_into_a_shop_digs_out_beside_the_goods_and_owes_nothing(seed):
    with made(SHOP, "arc-dwa-law-mal", seed) as game:
        heard: list[str] = []
        player, goods = game.player, {game.player.here, *game.player.level.objects}
        game.run(looking.look_here)
        assert player.said("for sale")
        assert game.run(fall, heard, limit=2000) == "fell"
        assert player.pit is not None
        assert player.pit.place not in goods
        assert any("fall through" in said for said in heard)
        assert not [said for said in heard if any(word in said for word in ROBBED)]


def test_where_goods_lie_no_hole_is_begun():
    with made(SHOP, "arc-dwa-law-mal", 1) as game:
        assert game.run(digging._dig_here, lambda: False, True) == digging.TOO_HARD
        assert ord("a") not in game.pressed
