"""Baba Is AI's rules where no recording of BALROG's shows them."""

import numpy as np
import pytest

from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.babaisai.game import ACTIONS, MAX_STEPS, TASKS, make
from balrog_rag.envs.babaisai.levels import draw
from balrog_rag.envs.babaisai.simulation import Board, Rule, Tile
from balrog_rag.envs.babaisai.tasks import TASKS as BY_NAME

LETTERS = {"B": "baba", "K": "key", "D": "door", "O": "ball", "#": "wall"}
BLOCKS = {"b": "baba", "k": "key", "d": "door", "w": "wall", "=": "is", "y": "you", "*": "win", "s": "stop"}


def board(*rows):
    """A board from letters, row by row, within a border; a small letter or a sign is a block."""
    made = Board(len(rows[0]) + 2, len(rows) + 2)
    for y, row in enumerate(rows, 1):
        for x, letter in enumerate(row, 1):
            if letter in LETTERS:
                made.put((x, y), Tile(LETTERS[letter]))
            elif letter in BLOCKS:
                made.put((x, y), Tile(BLOCKS[letter], block=True))
    made.read()
    return made


def tops(made):
    signs = {Tile(word): sign for sign, word in LETTERS.items()}
    signs |= {Tile(word, block=True): sign for sign, word in BLOCKS.items()}
    seen = dict(made.tops())
    return [
        "".join(signs[seen[x, y]] if (x, y) in seen else "." for x in range(1, made.width - 1))
        for y in range(1, made.height - 1)
    ]


def test_blocks_are_pushed_in_a_row_and_stop_at_the_border():
    made = board("b=y....", "Bk=....")
    made.move("right")
    assert tops(made) == ["b=y....", ".Bk=..."]
    for _ in range(9):
        made.move("right")
    assert tops(made)[1] == "....Bk="


def test_things_are_walked_over_and_blocks_may_lie_on_them():
    made = board("b=y....", "BkK....")
    made.move("right")
    assert tops(made)[1] == ".Bk...."
    assert made.at((3, 2)) == (Tile("key"), Tile("key", block=True))
    made.move("right")
    assert tops(made)[1] == "..Bk..."


def test_a_wall_stops_only_while_a_rule_says_so():
    made = board("b=y....", "w=s....", "B#.....")
    made.move("right")
    assert tops(made)[2] == "B#....."
    loose = board("b=y....", "w=.s...", "B#.....")
    loose.move("right")
    assert tops(loose)[2] == ".B....."


def test_rules_are_read_across_and_down():
    made = board("b=y.k", "....=", "....*")
    assert made.rules == (Rule("baba", "you"), Rule("key", "win"))


def test_a_goal_counts_when_it_is_walked_onto_by_the_rules_before_the_move():
    made = board(".=*....", "b=y....", "K......")
    made.put((1, 3), Tile("baba"))
    assert not made.move("left")
    walked = board("k=*....", "b=y....", "BK.....")
    assert walked.move("right")


def test_a_thing_that_is_said_to_be_another_one_has_it_on_top():
    made = board("k=d....", "b=y....", "B..K...")
    assert made.at((4, 3)) == (Tile("key"), Tile("door"))
    made.move("right")
    assert made.at((4, 3)) == (Tile("key"), Tile("door"))


def test_a_game_without_a_player_goes_on_with_a_new_level():
    game = make("env/two_room-make_you", 7)
    first = game.reset()
    moments = [game.step("down") for _ in range(4)]
    lost = next(moment for moment in moments if moment.long.startswith("[...]"))
    assert not lost.ended
    assert lost.long.count("Active rules:") == 2
    assert lost.long.partition("Objects on the map:\n")[2] != first.long


def test_a_game_ends_at_its_limit():
    game = make("env/goto_win", 7)
    game.reset()
    moments = [game.step("idle") for _ in range(MAX_STEPS)]
    assert [moment.ended for moment in moments[:-1]] == [""] * (MAX_STEPS - 1)
    assert (moments[-1].ended, moments[-1].progression) == (Outcome.STEPS, 0.0)


@pytest.mark.parametrize("task", TASKS)
def test_every_task_can_be_drawn_and_played(task):
    for seed in range(20):
        made = draw(BY_NAME[task], np.random.RandomState(seed))
        assert Rule("baba", "you") in made.rules
        assert len(list(made.things({"baba"}))) == 1
    game = make(task, 3)
    game.reset()
    for number in range(30):
        game.step(list(ACTIONS)[number * 7 % 5])
    assert game.picture().shape == ((288, 416, 3) if "two_room" in task else (256, 256, 3))


def test_baba_is_seen_to_look_the_way_it_was_told_to_go_even_where_it_cannot():
    game = make("env/goto_win", 7)
    game.reset()
    looks = {}
    for action in (*("left",) * 8, "left", "idle", "up", "left"):
        game.step(action)
        looks.setdefault(action, []).append(game.picture().tobytes())
    assert looks["left"][-2] == looks["idle"][0]
    assert len({looks["left"][-2], looks["up"][0]}) == 2


def test_there_are_forty_tasks():
    assert len(TASKS) == 40
