import pytest

from balrog_rag.bots.nethack.delver import journey, retreat
from balrog_rag.bots.nethack.delver.state import Bot, Plan
from balrog_rag.bots.nethack.delver.switches import Switches
from balrog_rag.bots.nethack.skills import digging, gear, moving, surviving, tunnelling
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.player import Pit, Player
from balrog_rag.envs.nethack.world.refusals import Act, Refusal
from tests.bots.skills.made import ROOM as BARE_ROOM
from tests.bots.skills.made import made
from tests.bots.skills.test_moving import explore_all

ROOM = (
    BARE_ROOM
    + """BRANCH:(2,2,2,2),(0,0,0,0)
OBJECT:('(',"pick-axe"),(2,2)
"""
)


def take_it(player):
    return (yield from gear.pick_up(player, lambda text: "pick-axe" in text))


def test_a_hole_is_dug_and_elbereth_stands_in_the_pit():
    with made(ROOM) as game:
        player = game.player
        game.run(take_it)
        assert gear.digger(player)
        assert game.run(digging.dig_down, moving.never) == digging.FELL
        assert player.body.depth == 2
        assert bytes(game.pressed).count(b"Elbereth") >= 1


def test_no_hole_is_dug_beside_water():
    with made(ROOM.replace("|.........|", "|..}......|", 1)) as game:
        player = game.player
        game.run(take_it)
        assert digging.wetness(player.level, player.here) > 0
        assert game.run(digging.dig_down, moving.never) == digging.FELL


def test_elbereth_is_written_and_read():
    with made(ROOM) as game:
        assert game.run(surviving.guarded) == "bare"
        for _ in range(10):
            game.run(surviving.engrave)
            if game.run(surviving.guarded) == "guarded":
                break
        assert game.run(surviving.guarded) == "guarded"


def test_where_no_way_leads_one_is_dug_through_rock_and_walls():
    rooms = """MAP
-------   -------
|.....|   |.....|
|.....|   |.....|
-------   -------
ENDMAP
REGION:(0,0,16,3),lit,"ordinary"
BRANCH:(1,1,1,1),(0,0,0,0)
OBJECT:('(',"pick-axe"),(3,1)
"""
    with made(rooms) as game:
        player = game.player
        (axe,) = set(player.level.objects) - {player.here}
        game.run(moving.go_to, [axe])
        game.run(gear.pick_up, gear.digs)
        goal = axe + 10
        assert game.run(moving.go_to, [goal]) == moving.NO_WAY
        assert game.run(tunnelling.tunnel, [goal], moving.never) == moving.ARRIVED
        assert player.here == goal


def test_to_be_disturbed_within_a_turn_is_no_refusal_of_the_ground():
    """Archeologists are fast: they begin to dig twice in a turn, and newts around end it each time."""
    places = ((1, 1), (2, 1), (3, 1), (2, 3), (3, 3))
    newts = "".join(f"MONSTER:(':',\"newt\"),({x},{y}),hostile\n" for x, y in places)
    with made(ROOM + newts, character="arc-dwa-law-mal") as game:
        player = game.player
        stairs = Refusal(Act.DIG, (player.level.place, player.here))
        assert game.run(digging.dig_down, moving.never) == digging.FELL
        assert {each for each in player.refusals if each.act is Act.DIG} <= {stairs}


def test_whoever_falls_into_the_water_knows_where_he_crawled_to():
    island = """MAP
}}}}}}}}}
}}}}}}}}}
}}}...}}}
}}}...}}}
}}}}}}}}}
}}}}}}}}}
ENDMAP
BRANCH:(4,2,4,2),(0,0,0,0)
"""
    floods = 0
    with made(island, character="arc-dwa-law-mal") as game:
        player = game.player
        for _ in range(4):
            if game.run(digging.dig_down, moving.never) == digging.FLOODED:
                floods += 1
                row, column = game.arrays["tty_cursor"]
                assert player.here == t.spot(int(column), int(row) - 1)
    assert floods


BESET = ROOM + "MONSTER:('k',\"kobold\"),(2,1),hostile,asleep\n"


@pytest.mark.parametrize(("condition", "writes"), [(0, True), (w.HALLUCINATING, False), (w.CONFUSED, False)])
def test_who_is_confused_writes_nothing_as_it_would_not_come_out_whole(condition: int, writes: bool) -> None:
    with made(BESET) as game:
        player = game.player
        bot, pit = Bot(player), Pit(player.level, player.here, True, hp=player.body.hp)
        player.body.condition = condition
        game.run(digging.guard, pit)
        assert (pit.writings > 0) is writes
        game.run(moving.go_to, [player.here + 1])  # off the stairs
        player.body.condition, player.body.hp = condition, 1
        assert game.run(lambda _: retreat.hold(bot, bot.enemies())) is writes


def test_the_blind_trust_what_they_wrote_until_a_blow_shows_that_it_is_not_whole() -> None:
    with made(BESET + "OBJECT:('(',\"blindfold\"),(2,2)\n") as game:
        player, beside = game.player, list(game.player.world.monsters)
        game.run(gear.pick_up, lambda text: "blindfold" in text)
        blindfold = player.world.item("blindfold")
        game.run(Player.ask, ord("P"), ("want to put on", blindfold.letter))
        assert player.body.condition & w.BLIND
        pit = Pit(player.level, player.here, True, hp=player.body.hp + 1)
        assert game.run(digging.guard, pit) == "wrote"
        assert pit.guarded
        player.world.monsters = beside
        assert game.run(digging.guard, pit) == "no need"
        assert pit.guarded
        pit.hp += 1
        assert game.run(digging.guard, pit) == "wrote"
        assert pit.writings == 2


def test_with_bound_hands_one_waits_for_a_prayer_but_neither_deep_nor_for_ever() -> None:
    with made(ROOM) as game:
        player = game.player
        bot, off = Bot(player), Bot(player, Plan(on=Switches(prayer_curses=False)))

        def waits(bot: Bot = bot, depth: int = TUNING.bound_depth) -> bool:
            player.body.depth, turn = depth, player.body.turn
            waited = bool(game.run(lambda _: journey._await_prayer(bot)))
            assert waited is (player.body.turn > turn)
            return waited

        assert not waits()
        player.cursed_hands = True
        assert waits()
        assert bot.bound == TUNING.wait
        assert not waits(off)
        assert not waits(depth=TUNING.bound_depth + 1)
        player.unlucky = True
        assert not waits()
        player.unlucky, bot.bound = False, TUNING.bound
        assert not waits()


@pytest.mark.parametrize("bound", [True, False])
def test_who_waits_for_a_prayer_does_not_dig(bound: bool) -> None:
    with made(ROOM) as game:
        player = game.player
        game.run(take_it)
        bot, turn, game.pressed = Bot(player, Plan(dive_turn=0)), player.body.turn, []
        player.cursed_hands = bound
        game.run(lambda _: journey._dig(bot))
        assert player.body.turn > turn
        assert (keys.APPLY in game.pressed) is not bound


TWO_CAVES = """MAP
-------                -------
|.....+                |.....|
|.....|                |.....|
-------                -------
ENDMAP
REGION:(0,0,6,3),lit,"ordinary"
DOOR:open,(6,1)
BRANCH:(1,1,1,1),(0,0,0,0)
OBJECT:('(',"pick-axe"),(2,1)
"""


@pytest.mark.parametrize("burrowing", [True, False])
def test_out_of_the_mines_one_tunnels_into_the_unknown_once_no_way_leads_on(burrowing: bool):
    with made(TWO_CAVES) as game:
        player = game.player
        (axe,) = set(player.level.objects) - {player.here}
        game.run(moving.go_to, [axe])
        game.run(gear.pick_up, gear.digs)
        bot = Bot(player, Plan(on=Switches(burrowing=burrowing)))
        searched = Refusal(Act.SEARCH, player.level.place)
        player.refusals[searched] = 1
        assert not game.run(lambda _: journey._burrow(bot)), "a way leads to something new"
        game.run(explore_all)
        start, player.refusals[searched] = player.here, 0
        assert not game.run(lambda _: journey._burrow(bot)), "the level has not been searched yet"
        player.refusals[searched] = 1
        assert game.run(lambda _: journey._burrow(bot)) is burrowing
        assert (t.distance(player.here, start) > 2) is burrowing


HELD = ROOM.replace("|.........|", "|...}.....|", 1) + "MONSTER:('Y',\"owlbear\"),(4,3),hostile,asleep\n"


@pytest.mark.parametrize("holder", ["", "owlbear"])
def test_who_is_held_digs_at_once_instead_of_pulling(holder: str) -> None:
    with made(HELD, character="arc-dwa-law-mal") as game:
        player = game.player
        start = player.here + 1
        game.run(moving.go_to, [start])
        assert digging.wetness(player.level, start) > 0
        player.holder = holder
        assert digging.held(player) is bool(holder)
        game.run(digging._to_a_spot, moving.never)
        assert (player.here == start) is bool(holder)


@pytest.mark.parametrize("holder", ["", "owlbear"])
def test_who_is_held_does_not_walk_to_stairs(holder: str) -> None:
    with made(HELD + "STAIR:(5,2),down\n", character="arc-dwa-law-mal") as game:
        player = game.player
        start = player.here + 1
        game.run(moving.go_to, [start])
        bot, player.holder = Bot(player), holder
        player.body.depth = TUNING.deepest_entrance + 1
        assert journey._kept(bot) is bool(holder)
        player.level.set_terrain(start + 2, t.STAIRS_DOWN)
        assert game.run(lambda _: journey._near_stairs(bot)) is not bool(holder)


def test_a_god_or_fright_ends_a_grip() -> None:
    with made(ROOM) as game:
        player = game.player
        for told, holder in (
            ("The owlbear hits!  The owlbear grabs you!", "owlbear"),
            ("You get released!", ""),
            ("The giant eel swings itself around you!", "giant eel"),
            ("You pull free from the giant eel.", ""),
            ("You cannot escape from the large mimic!", "large mimic"),
        ):
            player._note_state(told)
            assert player.holder == holder


def test_a_pit_is_not_left_because_a_fast_hero_was_interrupted_once() -> None:
    with made(HELD, character="arc-dwa-law-mal") as game:
        player = game.player
        start = player.here + 1
        game.run(moving.go_to, [start])
        player.pit = Pit(player.level, start, True)
        name = Refusal(Act.DIG, (player.level.place, start))
        player.refusals[name] = TUNING.dig_refusals
        assert game.run(digging._to_a_spot, moving.never) == ""
        assert player.here == start
        player.refusals[name] += 1
        game.run(digging._to_a_spot, moving.never)
        assert player.here != start


def test_from_the_edge_of_a_pit_one_digs_on_and_writes_in_it() -> None:
    with made(ROOM, character="arc-hum-law-mal") as game:
        player = game.player
        player.body.depth = TUNING.write_depth_dwarf
        game.run(moving.go_to, [player.here + 1])
        pit = player.pit = Pit(player.level, player.here)
        while not pit.deep:
            game.run(digging._dig, pit)
        while not player.said("to the edge"):
            game.run(moving.step, player.here + 1)
        assert game.run(digging.guard, pit) == "could not write"
        assert pit.writings == 0
        assert surviving.stylus(player)
        assert game.run(digging.dig_down, moving.never) == digging.FELL
        assert bytes(game.pressed).count(b"Elbereth") >= 1
