"""The language observation equals the recorded one, and follows its rule in unrecorded states."""

import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from balrog_rag.envs.nethack import language
from balrog_rag.envs.nethack.glyphs import glyph_names, plural

DATA = Path(__file__).parents[1] / "data" / "language"
NEWT, WOLF, TAME_KITTEN, LAND_MINE = 318, 20, 413, 2124
STONE, WALL, DOORWAY, CLOSED_DOOR, BARS, FLOOR, LAND_MINE_TRAP = 2359, 2360, 2371, 2374, 2376, 2378, 2406


@pytest.fixture(scope="module")
def states():
    with np.load(DATA / "states.npz") as arrays, lzma.open(DATA / "expected.jsonl.xz", "rt") as lines:
        columns = dict(arrays)
        expected = [json.loads(line) for line in lines]
    assert len(expected) == 600
    return [
        ({name: column[i] for name, column in columns.items()}, texts) for i, texts in enumerate(expected)
    ]


def observe(state):
    return {
        "text_glyphs": language.text_glyphs(state["glyphs"], state["blstats"]),
        "text_message": language.text_message(state["tty_chars"]),
        "text_blstats": language.text_blstats(state["blstats"]),
        "text_inventory": language.text_inventory(state["inv_strs"], state["inv_letters"]),
        "text_cursor": language.text_cursor(state["glyphs"], state["blstats"], state["tty_cursor"]),
    }


def stats(x=28, y=10, **values):
    blstats = np.zeros(27, np.int64)
    blstats[:2] = x, y
    for index, value in values.items():
        blstats[int(index.removeprefix("b"))] = value
    return blstats


def level(*things):
    """A lit, empty level with a glyph at each (x, y, glyph)."""
    glyphs = np.full((21, 79), FLOOR, np.int16)
    for x, y, glyph in things:
        glyphs[y, x] = glyph
    return glyphs


def seen(*things, x=28, y=10):
    """What a player in the middle sees of things placed relative to it, as (right, down, glyph)."""
    placed = [(x + right, y + down, glyph) for right, down, glyph in things]
    return language.text_glyphs(level(*placed), stats(x, y)).split("\n")


def screen(*rows):
    return np.array(
        [list(row.ljust(80).encode("latin-1")) for row in (*rows, *[""] * (24 - len(rows)))], np.uint8
    )


# --- what was recorded


def test_all_recorded_states(states):
    for number, (state, texts) in enumerate(states):
        for name, text in observe(state).items():
            assert text == texts[name], f"{name} of state {number}, {texts['kind']}"


def test_the_width_of_the_integers_makes_no_difference(states):
    for dtype in (np.int16, np.int32, np.int64, np.uint16):
        for state, _ in states[::60]:
            fitting = {
                key: array.astype(dtype) if key != "blstats" else array for key, array in state.items()
            }
            assert observe(fitting) == observe(state)


def test_arrays_need_not_be_contiguous(states):
    for state, _ in states[::60]:
        assert observe({key: np.asfortranarray(array) for key, array in state.items()}) == observe(state)


def test_every_glyph_has_the_recorded_name():
    with lzma.open(DATA / "glyphs.tsv.xz", "rt") as lines:
        names = [line.rstrip("\n").split("\t") for line in lines]
    assert len(names) == 5976
    for glyph, (one, several) in enumerate(names):
        assert seen((1, 0, glyph)) == [f"{one} adjacent east" if one else ""], glyph
        # Several of a noun that is its own plural, or of one named only near by, tell nothing new here.
        expected = f"{several} far eastnortheast" if several else ""
        assert seen((16, -2, glyph), (17, -2, glyph)) == [expected], glyph


def test_what_is_not_a_glyph_is_not_named():
    assert seen((1, 0, 5976), (2, 0, -1), (3, 0, 32767)) == [""]


# --- the map


@pytest.mark.parametrize(
    ("right", "down", "words"),
    [
        (0, -1, "adjacent north"),
        (1, 1, "adjacent southeast"),
        (2, 0, "very near east"),
        (-2, -1, "very near westnorthwest"),
        (1, 2, "very near southsoutheast"),
        (3, 3, "near southeast"),
        (-5, 1, "near westsouthwest"),
        (6, 0, "far east"),
        (-19, 9, "far westsouthwest"),
        (-1, -9, "far northnorthwest"),
        (20, 0, "very far east"),
        (50, -10, "very far eastnortheast"),
    ],
)
def test_distance_and_wind(right, down, words):
    assert seen((right, down, NEWT)) == [f"newt {words}"]


def test_far_comes_first_and_then_clockwise_from_north():
    assert seen((1, 0, NEWT), (0, -1, WOLF), (30, 0, TAME_KITTEN), (-1, -1, NEWT)) == [
        "tame kitten very far east",
        "wolf adjacent north",
        "newt adjacent east and northwest",
    ]


def test_winds_are_listed():
    assert seen((0, -1, NEWT), (1, 0, NEWT), (0, 1, NEWT)) == ["newt adjacent north, east, and south"]


def test_several_in_one_direction_are_told_apart_from_one():
    things = [(7, 0, WOLF), (8, 0, WOLF), (0, 7, WOLF)]
    assert seen(*things) == ["wolf far south", "wolves far east"]


def test_bars_that_stand_alone_and_in_numbers_share_their_winds():
    # One key for both lines, so the first says what the second does: a slip that has to be kept.
    things = [(7, 0, BARS), (8, 0, BARS), (0, 7, BARS)]
    assert seen(*things) == ["bars far east", "bars far east"]


def test_a_trap_and_an_object_of_one_name_are_one_thing():
    assert seen((1, 0, LAND_MINE), (0, 1, LAND_MINE_TRAP)) == ["land mine adjacent east and south"]


def test_walls_hide_what_lies_behind_them_but_doors_do_not():
    assert seen((2, 0, WALL), (3, 0, DOORWAY)) == ["vertical wall very near east"]
    assert seen((2, 0, CLOSED_DOOR), (3, 0, DOORWAY)) == [
        "doorway near east",
        "vertical closed door very near east",
    ]


def test_walls_off_the_straight_lines_and_beyond_nine_steps_are_not_seen():
    assert seen((2, 1, WALL), (10, 0, WALL), (9, 9, STONE)) == ["dark area far southeast"]


def test_lines_of_sight_end_at_the_edge_of_the_map():
    for x, y in ((0, 0), (78, 0), (0, 20), (78, 20)):
        glyphs = np.full((21, 79), STONE, np.int16)
        assert language.text_glyphs(glyphs, stats(x, y)).count("dark area") == 1


def test_the_player_is_not_mentioned():
    assert seen((0, 0, NEWT)) == [""]


def test_a_player_off_the_map_looks_at_it_from_there():
    glyphs = level((0, 3, NEWT), (2, 3, WALL))
    assert language.text_glyphs(glyphs, stats(-1, 3)) == "vertical wall near east\nnewt adjacent east"
    assert language.text_glyphs(glyphs, stats(500, -40)) == "newt very far westsouthwest"


@pytest.mark.parametrize(
    ("noun", "several"),
    [
        ("quarterstaff", "quarterstaves"),
        ("dwarf", "dwarves"),
        ("fox", "foxes"),
        ("lich", "lichs"),
        ("jellyfish", "jellyfishes"),
        ("leather gloves", "leather gloveses"),
        ("hiking boots", "hiking boots"),
        ("fairy", "fairies"),
        ("gray", "grays"),
        ("ice", "area of ice"),
        ("scroll labeled TEMOV", "scrolls labeled TEMOV"),
        ("tame Master of Thieves", "tame Master of Thieveses"),
        ("Master of Thieves", "Masters of Thieves"),
        ("swallow top left", "swallows top left"),
        ("unknown creature causing you dread", "unknown creatures causing you dread"),
    ],
)
def test_plurals(noun, several):
    assert plural(noun) == several


# --- the cursor


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        (11, 28, "Yourself a newt"),
        (11, 27, "adjacent west "),
        (1, 0, ""),  # the map's first cell has never counted
        (0, 5, ""),  # the message row
        (22, 5, ""),  # the status rows
        (21, 79, ""),
        (10, 79, "very far eastnortheast wolf"),  # the map's row is one shorter than the screen's
        (1, 1, "very far westnorthwest "),
        (200, 200, ""),
    ],
)
def test_cursor(row, column, words):
    glyphs = level((28, 10, NEWT), (0, 10, WOLF))
    assert language.text_cursor(glyphs, stats(), np.array([row, column])) == words


# --- messages


def test_a_message_is_the_trimmed_top_line():
    assert language.text_message(screen("  You see here a newt.  ", "", "  |.@|")) == "You see here a newt."


def test_an_empty_top_line_is_no_message():
    assert language.text_message(screen("", "", "   --More--")) == ""


def test_a_page_is_read_from_its_indent_down_to_its_end():
    rows = ("   |.    Coins", "   |.", "   |.    $ - 4 gold pieces", "----     (end)", "never read")
    assert (
        language.text_message(screen(*("         " + row[9:] for row in rows)))
        == "Coins\n$ - 4 gold pieces\n(end)"
    )
    assert language.text_message(screen(" " * 9 + "Coins", *rows[1:])) == "Coins\n$ - 4 gold pieces\n(end)"


@pytest.mark.parametrize(("number", "pages"), [("(1 of 2)", True), ("(1 of 10)", False), ("1 of 2", False)])
def test_page_numbers(number, pages):
    assert language.text_message(screen("Items", "a - b", number)) == (
        f"Items\na - b\n{number}" if pages else "Items"
    )


def test_only_the_first_of_in_a_row_counts():
    assert language.text_message(screen("Items", "a potion of oil (1 of 2)", "end of it")) == "Items"


def test_a_lone_character_in_the_last_column_is_not_seen():
    assert language.text_message(screen(" " * 79 + "x")) == ""
    assert language.text_message(screen("Items", " " * 79 + "x", "(end)")) == "Items\n(end)"


def test_the_list_of_best_games_ends_at_two_blank_rows():
    rows = ("You made the list!", "", " No  Points", "  1   12", "", "", "never read")
    assert language.text_message(screen("Bye", *rows)) == "Bye\nYou made the list!\nNo  Points\n1   12\n"


def test_scores_under_an_empty_top_line_begin_with_what_lay_before_the_screen():
    assert language.text_message(screen("", " No  Points", "  1   12")) == "\0\nNo  Points\n1   12\n"


def test_nuls_and_tabs_are_not_blanks():
    assert language.text_message(np.zeros((24, 80), np.uint8)) == "\0" * 80
    assert language.text_message(screen("\t hej \x1a ")) == "\t hej"
    assert language.text_message(screen("sm\xf8rrebr\xf8d")) == "sm\xf8rrebr\xf8d"


# --- states and belongings


def last_line(**values):
    return language.text_blstats(stats(**values)).split("\n")[-1]


def test_conditions_keep_their_old_order():
    assert last_line() == "Condition: None"
    assert last_line(b25=1 << 13) == "Condition: None"
    assert last_line(b25=-1) == (
        "Condition: Flying Levitating Hallucinating Confused Stunned Deaf Blind Terminally Ill "
        "Food Poisoning Strangled Slimed Riding Stoned"
    )


def test_states_by_name():
    text = language.text_blstats(stats(b21=0, b22=5, b26=-128))
    for line in ("Hunger: Satiated", "Encumbrance: Overloaded", "Alignment: None"):
        assert line in text.split("\n")


def test_unknown_states_are_left_blank():
    text = language.text_blstats(stats(b21=9, b22=-3, b26=7))
    for line in ("Hunger: ", "Encumbrance: ", "Alignment: "):
        assert line in text.split("\n")


def inventory(*items, letters=None):
    rows = np.zeros((55, 80), np.uint8)
    for row, item in enumerate(items):
        rows[row, : len(item)] = list(item)
    marks = np.zeros(55, np.uint8)
    named = letters or bytes(range(97, 97 + len(items)))
    marks[: len(named)] = list(named)
    return language.text_inventory(rows, marks)


def test_inventory_lines():
    assert inventory() == ""
    assert inventory(b"a newt", b"", b"\xe9\xff") == "a: a newt\nb: \nc: \xe9\xff"
    assert inventory(b"a newt", b"not held", letters=b"\xa7\0b") == "\xa7: a newt"


def test_an_item_that_fills_its_row_runs_on():
    assert inventory(b"x" * 80, b"y") == f"a: {'x' * 80}y\nb: y"
    full = np.full((55, 80), 120, np.uint8)
    assert language.text_inventory(full, full[:, 0]).startswith("x: xxx")


# --- anything at all


@settings(max_examples=150, deadline=None)
@given(
    glyphs=npst.arrays(np.int16, (21, 79), fill=st.sampled_from([FLOOR, STONE])),
    blstats=npst.arrays(np.int64, 27, elements=st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 80)),
    tty_chars=npst.arrays(np.uint8, (24, 80), fill=st.sampled_from([0, 32])),
    tty_cursor=npst.arrays(np.uint8, 2),
    inv_strs=npst.arrays(np.uint8, (55, 80), fill=st.sampled_from([0, 120])),
    inv_letters=npst.arrays(np.uint8, 55, fill=st.sampled_from([0, 97])),
)
def test_no_observation_is_refused(**state):
    texts = observe(state)
    assert all(type(text) is str for text in texts.values())
    assert observe(state) == texts


def test_crowded_maps_leave_nothing_out():
    random = np.random.default_rng(1)
    names = glyph_names()
    for _ in range(20):
        glyphs = random.integers(0, 5976, (21, 79)).astype(np.int16)
        x, y = int(random.integers(79)), int(random.integers(21))
        lines = language.text_glyphs(glyphs, stats(x, y)).split("\n")
        glyphs[y, x] = FLOOR
        text = "\n".join(lines)
        assert all(
            names.nouns[noun] in text or names.plurals[noun] in text for noun in names.noticed[glyphs].flat
        )


def test_an_all_zero_observation_has_texts():
    state = {
        "glyphs": np.zeros((21, 79), np.int16),
        "blstats": np.zeros(27, np.int64),
        "tty_chars": np.zeros((24, 80), np.uint8),
        "tty_cursor": np.zeros(2, np.uint8),
        "inv_strs": np.zeros((55, 80), np.uint8),
        "inv_letters": np.zeros(55, np.uint8),
    }
    texts = observe(state)
    assert "giant ants very far east, eastsoutheast, and southsoutheast" in texts["text_glyphs"]
    assert texts["text_inventory"] == texts["text_cursor"] == ""
