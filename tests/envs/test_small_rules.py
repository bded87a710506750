"""The rules of the small games and what their players without a model read and decide."""

import numpy as np
import pytest

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import BalrogError, EnvironmentFailure
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.envs.babaisai.player import read_board, solve
from balrog_rag.envs.babaisai.simulation import Rule, Tile
from balrog_rag.envs.babaisai.words import describe
from balrog_rag.envs.babyai.agent_view import view_of
from balrog_rag.envs.babyai.game import ACTIONS as TURNS
from balrog_rag.envs.babyai.game import TASKS as ERRANDS
from balrog_rag.envs.babyai.game import limit
from balrog_rag.envs.babyai.game import make as babyai
from balrog_rag.envs.babyai.player import Place, Thing, _errands, _offset
from balrog_rag.envs.babyai.words import describe as seen_by
from balrog_rag.envs.conform import OriginalGame, PictureComparison, State, fingerprint, read, replay
from balrog_rag.envs.crafter.game import MAX_STEPS, _crafters_name
from balrog_rag.envs.crafter.game import make as crafter
from balrog_rag.envs.crafter.kind import CrafterProgress
from balrog_rag.envs.crafter.player import Scene, _Player
from balrog_rag.envs.crafter.words import VITAL, status
from balrog_rag.envs.small_engine import Moment
from balrog_rag.envs.small_game import SEEDS, PlayedEngine, SolvedProgress, by_seed, seed_of
from balrog_rag.envs.textworld.kind import Scored, game_of
from balrog_rag.envs.textworld.story import Description, _Quest
from balrog_rag.envs.textworld.words import as_glulx, safe_command, without_goal
from tests.envs.test_babaisai import board, tops

# --- Baba Is AI ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "rules"),
    [
        (["b=y"], {Rule("baba", "you")}),
        (["b=y*"], {Rule("baba", "you")}),
        (["b=", "=y", "y."], {Rule("baba", "you")}),  # down alone; across there is no third word
        (["=b=y"], {Rule("baba", "you")}),
        (["y=b"], set()),  # a property is not a thing
        (["b=="], set()),
        (["b.=y"], set()),
        (["b=k"], {Rule("baba", "key")}),
        (["b=y", "=..", "*.."], {Rule("baba", "you"), Rule("baba", "win")}),
    ],
)
def test_what_blocks_spell(rows, rules):
    assert set(board(*rows).rules) == rules


@pytest.mark.parametrize(
    ("rows", "moves", "won", "last"),
    [
        (["k=*....", "b=y....", "BK....."], ["right"], True, ".B....."),
        (["k=*....", "b=y....", "B.K...."], ["right"], False, ".BK...."),
        (["k=*....", "b=y....", "K......"], ["right"], False, "K......"),  # nobody is there to move
        (["k=*....", "b=y....", "BB....."], ["right"], False, ".BB...."),  # the front one moves first
        (["k=*....", "b=y....", ".BB...."], ["left"], False, "BB....."),
    ],
)
def test_what_a_move_does(rows, moves, won, last):
    made = board(*rows)
    assert [made.move(move) for move in moves][-1] == won
    assert tops(made)[-1] == last


def test_a_push_against_the_border_or_a_stop_moves_nothing():
    made = board("b=y....", "w=s....", "Bk#....")
    made.move("right")
    assert tops(made)[2] == "Bk#...."
    edge = board("b=y....", "kB.....")
    edge.move("left")
    assert tops(edge)[1] == "kB....."


def test_baba_looks_where_it_was_told_to_go_only_while_it_is_the_players():
    mine, others = board("b=y....", "B......"), board("k=y....", "B.K....")
    for each in (mine, others):
        each.move("down")
    assert (mine.facing, others.facing) == ("down", "right")


def test_a_copy_of_a_board_is_apart_from_it():
    made = board("b=y....", "B......")
    copy = made.copy()
    copy.move("right")
    assert (tops(made)[1], tops(copy)[1]) == ("B......", ".B.....")
    assert copy.which("you") == {"baba"}


def test_a_cell_may_be_entered_if_nothing_on_it_stops_or_would_have_to_be_pushed():
    made = board("b=y....", "w=s....", "B#k.K..")
    entered = [made.may_enter((x, 3)) for x in range(9)]
    assert entered == [False, True, False, False, True, True, True, True, False]


def test_ways_to_things_are_told_from_the_player_and_baba_never_is():
    made = board("b=y....", "B..K...", "...B...")
    told = describe(made, (1, 2))
    assert told.startswith("Active rules:\nbaba is you\n\nObjects on the map:\n")
    lines = told.partition("Objects on the map:\n")[2].split("\n")
    assert lines == [
        "rule `baba` 1 step up", "rule `is` 1 step to the right and 1 step up",
        "rule `you` 2 steps to the right and 1 step up", "key 3 steps to the right",
    ]  # fmt: skip
    left = describe(board("K.B....", "b=y...."), (3, 1)).partition("Objects on the map:\n")[2]
    assert left.split("\n")[0] == "key 2 step to the left", "only right and down have a plural, as in BALROG"


@pytest.mark.parametrize(
    ("rows", "most"),
    [
        (["b=y....", "k=*....", "B..K..."], 3),
        (
            ["b=y.....", "........", "k=......", "..*.....", "B...K...", "........"],
            30,
        ),  # the rule is made first
        (["k=*....", "b=y....", "BK....."], 1),
    ],
)
def test_a_player_finds_a_way_to_win(rows, most):
    made = board(*rows)
    found = solve(made)
    assert 0 < len(found) <= most
    assert [made.move(move) for move in found][-1]


def test_where_nobody_can_win_the_player_does_not_move():
    assert solve(board("b=y....", "B......")) == []


def test_a_board_without_anything_but_rules_is_read_too():
    read_ = read_board("Active rules:\nbaba is you\n\nObjects on the map:\n")
    assert (read_.width, read_.height) == (3, 3)
    assert list(read_.tops()) == [((1, 1), Tile("baba"))]


# --- BabyAI --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("task", "steps"), list(zip(ERRANDS, (64, 64, 128, 128, 128), strict=True)))
def test_errands_end_where_their_levels_do(task, steps):
    game = babyai(task, 3)
    game.reset()
    assert limit(task) == game.max_steps == steps


def test_a_game_that_is_not_solved_ends_at_its_limit_without_progression():
    game = babyai(ERRANDS[0], 3)
    game.reset()
    moments = [game.step("drop") for _ in range(64)]
    assert {moment.ended for moment in moments[:-1]} == {""}
    assert (moments[-1].ended, moments[-1].progression, moments[-1].reward) == ("steps", 0.0, 0.0)


def test_what_is_seen_changes_with_every_turn_and_comes_back_after_four():
    game = babyai(ERRANDS[1], 5)
    first = game.reset()
    turned = [game.step("turn left").long for _ in range(4)]
    assert turned[-1] == first.long
    assert len(set(turned)) > 1
    assert "a wall" in "".join(turned)


def test_what_is_carried_is_told_first():
    game = babyai(ERRANDS[1], 5)
    game.reset()
    level = game._level
    from minigrid.core.world_object import Key

    level.carrying = Key("red")
    assert seen_by(view_of(level).cells).startswith("You carry a red key")
    level.carrying = None
    assert "You carry" not in seen_by(view_of(level).cells)


@pytest.mark.parametrize(
    ("start", "actions", "cell", "way"),
    [
        ((0, 0), ["go forward"], (0, -1), 0),
        ((0, 0), ["turn right", "go forward"], (1, 0), 1),
        ((0, 0), ["turn left", "go forward"], (-1, 0), 3),
        ((2, 3), ["turn left", "turn left", "go forward"], (2, 4), 2),
        ((0, 0), ["turn right"] * 4, (0, 0), 0),
    ],
)
def test_where_actions_lead(start, actions, cell, way):
    place = Place(start, 0)
    for action in actions:
        place = place.after(action)
    assert (place.cell, place.way) == (cell, way)


@pytest.mark.parametrize(("way", "cell"), [(0, (2, -3)), (1, (3, 2)), (2, (-2, 3)), (3, (-3, -2))])
def test_where_a_thing_is_that_is_seen_two_to_the_right_and_three_ahead(way, cell):
    assert Place((0, 0), way).seen_at(2, 3) == cell


@pytest.mark.parametrize(
    ("words", "offset"),
    [
        ("2 steps left and 1 step forward", (-2, 1)),
        ("1 step right", (1, 0)),
        ("6 steps forward", (0, 6)),
        ("3 steps right and 12 steps forward", (3, 12)),
    ],
)
def test_how_far_a_thing_is(words, offset):
    assert _offset(words) == offset


@pytest.mark.parametrize(
    ("thing", "wanted", "is_it"),
    [
        (("red", "key"), ("red", "key"), True),
        (("red", "key"), ("", "key"), True),
        (("red", "key"), ("blue", "key"), False),
        (("red", "key"), ("red", "ball"), False),
    ],
)
def test_a_thing_without_a_colour_may_have_any(thing, wanted, is_it):
    assert Thing(*thing).is_a(Thing(*wanted)) == is_it


@pytest.mark.parametrize(
    ("goal", "wanted"),
    [
        ("go to the red ball", ["the red ball"]),
        ("pick up a key, then go to the box", ["a key", "the box"]),
        ("go to the red ball after you pick up the blue key", ["the blue key", "the red ball"]),
        ("put the red ball next to the blue key", ["the red ball next to the blue key"]),
        ("open the door", ["the door"]),
    ],
)
def test_errands_are_done_in_the_order_that_the_words_say(goal, wanted):
    assert [what for what, _ in _errands(goal)] == wanted


# --- Crafter -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "name"),
    [("Noop", "noop"), ("Move West", "move_left"), ("Move North", "move_up"), ("Do", "do"),
     ("Place Table", "place_table"), ("Make Iron Pickaxe", "make_iron_pickaxe")],
)  # fmt: skip
def test_actions_have_crafters_names(action, name):
    assert _crafters_name(action) == name


def test_status_lists_vital_signs_and_what_is_carried():
    most = dict.fromkeys((*VITAL, "wood"), 9)
    full = dict.fromkeys(VITAL, 9)
    assert status(full | {"wood": 0}, most).endswith("You have nothing in your inventory.")
    assert status(full | {"health": 0, "wood": 2}, most).endswith("Your inventory:\n- wood: 2")
    assert "- health: 0/9" in status(full | {"health": 0}, most)


def test_progression_is_the_share_of_achievements_and_never_falls():
    made = CrafterProgress()
    for unlocked in (0, 11, 3):
        made.see({"achievements": unlocked}, 0.0, "")
    assert made.value == 0.5


def test_a_new_world_is_begun_alive_with_nothing_and_its_numbers_are_told():
    moment = crafter("default", 7).reset()
    assert moment.numbers == {"achievements": 0, "health": 9, "food": 9, "drink": 9, "energy": 9}
    assert (moment.progression, moment.ended) == (0.0, "")
    assert kind_of("crafter").max_steps("default") == MAX_STEPS


def scene(sees="", has="", faces="grass", asleep=False):
    """A moment of Crafter: `tree 3 north` and so on, `wood 2` and so on."""
    lines = [line.split() for line in sees.split(", ") if line]
    near = "\n".join(f"- {name} {far} steps to your {way}" for name, far, way in lines)
    counts = {"food": 9, "drink": 9, "energy": 9} | dict(each.split() for each in has.split(", ") if each)
    short = "\n".join(f"- {name}: {count}" for name, count in counts.items())
    state = "You are sleeping, and so on.\n\n" if asleep else ""
    return Scene(Moment(f"{state}You see:\n{near}\n\nYou face {faces} at your front.", short))


ATE = "eat_cow"


@pytest.mark.parametrize(
    ("moment", "action"),
    [
        (scene(asleep=True, sees="zombie 1 north"), "Noop"),
        (scene(sees="zombie 1 north, tree 1 south"), "Move North"),
        (scene(sees="zombie 1 north", faces="zombie"), "Do"),
        (scene(sees="water 5 west, tree 1 south", has="drink 3"), "Move West"),
        (scene(sees="cow 4 east", has="food 2"), "Move East"),
        (scene(has="energy 2"), "Sleep"),
        (scene(sees="zombie 6 north", has="energy 2"), "Do"),  # nobody sleeps with an enemy in sight
        (scene(sees="table 1 north", has="wood 1, energy 9"), "Make Wood Pickaxe"),
        (scene(sees="table 1 north", has="wood 1, wood_pickaxe 1"), "Make Wood Sword"),
        (
            scene(sees="table 1 north", has="wood 1, stone 1, wood_pickaxe 1, wood_sword 1"),
            "Make Stone Pickaxe",
        ),
        (scene(has="wood 6", faces="sand"), "Place Table"),
        (scene(has="wood 3", faces="sand", sees="tree 2 north"), "Move North"),
        (scene(has="sapling 1"), "Place Plant"),
        (scene(sees="tree 1 west", faces="tree"), "Do"),
    ],
)
def test_needs_come_first_then_crafts_then_gathering(moment, action):
    player = _Player()
    player._done |= {ATE, "drink", "sleep"}
    assert player.act(moment) == action


def test_a_way_that_meets_lava_is_not_taken():
    player = _Player()
    player._done |= {ATE, "drink", "sleep", "plant"}
    moment = scene(sees="lava 1 north, tree 3 north", faces="sand")
    assert player.act(moment) != "Move North"


# --- TextWorld -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("  take   the coin ", "take the coin"),
        ("save", "nosuchverb"),
        ("look. save", "nosuchverb"),
        ("look then RESTORE", "nosuchverb"),
        ("take saved coin", "take saved coin"),
        ("savegame", "savegame"),
        ("go north\nscript", "go north script"),
        ("öffne", "?ffne"),
        ("x" * 300, "x" * 197),
        ("", ""),
    ],
)
def test_what_is_typed_is_one_line_that_reads_and_writes_no_file(typed, line):
    assert safe_command(typed) == line


def test_the_goal_is_left_out_of_the_first_page_and_status_lines_are_glulxs():
    assert without_goal("Welcome.\nFind the coin.\n\nA room.\n", "Find the coin.") == "A room."
    status_line = "A room.\n>" + " " * 25 + "-= Pantry =-0/1"
    assert as_glulx(status_line, over=False) == "A room."
    assert as_glulx(status_line, over=True) == "A room.\n>"
    assert as_glulx("*** The End ***", over=True) == " " * 31 + "*** The End ***"


@pytest.mark.parametrize(
    ("quests", "objective", "goal", "score"),
    [
        ([_Quest(1, "a"), _Quest(2, "b")], None, "a\nAND\nb", 3),
        ([_Quest(1, "a"), _Quest(2, "")], "Do it.", "Do it.", 3),
        ([_Quest(1, "a"), _Quest(-1, None, True)], None, "a", 1),
        ([_Quest(-1, "a")], None, "a", -1),
        ([], None, "", 0),
    ],
)
def test_what_the_file_beside_a_game_says(quests, objective, goal, score):
    described = Description(quests, objective)
    assert (described.goal, described.max_score) == (goal, score)


@pytest.mark.parametrize(
    ("numbers", "value"),
    [
        ({"score": 1, "most": 4, "won": 0, "over": 0}, 0.0),
        ({"score": 1, "most": 4, "won": 0, "over": 1}, 0.25),
        ({"score": 1, "most": 4, "won": 1, "over": 1}, 1.0),
    ],
)
def test_points_count_when_the_game_is_over(numbers, value):
    made = Scored()
    made.see(numbers, 1.0, "")
    assert made.value == value


# --- what they share -----------------------------------------------------------------------------


def spec(env="babyai", task=ERRANDS[0], seed=3, steps=3, **options):
    return GameSpec(env, task, Seeds(seed, seed), steps, options)


@pytest.mark.parametrize(("seed", "same"), [(0, 0), (SEEDS - 1, SEEDS - 1), (SEEDS, 0), (SEEDS + 5, 5)])
def test_seeds_beyond_the_dices_range_wrap_round_and_are_the_same_game(seed, same):
    assert seed_of(spec(seed=seed)) == same
    assert by_seed(spec(seed=seed)) == str(same)
    assert game_of(spec("textworld", "coin_collector", seed)) == game_of(
        spec("textworld", "coin_collector", same)
    )


def test_a_game_ends_at_the_specs_limit_and_then_takes_no_action():
    game = PlayedEngine(spec(steps=2), babyai(ERRANDS[0], 3), TURNS, "go forward")
    first = game.reset()
    assert (first.keys, first.ended) == (0, "")
    assert game.view.goal
    assert [game.step("turn left").ended for _ in range(2)] == ["", "steps"]
    with pytest.raises(EnvironmentFailure, match=r"the game is over \(steps\); it takes no action"):
        game.step("turn left")
    assert game.reset().ended == ""
    assert game.step("turn left").ended == ""
    game.close()


def test_a_picture_is_part_of_what_is_seen_only_where_it_is_wanted():
    seen = {}
    for layout in ("hybrid", "image"):
        game = PlayedEngine(spec(layout=layout), babyai(ERRANDS[0], 3), TURNS, "go forward")
        seen[layout] = game.reset().observation
        assert game.painted().startswith(b"\x89PNG")
    assert (len(seen["hybrid"].pictures), len(seen["image"].pictures)) == (0, 1)
    assert seen["hybrid"].parts == seen["image"].parts
    assert seen["hybrid"].digest != seen["image"].digest


@pytest.mark.parametrize(("rewards", "value"), [([0.0, -1.0], 0.0), ([0.1], 1.0), ([0.5, -0.5], 1.0)])
def test_any_reward_above_nothing_solves_a_small_task(rewards, value):
    made = SolvedProgress()
    for reward in rewards:
        made.see({}, reward, "")
    assert made.value == value


def test_pictures_of_ones_own_must_differ_where_the_recorded_ones_do_and_nowhere_else():
    own = PictureComparison(own=True)
    assert own.sides("a", "1") == ("a", "a")
    assert own.sides("a", "1") == ("1", "1")
    assert own.sides("a", "2") == ("1", "2"), "the same moment looks otherwise"
    assert own.sides("b", "1") == ("b", "a"), "two moments look the same"
    assert PictureComparison(own=False).sides("a", "1") == ("a", "1")
    pixels = np.zeros((2, 3, 3), np.uint8)
    assert fingerprint(pixels) != fingerprint(pixels.reshape(3, 2, 3))


def test_a_recording_that_goes_on_after_our_game_has_ended_differs_there():
    start = State("", "", 0.0)
    steps = [State("", "", 0.0, "drop") for _ in range(70)]
    found = list(replay(OriginalGame("babyai", ERRANDS[0], 3, 64, start, steps), pictures=False))
    assert len(found) == 1 + 64 + 1
    assert found[-1] == [("ended", "", "steps")]


def test_a_file_that_is_not_a_recording_is_one_clear_error(tmp_path):
    (tmp_path / "a.gz").write_bytes(b"not gzip")
    with pytest.raises(BalrogError, match="cannot be read"):
        list(read(tmp_path / "a.gz"))
