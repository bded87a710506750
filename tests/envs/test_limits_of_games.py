"""Where games of NetHack end, what is pressed for an answer, and which games there are: real games."""

import pytest

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import ConfigError, EnvironmentFailure
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.contracts.outcome import PLAYER_LOST, RESUMABLE, Outcome
from balrog_rag.envs.minihack.kind import Solved
from balrog_rag.envs.minihack.kind import check as check_minihack
from balrog_rag.envs.nethack.actions import NOTHING, minihack_actions, nethack_actions, prompt_answers
from balrog_rag.envs.nethack.characters import characters
from balrog_rag.envs.nethack.engine import NLEGame
from balrog_rag.envs.nethack.kind import MOST_SEED, check_seeds
from balrog_rag.envs.nethack.kind import check as check_nethack
from balrog_rag.envs.nethackers import board
from balrog_rag.envs.nethackers.kind import RULED, identity, world
from balrog_rag.envs.nethackers.kind import check as check_board
from balrog_rag.envs.nethackers.standing import Standing, figures, means, played_out
from tests.envs.support import VALKYRIE, minihack, nethack


@pytest.fixture
def game():
    """Makes games of NetHack that have begun, and closes them."""
    opened: list[NLEGame] = []

    def begun(spec):
        made = kind_of(spec.env).make(spec, None).inner
        opened.append(made)
        made.reset()
        return made

    yield begun
    for each in opened:
        each.close()


def ends(game, actions):
    """The actions up to the one that ended the game, and how it ended."""
    for number, action in enumerate(actions, 1):
        if ended := game.step(action).ended:
            return number, ended
    return None


@pytest.mark.parametrize(
    ("options", "actions", "end"),
    [
        ({"max_steps": 4}, ["search"] * 9, (4, "steps")),
        (
            {"no_progress": 4},
            ["esc"] * 9,
            (5, "no_progress"),
        ),  # the first press sets the turn to compare with
        ({"no_progress": 4}, ["search"] * 9, None),
        ({"no_progress": 4}, ["esc", "esc", "search", "esc", "esc", "esc", "esc"], (7, "no_progress")),
        ({"no_progress": 0}, ["esc"] * 200, None),
        ({"max_steps": 4, "no_progress": 3}, ["esc"] * 9, (4, "steps")),  # of both in one press the steps
    ],
)
def test_where_a_game_ends_that_nothing_else_ends(game, options, actions, end):
    assert ends(game(nethack(**options)), actions) == end


def test_an_action_of_several_keys_is_cut_by_the_limit_between_them(game):
    made = game(nethack(max_steps=1))
    done = made.press("20")
    assert (done.keys, done.ended) == (1, "steps")
    made.look("", done.ended)
    with pytest.raises(EnvironmentFailure, match=r"the game is over \(steps\); it takes no action"):
        made.press("search")


def test_a_key_by_its_code_is_pressed_alone_and_turns_no_page(game):
    word, code = game(nethack(5)), game(nethack(5))
    for made in (word, code):
        made.step("i")
    assert word.press("esc").keys == 1
    assert code.press(27).keys == 1
    assert word.look("", "").observation.digest == code.look("", "").observation.digest
    praying = game(nethack(3))
    for key in (ord("p") | 0x80, ord("y")):
        done = praying.press(key)
    assert "--More--" in done.message
    assert done.keys == 1


def test_where_pages_are_not_turned_the_agent_must_do_it(game):
    turned, shown = game(nethack(3)), game(nethack(3, skip_more=False))
    for made in (turned, shown):
        made.step("pray")
    (more, less) = (made.step("y") for made in (turned, shown))
    assert "--More--" not in more.observation.text("message")
    assert "--More--" in less.observation.text("message")
    assert more.keys > less.keys == 1


def test_pictures_layouts_and_digests_are_of_the_same_moment(game):
    language, image = game(nethack(3, layout="language")), game(nethack(3, layout="image"))
    first, second = (made.look("", "").observation for made in (language, image))
    assert (len(first.pictures), len(second.pictures)) == (0, 1)
    assert first.text("language observation") == second.text("language observation")
    assert first.text("statistics")
    assert first.digest == second.digest, "a picture is made of the same arrays"


def test_skills_that_take_no_game_time_end_the_game_after_so_many_in_a_row(game):
    made = game(nethack(3, actions="skills", no_progress_calls=3, refresh_hidden=False))
    assert set(made.view.actions) == {NOTHING}
    assert ends(made, [NOTHING] * 9) == (3, "no_progress")
    never = game(nethack(3, actions="skills", no_progress_calls=0, no_progress=0, refresh_hidden=False))
    assert ends(never, [NOTHING] * 20) is None


def test_numbers_of_a_game_that_is_over_are_those_it_was_left_with(game):
    made = game(nethack(max_steps=3))
    made.step("search")
    before = dict(made.numbers)
    assert ends(made, ["search"] * 5) == (2, "steps")
    assert made.numbers["hp"] == before["hp"] > 0
    assert made.numbers["turn"] == before["turn"] + 2


def test_a_minihack_task_takes_its_own_keys_and_others_only_as_answers(game):
    made = game(minihack("Corridor-R3"))
    keys = made._engine.task_keys
    assert made._engine.can_press(keys[0])
    assert made._engine.can_press(27)
    assert not made._engine.can_press(ord("Z"))


@pytest.mark.parametrize(
    ("kind", "keys", "has", "lacks"),
    [
        ("full", "hjkl", ["north", "west"], ["far north", "esc", "a", "5", "search"]),
        ("full", "hjkls", ["search"], ["esc", "a"]),  # a task that only walks and searches asks nothing
        ("full", "hjklz", ["zap", "esc", "space", "a", "5", "$"], ["pray"]),
        ("balrog", "hjklz", ["zap"], ["esc", "a"]),
        ("skills", "hjklz", [NOTHING], ["zap", "north"]),
    ],
)
def test_a_tasks_answers_are_those_of_its_keys_and_of_questions_only_if_it_asks_any(kind, keys, has, lacks):
    actions = minihack_actions(kind, [ord(key) for key in keys])
    assert set(has) <= set(actions.keys)
    assert not set(lacks) & set(actions.keys)
    assert set(actions.advertised) <= set(actions.keys)


def test_numbers_are_typed_digit_by_digit_and_zero_padded_ones_as_they_are_written():
    full = nethack_actions("full").keys
    assert (full["7"], full["42"], full["07"]) == ((ord("7"),), (ord("4"), ord("2")), (ord("0"), ord("7")))
    assert "100" not in full
    assert prompt_answers()["$"] == (ord("$"),)


@pytest.mark.parametrize(
    ("character", "valid"),
    [
        ("val-dwa-law-fem", True), ("val-hum-neu-fem", True), ("wiz-orc-cha-mal", True),
        ("val-hum-neu-mal", False), ("val-elf-cha-fem", False), ("kni-hum-neu-mal", False),
        ("val-dwa-neu-fem", False), ("hea-gno-neu-fem", True), ("pri-elf-law-mal", False),
    ],
)  # fmt: skip
def test_characters_are_those_that_nethack_knows(character, valid):
    assert (character in characters()) == valid


def test_every_character_is_listed_once():
    assert len(characters()) == len(set(characters())) == 73


@pytest.mark.parametrize(
    ("seeds", "valid"),
    [
        (Seeds(0, 0), True),
        (Seeds(MOST_SEED, 0, MOST_SEED), True),
        (Seeds(MOST_SEED + 1, 0), False),
        (Seeds(0, -1), False),
        (Seeds(0, 0, -1), False),
    ],
)
def test_seeds_are_within_nethacks_range(seeds, valid):
    spec = GameSpec("nle", "NetHackChallenge-v0", seeds)
    if valid:
        check_seeds(spec)
        return
    with pytest.raises(ConfigError, match="NetHack takes seeds from 0 to"):
        check_seeds(spec)


@pytest.mark.parametrize(
    ("check", "spec", "problem"),
    [
        (check_nethack, nethack(character="val-elf-cha-fem"), "unknown character 'val-elf-cha-fem'"),
        (check_nethack, nethack(), None),
        (check_minihack, minihack("Room-5x5", des_file="MAZE:\n"), "takes no such option"),
        (check_minihack, minihack("Navigation-Custom"), "set env.options.des_file to a level's description"),
        (check_minihack, minihack("Navigation-Custom", des_file="a.des"), "set env.options.des_file"),
        (check_minihack, minihack("Navigation-Custom", des_file="MAZE:\n"), None),
        (check_minihack, minihack("Room-5x5", character="x"), "unknown character 'x'"),
    ],
)
def test_games_that_cannot_be_are_refused_before_anything_is_started(check, spec, problem):
    if problem is None:
        check(spec)
        return
    with pytest.raises(ConfigError, match=problem):
        check(spec)


@pytest.mark.parametrize(
    ("moments", "value"),
    [
        ([(0.99, "")], 0.0),
        ([(1.0, "")], 1.0),
        ([(0.5, ""), (0.5, "")], 0.0),
        ([(0.97, "solved")], 1.0),
        ([(0.0, "died")], 0.0),
        ([(1.0, ""), (-0.01, "steps")], 1.0),
    ],
)
def test_a_minihack_task_is_solved_by_a_reward_of_one_or_where_it_says_so(moments, value):
    made = Solved()
    for reward, ended in moments:
        made.see({}, reward, ended)
    assert made.value == value


# --- the board of programs -----------------------------------------------------------------------


def on_board(number=0, task=VALKYRIE, steps=None, disp=None, lgen=None):
    limit = board.declared().max_steps if steps is None else steps
    return GameSpec("nethackers", task, Seeds(number, number if disp is None else disp, lgen), limit, {})


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (on_board(), None),
        (on_board(99), None),
        (on_board(1, disp=2), "the board numbers its games; write env.seeding=list"),
        (on_board(1, lgen=1), "the board numbers its games"),
        (on_board(steps=10), "the board ends a game after"),
    ],
)
def test_a_game_of_the_board_is_a_number_and_has_the_boards_limit(spec, problem):
    if problem is None:
        check_board(spec)
        return
    with pytest.raises(ConfigError, match=problem):
        check_board(spec)


def test_all_identities_of_a_number_share_a_world_and_each_is_a_game_of_its_own():
    one, other = on_board(3), on_board(3, "sam-hum-law-mal")
    assert world(one) == world(other) == "3"
    assert identity(one) != identity(other)
    assert board.dice(3) == board.dice(3) != board.dice(4)
    assert all(0 <= seed < 2**63 for seed in board.dice(3))


LIVE = {"branch": 0, "level": 4, "depth": 4, "experience_level": 3}


@pytest.mark.parametrize(
    ("numbers", "counted"),
    [
        ({}, {"best_depth": 4, "best_experience_level": 3}),
        ({"branch": board.QUEST, "level": 2}, {"quest_home": 2}),
        ({"branch": board.QUEST, "level": board.HOMES + 1}, {"quest_home": 0}),
        ({"branch": board.PLANES, "level": board.ASTRAL_LEVEL}, {"astral_plane": 1}),
        ({"branch": board.PLANES, "level": board.ASTRAL_LEVEL + 1}, {"astral_plane": 0}),
        ({"level": 2}, {"quest_home": 0, "astral_plane": 0}),
        ({"depth": 999}, {"best_depth": 0}),  # no achievement of the board
    ],
)
def test_what_the_board_counts_of_a_screen(numbers, counted):
    best = board.nothing_yet()
    board.count(best, LIVE | numbers)
    assert {name: best[name] for name in counted} == counted


def test_what_was_counted_never_falls():
    best = board.nothing_yet()
    board.count(best, LIVE)
    board.count(best, LIVE | {"depth": 2, "experience_level": 1})
    assert (best["best_depth"], best["best_experience_level"]) == (4, 3)


@pytest.mark.parametrize("ended", ["", "died", "ascended", *sorted(PLAYER_LOST)])
def test_a_program_that_failed_scores_nothing_and_an_ascension_everything(ended):
    made = Standing()
    made.see({"best_depth": 4, "best_experience_level": 1}, 0.0, ended)
    before = board.worths()["Dlvl:4"]
    expected = {"ascended": board.worths()[board.ASCENSION]} | dict.fromkeys(PLAYER_LOST, 0.0)
    assert made.value == expected.get(ended, before)
    assert made.milestones()["achievement_list"][:1] == ["Dlvl:4"]


class Played:
    """One game of the board, as the board sees it."""

    def __init__(self, number, percent=1.0, outcome="died", keys=5, task=VALKYRIE):
        self.game, self.percent, self.outcome, self.keys = on_board(number, task), percent, outcome, keys


@pytest.mark.parametrize(
    ("outcome", "keys", "counts"),
    [
        *[(outcome, 5, False) for outcome in sorted(RESUMABLE)],  # xdist wants one order in all processes
        (Outcome.STEPS, 5, False),  # a limit of the user's
        (Outcome.STEPS, board.declared().max_steps, True),
        (Outcome.NO_PROGRESS, 5, True),
        (Outcome.CRASHED, 5, True),
        (Outcome.DIED, 5, True),
    ],
)
def test_a_game_counts_if_the_game_or_the_board_ended_it(outcome, keys, counts):
    assert played_out(Played(0, outcome=outcome, keys=keys)) == counts


def test_an_identity_counts_once_all_its_published_games_are_played_out():
    numbers = list(board.published())
    whole = [Played(number, percent=float(number)) for number in numbers]
    mean = sum(numbers) / len(numbers)
    assert means([whole[:-1]]) == {}
    assert means([whole[:-1], whole[-1:]]) == {VALKYRIE: mean}
    assert means([[*whole, Played(len(numbers), 100.0)]]) == {VALKYRIE: mean}, "others do not count"
    again = [*whole, Played(0, percent=30.0)]
    assert means([again])[VALKYRIE] == pytest.approx(mean + 15 / len(numbers)), "a game played twice is one"
    assert figures([whole]) == ["1", f"{mean:.2f}"]
    assert figures([[]])[0] == "0"


@pytest.mark.parametrize("name", ["nle", "minihack", "nethackers"])
def test_options_of_a_kind_are_complete_and_those_of_the_interface_are_among_them(name):
    kind = kind_of(name)
    options = resolved_options(kind, {}, [kind])
    ruled = RULED if name == "nethackers" else frozenset()
    # Left out unless given, so that specs of games without them keep their digests.
    later = frozenset({"level_memory", "advice", "renamed"})
    assert kind.sampling.interface - set(options) == kind.sampling.interface & (ruled | later)
    assert ("character" in options) == (name != "nethackers"), "the board's task is the character"
