import pytest

from balrog_rag.bots.nethack.delver import obstacles
from balrog_rag.bots.nethack.delver.state import Bot, Plan
from balrog_rag.bots.nethack.delver.switches import Switches
from balrog_rag.bots.nethack.skills import exploring, fighting, looking, magic, moving, stairs
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Monster
from balrog_rag.envs.nethack.world.refusals import Act, Refusal
from balrog_rag.envs.nethack.world.routes import Ways
from balrog_rag.envs.nethack.world.species import all_species
from tests.bots.skills.made import ROOM, made

HOUSE = """MAP
-----------
|....|....|
|....+....|
|....|....|
-----------
ENDMAP
REGION:(0,0,10,4),lit,"ordinary"
DOOR:{door},(5,2)
BRANCH:(1,1,1,1),(0,0,0,0)
STAIR:(9,3),down
"""
FAR_ROOM = """MAP
---------------
|......|......|
|......|......|
---------------
ENDMAP
REGION:(1,1,6,2),lit,"ordinary"
REGION:(8,1,13,2),unlit,"ordinary"
BRANCH:(1,1,1,1),(0,0,0,0)
"""
PASSAGE = """MAP
-------   -------
|.....|   |.....|
|......###......|
|.....|   |.....|
-------   -------
ENDMAP
REGION:(0,0,16,4),lit,"ordinary"
NON_DIGGABLE:(0,0,16,4)
BRANCH:(1,1,1,1),(0,0,0,0)
STAIR:(15,3),down
"""


def explore_all(player):
    for _ in range(100):
        if (yield from exploring.explore(player)) == exploring.EXPLORED:
            return exploring.EXPLORED
    return "still exploring"


def test_doors_are_opened_and_never_passed_aslant():
    with made(HOUSE.format(door="closed")) as game:
        level = game.player.level
        door = level.spots(t.CLOSED_DOORS)[0]
        assert level.spots(t.DOWN) == []
        assert game.run(explore_all) == exploring.EXPLORED
        goal = level.spots(t.DOWN)
        assert len(goal) == 1
        assert {abs(near - door) for near in level.steps(door)} == {1}
        assert game.run(stairs.go_by_stairs, True) == moving.ARRIVED
        assert game.player.body.depth == 2
        assert level.links[goal[0]] == game.player.world.place


ON_STAIRS = ROOM + "BRANCH:(1,1,1,1),(0,0,0,0)\n"
"""The game begins on stairs up."""


def test_beside_a_monster_one_may_have_arrived_next_to_the_stairs():
    with made(ON_STAIRS) as game:
        assert not game.run(stairs._beside_stairs)
        assert not game.pressed  # nobody is near, so nobody stood on the stairs
    with made(ON_STAIRS + "MONSTER:('o',\"hill orc\"),(2,1),hostile,asleep\n") as game:
        assert not game.run(stairs._beside_stairs)
        game.run(moving.step, game.player.here + t.WIDTH)
        assert game.run(stairs._beside_stairs)


def test_where_stairs_are_refused_there_are_none():
    with made(ON_STAIRS) as game:
        game.run(moving.step, game.player.here + t.WIDTH)
        level, here = game.player.level, game.player.here
        level.set_terrain(here, t.STAIRS_UP)
        assert game.run(stairs.take_stairs, False) == moving.STUCK
        assert level.terrain[here] == t.FLOOR


def test_locked_doors_are_kicked_in():
    with made(HOUSE.format(door="locked")) as game:
        assert game.run(explore_all) == exploring.EXPLORED
        assert game.player.level.spots(t.DOWN)
        assert 4 in game.pressed


def test_a_door_that_somebody_stands_in_is_neither_opened_nor_kicked():
    with made(ROOM + "MONSTER:('h',\"hobbit\"),(2,1),peaceful,asleep\n") as game:
        player = game.player
        (hobbit,) = player.world.monsters
        player.level.set_terrain(hobbit.place, min(t.CLOSED_DOORS))  # as it was before the hobbit hid it
        player.refusals[Refusal(Act.LOCKED, (player.level.place, hobbit.place))] = 1
        assert game.run(moving.step, hobbit.place) == moving.STUCK
        assert hobbit.peaceful
        assert not {keys.OPEN, keys.KICK} & set(game.pressed)


def test_a_boulder_blocks_the_way_until_it_may_be_pushed():
    with made(PASSAGE + "OBJECT:('`',\"boulder\"),(7,2)\n") as game:
        level = game.player.level
        assert game.run(explore_all) == exploring.EXPLORED
        assert level.spots(t.DOWN) == []
        assert len(level.boulders) == 1
        level.push()
        assert game.run(explore_all) == exploring.EXPLORED
        assert level.spots(t.DOWN)


def test_a_hidden_door_is_found_by_searching():
    with made(HOUSE.format(door="closed").replace("|....+....|", "|....S....|")) as game:
        level = game.player.level
        assert game.run(explore_all) == exploring.EXPLORED
        for _ in range(40):
            game.run(exploring.search_for_exits)
        assert game.run(explore_all) == exploring.EXPLORED
        assert level.spots(t.DOWN)


def test_when_all_that_is_near_has_been_searched_one_goes_far():
    with made(ROOM + "BRANCH:(1,2,1,2),(0,0,0,0)\n") as game:
        player = game.player
        far = t.xy(player.here)[0] + 6
        player.level.searched = [60 if t.xy(place)[0] > far else 200 for place in range(t.SIZE)]
        game.run(exploring.search_for_exits)
        assert t.xy(player.here)[0] > far


def test_a_passage_is_searched_for_where_something_is_seen_and_not_reached():
    with made(FAR_ROOM, character="tou-hum-neu-fem") as game:
        player = game.player
        assert game.run(magic.read_map) == "read"
        ways = Ways(player.level, player.here)
        hopes = exploring.Hopes(player.level, ways)
        best = max((place for place in range(t.SIZE) if ways.steps[place] >= 0), key=hopes.at)
        wall = best + 1
        assert player.level.terrain[wall] in t.WALLS
        assert player.level.terrain[wall + 1] not in t.WALLS
        assert ways.steps[wall + 1] < 0


def test_a_floating_eye_in_the_way_is_shot_and_never_touched():
    with made(PASSAGE + "MONSTER:('e',\"floating eye\"),(8,2),asleep\n") as game:
        player = game.player
        assert game.run(explore_all) == exploring.EXPLORED
        eye = player.hostiles()[0]
        assert eye.species.never_touch
        for _ in range(80):
            if eye not in player.hostiles():
                break
            game.run(fighting.shoot_away, eye, moving.never)
        assert eye not in player.hostiles()
        assert ord("F") not in game.pressed


@pytest.mark.parametrize(("on", "cast"), [(True, True), (False, False)])
def test_a_wizard_sends_bolts_at_a_floating_eye_in_the_way(on: bool, cast: bool):
    eye = "MONSTER:('e',\"floating eye\"),(8,2),asleep\n"
    with made(PASSAGE + eye, character="wiz-hum-neu-mal") as game:
        player = game.player
        bot = Bot(player, Plan(on=Switches(magic=on)))
        game.run(magic.spells)
        assert game.run(explore_all) == exploring.EXPLORED
        power = player.body.power
        for _ in range(8):
            game.run(lambda _: obstacles.make_way(bot))
        assert (player.body.power < power) is cast
        assert ord("F") not in game.pressed


def test_looking_tells_the_peaceful_from_the_hostile():
    with made(HOUSE.format(door="closed") + "MONSTER:('h',\"dwarf\"),(3,1),peaceful\n") as game:
        (dwarf,) = game.player.hostiles()
        turn = game.player.body.turn
        game.run(looking.look_at, dwarf)
        assert dwarf.peaceful
        assert game.player.hostiles() == []
        assert game.player.body.turn == turn


@pytest.mark.parametrize("watched", [False, True])
def test_in_a_town_doors_are_kicked_in_only_while_no_watchman_looks(watched: bool):
    watchman = "MONSTER:('@',\"watchman\"),(3,3),peaceful,asleep\n"
    with made(HOUSE.format(door="locked") + watchman * watched) as game:
        level = game.player.level
        level.watched = True
        door = level.spots(t.CLOSED_DOORS)[0]
        for _ in range(60):
            game.run(moving.go_to, [door])
        assert (keys.KICK in game.pressed) is not watched
        assert (door in level.forbidden) is watched


def test_ways_lead_over_what_was_felt_far_off_but_not_over_what_is_felt_beside_us():
    with made(ROOM + "BRANCH:(2,2,2,2),(0,0,0,0)\n") as game:
        player = game.player
        near, far = player.here + 1, player.here + 3
        player.world.monsters = [Monster(place, None, tame=False) for place in (near, far)]
        assert moving.occupied(player) == {near}
        player.world.monsters[1] = Monster(far, all_species()[0], tame=False)
        assert moving.occupied(player) == {near, far}
