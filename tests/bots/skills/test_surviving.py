"""Dwarves, prayer, hunger, shops and obstacles: each provoked on a test level."""

from balrog_rag.bots.nethack.delver import obstacles
from balrog_rag.bots.nethack.delver.state import Bot
from balrog_rag.bots.nethack.skills import exploring, fighting, gear, looking, moving, surviving
from balrog_rag.bots.nethack.skills.tuning import TUNING
from balrog_rag.envs.nethack.world import known_world as w
from balrog_rag.envs.nethack.world import terrain as t
from tests.bots.skills.made import ROOM as BARE_ROOM
from tests.bots.skills.made import TWO_ROOMS, made
from tests.bots.skills.test_moving import PASSAGE, explore_all

ROOM = BARE_ROOM + "BRANCH:(1,1,1,1),(0,0,0,0)\n"
SHOP = (
    TWO_ROOMS
    + """REGION:(1,1,7,3),lit,"ordinary"
REGION:(9,1,15,3),lit,"shop"
DOOR:open,(8,2)
BRANCH:(1,1,1,1),(0,0,0,0)
"""
)


def kill_all(player):
    for _ in range(200):
        if not player.hostiles():
            return "nobody is left"
        yield from fighting.fight(player, player.hostiles())
    return "still fighting"


def take(player, name):
    goals = [place for place in player.level.objects if place != player.here]
    yield from moving.go_to(player, goals)
    return (yield from gear.pick_up(player, lambda text: name in text))


def wait(player, until):
    """Let time pass quickly until hunger has reached this state."""
    for _ in range(200):
        if player.body.hunger >= until:
            return "waited"
        yield from exploring.search(player, 20)
    return "no hunger comes"


def test_a_dwarf_is_killed_and_its_pick_axe_taken():
    with made(
        ROOM + "MONSTER:('h',\"dwarf\"),(5,2),hostile,asleep\nOBJECT:('(',\"pick-axe\"),(8,2)\n"
    ) as game:
        assert game.run(kill_all) == "nobody is left"
        assert gear.digger(game.player) is None
        game.run(take, "pick-axe")
        assert gear.digger(game.player)


def test_hunger_is_met_with_what_is_carried():
    with made(ROOM + "OBJECT:('%',\"food ration\"),(5,2)\n") as game:
        player = game.player
        game.run(take, "gunyoki")
        assert game.run(wait, w.HUNGRY) == "waited"
        assert game.run(surviving.eat) == "ate"
        assert player.body.hunger < w.HUNGRY


def test_a_prayer_in_need_is_heard_once_it_is_due():
    with made(ROOM) as game:
        player = game.player
        assert not surviving.may_pray(player)
        assert game.run(wait, w.WEAK) == "waited"
        assert surviving.may_pray(player)
        assert game.run(surviving.pray) == "prayed"
        assert player.body.hunger < w.HUNGRY
        assert not surviving.may_pray(player)


def test_what_is_little_to_the_gods_depends_on_the_experience():
    with made(BARE_ROOM) as game:
        body = game.player.body
        for body.level, body.max_hp, little in (
            (1, 14, 5),
            (5, 40, 8),
            (6, 60, 10),
            (14, 140, 20),
            (1, 60, 5),
        ):
            body.hp = little
            assert surviving.in_mortal_need(game.player)
            body.hp = little + 1
            assert not surviving.in_mortal_need(game.player)
        body.hp, game.player.changed = 1, True
        assert not surviving.in_mortal_need(game.player)


def test_a_prayer_too_early_is_not_heard_and_none_follows():
    with made(ROOM) as game:
        assert game.run(surviving.pray) == "not heard"
        game.run(wait, w.WEAK)
        assert not surviving.may_pray(game.player, desperate=True)


def test_who_is_attacked_is_peaceful_no_longer():
    with made(ROOM + "MONSTER:('h',\"dwarf\"),(5,2),peaceful\n") as game:
        player = game.player
        (dwarf,) = player.world.monsters
        fighting.presume(player, [dwarf])
        assert dwarf.peaceful
        game.run(moving.go_to, t.NEAR[dwarf.place])
        while player.hostiles() == [] and player.world.monsters:
            game.run(fighting.attack, player.world.monsters[0])
        assert player.said("gets angry")


def test_a_shop_is_seen_and_no_way_leads_into_it():
    with made(SHOP) as game:
        level = game.player.level
        assert game.run(explore_all) == exploring.EXPLORED
        assert level.shop
        assert not any(level.visited[place] for place in level.shop)


def test_what_explodes_in_a_dead_end_is_set_off():
    """Where a gas spore keeps one from going anywhere, its explosion is better than to starve."""
    level = PASSAGE.replace("BRANCH:(1,1,1,1)", "BRANCH:(7,2,7,2)").replace("|......###", "|.....-###")
    with made(level + "MONSTER:('e',\"gas spore\"),(8,2),hostile\n", seed=3) as game:
        player = game.player
        (spore,) = player.hostiles()
        assert spore.species.explodes
        game.run(lambda player: obstacles.set_off(Bot(player), spore))
        assert spore not in player.hostiles()


def test_refused_steps_and_doors_are_forgiven_but_no_shop():
    with made(SHOP) as game:
        level, here = game.player.level, game.player.here
        game.run(explore_all)
        (door,) = level.spots([13, 14])
        near = level.steps(here)[0]
        level.refuse(here, near)
        level.forbid([door])
        level.forgive()
        assert near in level.steps(here)
        assert door not in level.forbidden
        assert level.shop <= level.forbidden


def test_the_first_prayer_is_safe_from_turn_101_and_the_next_700_turns_later():
    with made(ROOM) as game:
        player = game.player

        def allowed(turn, **options):
            player.world.body.turn = turn
            return surviving.may_pray(player, **options)

        assert [allowed(turn) for turn in (100, 101)] == [False, True]
        player.prayed = 1000
        assert [allowed(turn) for turn in (1699, 1700)] == [False, True]
        assert [allowed(turn, desperate=True) for turn in (1299, 1300)] == [False, True]
        player.unlucky = True
        assert not allowed(9000)


def test_nothing_is_thrown_past_somebody_who_may_not_be_hit():
    line = "MONSTER:('Z',\"kobold zombie\"),(8,2),hostile,asleep\n"
    friend = "MONSTER:('h',\"dwarf\"),(6,2),peaceful,asleep\n"
    reach = []
    for between in ("", friend):
        with made(ROOM.replace("BRANCH:(1,1,1,1)", "BRANCH:(2,2,2,2)") + line + between) as game:
            player = game.player
            zombie = next(each for each in player.hostiles() if each.species.name == "kobold zombie")
            start = next(
                place
                for place in range(t.SIZE)
                if t.xy(place) == (t.xy(zombie.place)[0] - 6, t.xy(zombie.place)[1])
            )
            for monster in player.world.monsters:
                if monster.place != zombie.place:
                    game.run(looking.look_at, monster)
            reach.append(fighting.in_range(player, start, zombie))
    assert reach == [True, False]


def test_whose_pet_died_in_a_trap_by_swapping_places_does_not_pray() -> None:
    with made(ROOM) as game:
        game.player.body.turn = TUNING.first_prayer
        assert surviving.may_pray(game.player)
        game.player._note_state("You feel guilty about losing your pet like this.")
        assert not surviving.may_pray(game.player, desperate=True)
