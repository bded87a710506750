"""Crafter where no recording of BALROG's shows it, and what makes it the same everywhere."""

import numpy as np
import opensimplex

from balrog_rag.envs.crafter.game import ACTIONS, make
from balrog_rag.envs.crafter.words import surroundings


def view(*rows):
    """A view of 9 by 7 cells from 7 rows of 9 names' first letters."""
    names = {"g": "grass", "w": "water", "t": "tree", "c": "cow", "p": "player"}
    return np.array([[names[letter] for letter in row] for row in rows], object).T


FIELD = ["ggggggggg"] * 7


def test_the_nearest_of_each_kind_is_told_in_the_order_of_columns():
    seen = view("ggggggggw", "gggtggggg", *FIELD[2:5], "wtggggggg", "ggggggggg")
    assert surroundings(seen, (0, 1), False, False) == (
        "You see:\n- grass 1 step to your west\n- water 6 steps to your south-west\n"
        "- tree 3 steps to your north-west\n\nYou face grass at your front."
    )


def test_sleep_is_told_before_death():
    told = surroundings(view(*FIELD), (1, 0), True, True)
    assert told.startswith(
        "You are sleeping, and will not be able take actions until energy is full.\n\n\n\nYou see:"
    )
    assert surroundings(view(*FIELD), (1, 0), False, True).startswith("You died.\n\n\n\nYou see:")


def test_beyond_the_west_and_north_edges_nothing_is_seen():
    blind = "You see nothing away from you.\n\nYou face nothing at your front."
    assert surroundings(view(*FIELD)[:0], (1, 0), False, False) == blind
    assert surroundings(view(*FIELD)[:, :0], (1, 0), False, False) == blind


def test_beyond_the_east_edge_the_view_is_cut_off():
    cut = view(*FIELD)[:5]
    assert surroundings(cut, (1, 0), False, False).endswith("You face nothing at your front.")
    assert "3 steps" not in surroundings(cut, (-1, 0), False, False)


def play(pictures, actions):
    """The observations over a day and into the night."""
    game = make("default", 1112)
    moments = [game.reset()]
    for number, action in enumerate(actions):
        if pictures and number % 3 == 0:
            game.picture()
        moments.append(game.step(action))
    return moments


def test_pictures_change_nothing_by_night_either():
    actions = [list(ACTIONS)[(number * 7 + number // 5) % 6] for number in range(190)]
    assert play(True, actions) == play(False, actions)


def test_a_game_begun_again_is_the_same_and_so_is_a_picture_asked_for_again():
    game = make("default", 304)
    first = game.reset()
    assert game.picture().shape == (256, 256, 3)
    assert (game.picture() == game.picture()).all()
    assert game.reset() == first


def test_the_noise_of_a_world_is_that_of_the_package():
    from balrog_rag.envs.crafter.world import _Noise

    theirs, ours = opensimplex.OpenSimplex(seed=7), _Noise(7)
    assert isinstance(theirs._perm, np.ndarray)
    for x in range(12):
        for size in (3, 8, 15):
            assert ours.noise3(x / size, 5.5 / size, x % 4) == theirs.noise3(x / size, 5.5 / size, x % 4)
