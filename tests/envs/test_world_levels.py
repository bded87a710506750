"""What is remembered of a level: ground, doors, boulders, traps, and where one may step."""

import pytest

from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Level, Place
from balrog_rag.envs.nethack.world.rooms import CORRIDOR, ROOM, Rooms
from balrog_rag.envs.nethack.world.routes import Ways, first
from balrog_rag.envs.nethack.world.species import all_species
from balrog_rag.envs.nethack.world.tracked_player import OpenLevel
from tests.envs.drawn import Drawn, at, ground, monster, thing

HERE = Place(0, 1)


def level(*rows, kind=Level):
    """The level as it is known from one look."""
    made = kind(HERE)
    made.see(Drawn(*rows).arrays["glyphs"].ravel(), 1)
    return made


def look(known, shown, turn=1):
    return known.see(shown.arrays["glyphs"].ravel(), turn)


def steps(known, x, y):
    """The squares that one can step to, as offsets."""
    here = at(x, y)
    return {
        (near % t.WIDTH - here % t.WIDTH, near // t.WIDTH - here // t.WIDTH) for near in known.steps(here)
    }


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (["...", ".@.", "..."], 8),
        (["|.|", "|@|", "---"], 1),
        (["...", ".@.", "+.."], 7),  # a closed door is never entered aslant
        (["...", "+@.", "..."], 8),  # but straight
        (["...", "o@.", "..."], 8),
        (["o..", ".@.", "..."], 8),  # a doorway without a door is open ground
        (["'..", ".@.", "..."], 7),
        (["^}~", ".@.", "T  "], 2),  # traps, water, lava, trees, stone
        (["s..", ".@.", "..."], 8),  # a squeaky board does no harm
        (["###", " @ ", "   "], 3),
        (["<>_", "{@ ", "   "], 4),
    ],
)
def test_where_one_may_step(rows, found):
    assert len(level(*rows).steps(at(1, 1))) == found


def test_from_an_open_door_one_leaves_in_a_straight_line_only():
    known = level("...", ".'.", "...")
    assert steps(known, 1, 1) == {(0, -1), (1, 0), (0, 1), (-1, 0)}


def test_traps_are_walked_over_only_by_the_daring_and_never_water():
    known = level("^}.", ".@.", "...")
    assert (-1, -1) not in steps(known, 1, 1)
    version = known.version
    known.dare()
    assert known.version > version
    assert (-1, -1) in steps(known, 1, 1)
    assert (0, -1) not in steps(known, 1, 1)
    known.dare(False)
    assert (-1, -1) not in steps(known, 1, 1)
    version = known.version
    known.dare(False)
    assert known.version == version, "what is the same opens no way"


@pytest.mark.parametrize(
    ("row", "boulders", "pushes"),
    [
        ("@...", [1], True),
        ("@.|.", [1], False),  # a wall behind it
        ("@...", [1, 2], False),  # another boulder behind it
        ("@.  ", [1], True),  # nobody knows what is behind it
        ("@.+.", [1], True),
    ],
)
def test_a_boulder_is_in_the_way_until_it_may_be_pushed_to_a_free_square(row, boulders, pushes):
    shown = Drawn(row)
    for x in boulders:
        shown.put(x + 1, 1, thing("boulder"))
    known = Level(HERE)
    look(known, shown)
    assert known.boulders == {at(x, 0) for x in boulders}
    assert (1, 0) not in steps(known, 0, 0)
    known.push()
    assert ((1, 0) in steps(known, 0, 0)) == pushes


def test_a_boulder_at_the_edge_of_the_map_is_not_pushed_round_to_the_other_side():
    known = Level(HERE)
    shown = Drawn()
    for x in (76, 77, 78):
        shown.put(x, 5, ground("."))
    shown.put(78, 5, thing("boulder"))
    look(known, shown)
    known.push()
    assert t.spot(78, 5) not in known.steps(t.spot(77, 5))


def test_a_boulder_that_was_pushed_away_opens_the_way():
    shown = Drawn("@..")
    shown.put(2, 1, thing("boulder"))
    known = Level(HERE)
    look(known, shown)
    shown.put(2, 1, ground("."))
    shown.put(3, 1, thing("boulder"))
    look(known, shown)
    assert known.boulders == {at(2, 0)}
    assert (1, 0) in steps(known, 0, 0)


def test_nobody_squeezes_between_two_boulders_where_skills_walk():
    shown = Drawn("@.", "..")
    for x, y in ((2, 1), (1, 2)):
        shown.put(x, y, thing("boulder"))
    for kind, aslant in ((Level, True), (OpenLevel, False)):
        known = kind(HERE)
        look(known, shown)
        assert ((1, 1) in steps(known, 0, 0)) == aslant
    shown.put(1, 2, ground("."))
    known = OpenLevel(HERE)
    look(known, shown)
    assert (1, 1) in steps(known, 0, 0), "beside one boulder there is room"


def test_a_way_that_the_game_refused_is_not_tried_again_until_it_is_forgiven():
    known = level("...", ".@.", "...")
    here, there = at(1, 1), at(2, 1)
    known.refuse(here, there)
    assert known.refused(here, there)
    assert not known.refused(there, here)
    assert there not in known.steps(here)
    assert here in known.steps(there)
    known.forgive()
    assert there in known.steps(here)


def test_forbidden_squares_are_forgiven_but_for_those_of_a_shop():
    known = level("....")
    known.shop = {at(3, 0)}
    known.forbid([at(1, 0), at(3, 0)])
    version = known.version
    known.forbid([at(1, 0)])
    assert known.version == version
    assert known.steps(at(0, 0)) == ()
    known.forgive()
    assert known.forbidden == {at(3, 0)}
    assert known.steps(at(0, 0)) == (at(1, 0),)
    known.allow([at(3, 0)])
    assert set(known.steps(at(2, 0))) == {at(1, 0), at(3, 0)}


@pytest.mark.parametrize(
    ("before", "on_it", "after"),
    [
        (" ", "newt", t.FLOOR),  # ground that was never seen is taken for floor
        ("#", "newt", t.CORRIDOR),  # who stands somewhere changes nothing
        ("#", "dagger", t.CORRIDOR),
        ("|", "dagger", t.FLOOR),  # dug through since it was seen
        ("+", "dagger", t.DOORWAY),  # nothing lies in a closed door
        ("'", "dagger", 13),
        ("|", "newt", 1),  # a ghost may stand in a wall
    ],
)
def test_what_something_on_it_says_of_the_ground(before, on_it, after):
    shown = Drawn("@" + before)
    known = Level(HERE)
    look(known, shown)
    shown.put(2, 1, thing(on_it) if on_it == "dagger" else monster(on_it))
    assert look(known, shown)
    assert known.terrain[at(1, 0)] == after
    assert (at(1, 0) in known.objects) == (on_it == "dagger")


def test_a_square_that_is_no_longer_seen_is_remembered_and_things_that_are_gone_are_not():
    shown = Drawn("@:")
    known = Level(HERE)
    look(known, shown)
    shown.put(2, 1, thing("dagger"))
    look(known, shown)
    shown.put(2, 1, ground(" "))
    look(known, shown)
    assert known.terrain[at(1, 0)] == t.DARK_FLOOR
    assert known.objects == {}
    assert not look(known, shown), "nothing has changed since"


def test_the_ground_under_a_monster_that_left_unseen_is_unknown_unless_it_was_walked_on():
    shown, known = Drawn("@:"), Level(HERE)
    for x in (5, 6):
        shown.put(x, 1, monster("newt"))
    look(known, shown)
    assert [known.terrain[at(x, 0)] for x in (4, 5)] == [t.FLOOR, t.FLOOR]
    known.visit(at(5, 0), blind=False)
    for x in (5, 6):
        shown.put(x, 1, ground(" "))
    look(known, shown)
    assert [known.terrain[at(x, 0)] for x in (4, 5)] == [t.UNKNOWN, t.FLOOR]


def test_what_was_visited_blind_counts_as_visited_only_until_we_see_again():
    known = Level(HERE)
    seen, felt, later = at(1, 0), at(2, 0), at(3, 0)
    known.visit(seen, blind=False)
    for place in (seen, felt):
        known.visit(place, blind=True)
    assert known.visited[felt]
    known.visit(later, blind=False)
    assert [known.visited[place] for place in (seen, felt, later)] == [1, 0, 1]


def test_water_makes_a_level_wet():
    assert not level("...").wet
    assert level("..}").wet
    assert level("..~").wet


@pytest.mark.parametrize(
    ("before", "corpse", "fresh"),
    [("newt", "newt", True), ("jackal", "newt", False), (None, "newt", False)],
)
def test_a_corpse_is_fresh_if_a_monster_of_its_kind_stood_there_a_moment_before(before, corpse, fresh):
    shown = Drawn("@.")
    known = Level(HERE)
    if before:
        shown.put(2, 1, monster(before))
    look(known, shown, turn=4)
    shown.put(2, 1, monster(corpse, "BODY"))
    look(known, shown, turn=5)
    assert known.fresh == ({at(1, 0): 5} if fresh else {})


def test_who_gave_way_to_a_thing_is_remembered_also_when_another_one_does():
    shown = Drawn("@..")
    known = Level(HERE)
    left = monster("dwarf"), monster("newt", "BODY"), monster("gnome"), monster("jackal", "BODY")
    for turn, glyph in enumerate(left):
        shown.put(2, 1, glyph)
        shown.put(3, 1, monster("newt", "BODY"))  # nobody stood on this one
        look(known, shown, turn)
    assert list(known.left) == [at(1, 0)]
    assert [all_species()[number].name for number in known.left[at(1, 0)]] == ["dwarf", "gnome"]
    assert known.fresh == {}


def test_a_corpse_that_somebody_of_its_kind_stood_on_is_not_fresh():
    shown = Drawn("@.")
    known = Level(HERE)
    for turn, glyph in enumerate((monster("newt", "BODY"), monster("newt"), monster("newt", "BODY"))):
        shown.put(2, 1, glyph)
        look(known, shown, turn)
    assert known.fresh == {}


def test_a_fallen_pet_leaves_a_fresh_corpse_too():
    shown = Drawn("@.")
    known = Level(HERE)
    for turn, glyph in enumerate((monster("kitten", "PET"), monster("kitten", "BODY"))):
        shown.put(2, 1, glyph)
        look(known, shown, turn)
    assert known.fresh == {at(1, 0): 1}


def test_a_room_is_what_hangs_together_without_its_doors():
    known = level("|....|", "|....+", "|....|", "  #   ")
    assert len(known.room(at(2, 1))) == 12
    assert at(5, 1) not in known.room(at(2, 1))


def test_unknown_neighbours_are_counted_and_spots_found_in_order():
    known = level(">..", ".@<", "..>")
    assert known.unknown_near(at(1, 1)) == 0
    assert known.unknown_near(at(0, 0)) == 5
    assert known.spots(t.STAIRS) == [at(0, 0), at(2, 1), at(2, 2)]
    assert known.spots(t.TRAPS) == []


def test_a_square_is_at_the_frontier_until_it_is_visited_or_all_around_is_known():
    known = level(">..", ".@<", "..>")
    assert not known.is_frontier(at(1, 1))
    assert known.is_frontier(at(0, 0))
    known.visit(at(0, 0), blind=False)
    assert not known.is_frontier(at(0, 0))


@pytest.mark.parametrize(
    ("start", "end", "key"),
    [((5, 5), (5, 1), "k"), ((5, 5), (9, 5), "l"), ((5, 5), (7, 7), "n"), ((5, 5), (3, 7), "b"),
     ((5, 5), (3, 3), "y"), ((5, 5), (8, 2), "u"), ((5, 5), (5, 6), "j"), ((5, 5), (0, 5), "h"),
     ((5, 5), (6, 7), None), ((5, 5), (5, 5), None)],
)  # fmt: skip
def test_a_heading_leads_along_lines_that_a_key_can_follow(start, end, key):
    assert t.heading(t.spot(*start), t.spot(*end)) == (ord(key) if key else 0)


@pytest.mark.parametrize(
    ("towards", "squares", "found"),
    [((6, 5), 3, [(6, 5), (7, 5), (8, 5)]), ((4, 4), 9, [(4, 4), (3, 3), (2, 2), (1, 1), (0, 0)]),
     ((9, 9), 0, []), ((5, 9), 2, [(5, 6), (5, 7)])],
)  # fmt: skip
def test_a_ray_ends_at_the_edge_of_the_map(towards, squares, found):
    assert t.ray(t.spot(5, 5), t.spot(*towards), squares) == [t.spot(*each) for each in found]


def test_squares_are_counted_row_by_row_and_distances_in_kings_moves():
    assert t.xy(t.spot(78, 20)) == (78, 20)
    assert t.spot(0, 1) == t.WIDTH
    assert t.distance(t.spot(3, 3), t.spot(7, 5)) == 4
    assert t.distance(t.spot(78, 0), t.spot(0, 1)) == 78
    assert len(t.NEAR[0]) == 3
    assert len(t.NEAR[t.SIZE - 1]) == 3
    assert len(t.NEAR[t.WIDTH - 1]) == 3, "the end of a row has no neighbour at the next one's beginning"
    assert not t.CAREFUL[t.UNKNOWN]
    assert not t.DARING[t.UNKNOWN]


def test_the_shortest_way_leads_through_doors_and_round_whatever_is_blocked():
    known = level(".....", "..|..", "..|..", "..|..")
    ways = Ways(known, at(1, 2))
    assert ways.steps[at(3, 2)] == 4
    assert len(ways.to(at(3, 2))) == 4
    assert ways.to(at(3, 2))[-1] == at(3, 2)
    assert ways.to(at(1, 2)) == []
    round_it = Ways(known, at(1, 2), {at(2, 0)})
    assert round_it.steps[at(3, 2)] == -1
    assert round_it.to(at(3, 2)) == []
    assert round_it.steps[at(2, 0)] == -2


def test_the_nearest_of_several_squares_and_of_none():
    known = level("@....", "     ", "....")
    ways = Ways(known, at(0, 0))
    assert ways.nearest([at(4, 0), at(2, 0), at(0, 2)]) == at(2, 0)
    assert ways.nearest([at(0, 2)]) is None
    assert ways.nearest([]) is None


def test_a_search_for_the_first_wanted_square_never_takes_the_start():
    known = level("@....")
    assert first(known, at(0, 0), lambda place: True) == [at(1, 0)]
    assert first(known, at(0, 0), lambda place: place == at(3, 0)) == [at(1, 0), at(2, 0), at(3, 0)]
    assert first(known, at(0, 0), lambda place: place == at(0, 0)) is None
    assert first(known, at(0, 0), lambda place: place == at(3, 0), {at(2, 0)}) is None


def rooms_of(known):
    rooms = Rooms()
    return rooms, rooms.see(known)


def test_rooms_and_corridors_have_numbers_and_doors_belong_to_both_sides():
    known = level("|..|   ", "|..'###", "|..|   ")
    rooms, (new, mergers) = rooms_of(known)
    assert [rooms.word(number) for number in new] == ["room 0", "corridor 1"]
    assert mergers == []
    assert rooms.around(at(3, 1)) == [0, 1]
    assert rooms.number(at(3, 1)) == -1
    assert rooms.around(at(0, 0)) == []
    assert (rooms.known(1), rooms.known(2), rooms.known(-1)) == (True, False, False)


def test_corridors_turn_aslant_and_rooms_do_not():
    rooms, (new, _) = rooms_of(level("##  ", "  ##"))
    assert [rooms.kinds[number] for number in new] == [CORRIDOR]
    rooms, (new, _) = rooms_of(level("..  ", "  .."))
    assert [rooms.kinds[number] for number in new] == [ROOM, ROOM]


@pytest.mark.parametrize(
    ("row", "kinds"),
    [
        ("#.:", [CORRIDOR, ROOM, ROOM]),  # beside both the ground of a room decides
        ("#.#", [CORRIDOR] * 3),
        ("#.o", [CORRIDOR, CORRIDOR, None]),  # a door's ground belongs to neither
        (" .|", [None, ROOM, None]),
        ("<.#", [ROOM, ROOM, CORRIDOR]),
    ],
)
def test_plain_floor_is_of_a_room_or_of_a_corridor_by_what_is_around_it(row, kinds):
    rooms, _ = rooms_of(level(row))
    numbers = [rooms.number(at(x, 0)) for x in range(3)]
    assert [rooms.kinds[number] if number >= 0 else None for number in numbers] == kinds


def test_two_rooms_that_turn_out_to_be_one_keep_the_lower_number():
    shown = Drawn("..  ..")
    known = Level(HERE)
    look(known, shown)
    rooms = Rooms()
    assert rooms.see(known)[0] == [0, 1]
    shown.draw("......")
    look(known, shown)
    new, mergers = rooms.see(known)
    assert (new, [(merger.numbers, merger.number) for merger in mergers]) == ([], [((0, 1), 0)])
    assert {rooms.number(at(x, 0)) for x in range(6)} == {0}
    assert rooms.root(1) == 0
    assert rooms.squares(1) == [at(x, 0) for x in range(6)]
    assert rooms.see(known) == ([], [])


def test_a_square_known_only_by_who_stands_there_waits_for_its_neighbours():
    shown = Drawn("@")
    shown.put(10, 10, monster("newt"))
    known = Level(HERE)
    look(known, shown)
    rooms = Rooms()
    assert rooms.see(known) == ([], [])
    for x in (11, 12):
        shown.put(x, 10, ground("#"))
    look(known, shown)
    rooms.see(known)
    assert rooms.kinds[rooms.number(t.spot(10, 10))] == CORRIDOR


def test_a_corridor_that_turns_out_to_be_a_room_is_numbered_anew():
    shown = Drawn("###")
    known = Level(HERE)
    look(known, shown)
    rooms = Rooms()
    rooms.see(known)
    shown.draw("...")
    look(known, shown)
    new, _ = rooms.see(known)
    assert [rooms.word(number) for number in new] == ["room 1"]
    assert {rooms.number(at(x, 0)) for x in range(3)} == {1}
