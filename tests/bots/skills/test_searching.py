"""Where hidden passages are searched for: ahead of corridors that end, and where rooms are joined."""

import pytest

from balrog_rag.bots.nethack.skills import exploring
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.routes import Ways
from tests.bots.skills.made import ROOM, made
from tests.bots.skills.test_moving import explore_all

STUB = """MAP
----------------
|.....|       |
|......###### |
|.....|  #    |
----------------
ENDMAP
REGION:(0,0,14,4),lit,"ordinary"
NON_DIGGABLE:(0,0,14,4)
BRANCH:(1,1,1,1),(0,0,0,0)
"""
DOORS = """MAP
--------------
|    #       |
-----+-----  |
|.........+# |
|.........|  |
--------------
ENDMAP
REGION:(0,2,10,5),lit,"ordinary"
DOOR:open,(5,2)
DOOR:open,(10,3)
BRANCH:(1,3,1,3),(0,0,0,0)
"""


def hopes_of(player):
    return exploring.Hopes(player.level, Ways(player.level, player.here))


def corridors(level):
    return level.spots((t.CORRIDOR, t.LIT_CORRIDOR))


def test_the_end_of_a_corridor_is_searched_before_its_sides_and_ahead_before_aside():
    with made(STUB) as game:
        level = game.player.level
        game.run(explore_all)
        hopes, squares = hopes_of(game.player), corridors(level)
        end = max(squares, key=lambda place: t.xy(place)[0])
        ahead, aside = hopes._chances[end + 1], hopes._chances[end - t.WIDTH]
        assert ahead > aside > hopes._chances[end - 2 - t.WIDTH] > 0
        assert hopes.best(squares) == end


def test_a_door_is_hidden_in_an_east_or_west_wall_rather_than_in_another():
    with made(ROOM + "BRANCH:(5,2,5,2),(0,0,0,0)\n") as game:
        player = game.player
        column, row = t.xy(player.here)
        hopes = hopes_of(player)
        west, north = hopes._chances[t.spot(column - 5, row)], hopes._chances[t.spot(column, row - 2)]
        assert west > 10 * north > 0
        assert t.xy(hopes.best() or 0)[0] in (column - 4, column + 4)
        assert t.spot(column - 5, row - 2) not in hopes._chances  # no door is in a corner


def test_no_door_is_next_to_a_door_and_hardly_a_way_leads_on_from_a_niche():
    with made(DOORS) as game:
        level = game.player.level
        game.run(explore_all)
        hopes = hopes_of(game.player)
        niche, passage = sorted(corridors(level))
        assert level.visited[niche]
        assert level.visited[passage]
        above, ahead = hopes._chances[niche - 1], hopes._chances[passage + 1]
        assert ahead > 100 * above > 0
        for door in (niche + t.WIDTH, passage - 1):
            assert not any(hopes._chances.get(near) for near in t.BESIDE[door])


def test_searching_in_vain_lowers_the_chance():
    with made(STUB) as game:
        player = game.player
        game.run(explore_all)
        squares = corridors(player.level)
        end = max(squares, key=lambda place: t.xy(place)[0])
        before = hopes_of(player).at(end)
        for place in t.NEAR[end]:
            player.level.searched[place] += 10
        left = hopes_of(player).at(end) / before
        assert TUNING.search_missed**10 < left < 1.2 * TUNING.search_missed**10
        assert hopes_of(player).best() != end


@pytest.mark.parametrize("limit", [1, t.WIDTH - 1])
def test_nothing_is_hidden_at_the_edge_of_the_map(limit: int):
    assert not t.INSIDE[limit]
    assert not t.INSIDE[t.SIZE - limit]
    assert t.INSIDE[t.spot(0, 1)]
    assert t.INSIDE[t.spot(t.WIDTH - 2, t.HEIGHT - 2)]
