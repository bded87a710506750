"""Where hidden passages are searched for: ahead of corridors that end, and where rooms are joined."""

import pytest

from balrog_rag.bots.nethack.skills import exploring, moving
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Level, Place
from balrog_rag.envs.nethack.world.routes import Ways
from tests.bots.skills.made import ROOM, made
from tests.bots.skills.test_moving import explore_all
from tests.envs.drawn import thing

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


def drawn(*squares):
    """A level of which these squares are known: `(column, row, ground)`."""
    level = Level(Place(0, 1))
    for column, row, ground in squares:
        level.set_terrain(t.spot(column, row), ground)
    return level


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


def test_east_and_west_walls_are_likelier_than_a_north_wall_and_that_than_one_at_the_edge():
    wall, low = next(iter(t.WALLS)), 18
    level = drawn(
        (40, low, t.FLOOR), *((40 + x, low + y, wall) for x, y in ((0, 1), (0, -1), (1, 0), (-1, 0)))
    )
    hopes = exploring.Hopes(level, Ways(level, t.spot(40, low)))
    chances = [hopes._chances[place] for place in t.BESIDE[t.spot(40, low)]]
    north, east, south, west = chances
    assert east == west > north > 10 * south > 0


def test_of_equal_ends_the_nearer_is_searched():
    level = drawn(*((column, 10, t.CORRIDOR) for column in range(20, 51)))
    for column, best in ((30, 20), (45, 50)):
        hopes = exploring.Hopes(level, Ways(level, t.spot(column, 10)))
        assert hopes.best() == t.spot(best, 10)


def test_nobody_searches_from_a_door_that_is_closed():
    (closed, *_), door = t.CLOSED_DOORS, t.spot(41, 10)
    level = drawn((40, 10, t.FLOOR), (41, 10, closed))
    hopes = exploring.Hopes(level, Ways(level, t.spot(40, 10)))
    assert hopes.best([door]) is None
    level.set_terrain(door, t.DOORWAY)
    assert exploring.Hopes(level, Ways(level, t.spot(40, 10))).best([door]) == door


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
        player.level.note_search(end, 10)
        left = hopes_of(player).at(end) / before
        assert TUNING.search_missed**10 < left < 1.2 * TUNING.search_missed**10
        assert hopes_of(player).best() != end


def test_a_place_that_is_not_reached_becomes_less_promising_with_every_attempt():
    with made(STUB) as game:
        player = game.player
        game.run(explore_all)
        end = max(corridors(player.level), key=lambda place: t.xy(place)[0])
        game.run(moving.go_to, [end - 4])
        goals = set()
        for attempt in range(40):
            goals.add(hopes_of(player).best())
            assert game.run(exploring.search_for_exits, lambda: True) == moving.ALARMED, attempt
        assert player.here == end - 4
        assert len(goals) > 1


@pytest.mark.parametrize("limit", [1, t.WIDTH - 1])
def test_nothing_is_hidden_at_the_edge_of_the_map(limit: int):
    assert not t.INSIDE[limit]
    assert not t.INSIDE[t.SIZE - limit]
    assert t.INSIDE[t.spot(0, 1)]
    assert t.INSIDE[t.spot(t.WIDTH - 2, t.HEIGHT - 2)]


def test_a_corridor_that_ends_at_the_wall_of_a_room_without_a_way_is_searched_there():
    wall = next(iter(t.WALLS))
    ahead, room = t.spot(43, 10), t.spot(44, 10)
    way = [(column, 10, t.CORRIDOR) for column in range(38, 43)]
    level = drawn(*way, (43, 10, wall), (44, 10, t.FLOOR))
    hopes = exploring.Hopes(level, Ways(level, t.spot(38, 10)))
    assert hopes._chances[ahead] > hopes._chances[t.spot(42, 9)]
    assert hopes.best() == t.spot(42, 10)
    level.set_terrain(room, t.UNKNOWN)
    assert ahead not in exploring.Hopes(level, Ways(level, t.spot(38, 10)))._chances


def test_the_wall_of_a_room_without_a_way_is_searched_also_where_two_corridors_begin():
    ahead = t.spot(43, 10)
    way = [(column, 10, t.CORRIDOR) for column in range(38, 43)]
    level = drawn(*way, (42, 11, t.CORRIDOR), (43, 10, next(iter(t.WALLS))), (44, 10, t.FLOOR))
    hopes = exploring.Hopes(level, Ways(level, t.spot(38, 10)))
    assert hopes._chances[ahead] > hopes._chances[t.spot(42, 9)]
    level.set_terrain(t.spot(44, 10), t.UNKNOWN)
    assert ahead not in exploring.Hopes(level, Ways(level, t.spot(38, 10)))._chances


@pytest.mark.parametrize(
    ("beside", "passage"), [(t.CORRIDOR, True), (t.FLOOR, False), (next(iter(t.WALLS)), False)]
)
def test_the_end_of_a_corridor_is_one_also_under_a_thing(beside, passage):
    end = t.spot(42, 10)
    level = drawn((40, 10, t.CORRIDOR), (41, 10, t.CORRIDOR), (42, 10, t.FLOOR), (41, 9, beside))
    hopes = exploring.Hopes(level, Ways(level, t.spot(40, 10)))
    assert end + 1 not in hopes._chances, "the bare floor of a room"
    level.objects[end] = thing("dagger")
    hopes = exploring.Hopes(level, Ways(level, t.spot(40, 10)))
    assert (end + 1 in hopes._chances) is passage
