"""Skills: what was trained enough is advanced, when the game says so."""

import pytest

from balrog_rag.bots.nethack.delver import hero_needs
from balrog_rag.bots.nethack.delver.state import Bot, Plan
from balrog_rag.bots.nethack.delver.switches import Switches
from balrog_rag.bots.nethack.skills import gear, moving
from balrog_rag.bots.nethack.skills.told import Told
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.player import Player, Skill
from tests.bots.skills.made import made
from tests.bots.skills.test_surviving import take

WIDTH = 20
LEVEL = f"""MAP
{"-" * (WIDTH + 2)}
|{"." * WIDTH}|
|{"." * WIDTH}|
{"-" * (WIDTH + 2)}
ENDMAP
REGION:(0,0,{WIDTH + 1},3),lit,"ordinary"
BRANCH:(1,1,1,1),(0,0,0,0)
OBJECT:(')',"axe"),(1,1)
""" + "".join(f"MONSTER:('F',\"lichen\"),({x},{y}),asleep\n" for x in range(2, WIDTH + 1) for y in (1, 2))
"""With an axe, a Valkyrie's skill can be advanced after twenty good blows and at experience level 2."""


def strike(player: Player) -> Skill:
    """Strike at one lichen after another, until the game says that a skill can be advanced."""
    while not player.trained and (lichens := player.hostiles()):
        yield from moving.go_to(player, t.NEAR[lichens[0].place])
        yield from player.command(keys.FIGHT, t.heading(player.here, lichens[0].place))
    return Told.ATTACKED


@pytest.mark.parametrize("on", [True, False])
def test_a_trained_skill_is_advanced_as_soon_as_the_game_says_so(on: bool) -> None:
    with made(LEVEL, "val-hum-neu-fem") as game:
        player = game.player
        assert game.run(gear.advance) == Told.NOTHING_TO_ADVANCE
        game.run(take, "axe")
        game.run(gear.wield, next(item for item in player.world.items if item.name == "axe"))
        game.run(strike)
        assert player.trained
        turn, bot = player.body.turn, Bot(player, Plan(on=Switches(training=on)))
        acted = game.run(lambda _: hero_needs.train(bot))
        assert acted is on
        assert player.trained is not on
        assert (keys.ENHANCE in game.pressed[2:]) is on
        assert player.body.turn == turn
        if on:
            assert player.said("more skilled in axe")
            assert game.run(gear.advance) == Told.NOTHING_TO_ADVANCE
