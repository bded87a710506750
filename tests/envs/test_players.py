"""The players without a model: each far better than random actions."""

import random
from importlib import import_module

import pytest

from balrog_rag.envs.babaisai import game as babaisai
from balrog_rag.envs.babaisai.player import read_board
from balrog_rag.envs.babyai import game as babyai
from balrog_rag.envs.crafter import game as crafter
from balrog_rag.envs.crafter.player import Scene


def progression(name, task, seed, limit=2000):
    """The progression that the player of a game reaches."""
    game = import_module(f"balrog_rag.envs.{name}.game").make(task, seed)
    moment = game.reset()
    player = import_module(f"balrog_rag.envs.{name}.player").play(game.goal, moment)
    action = next(player)
    for _ in range(limit):
        moment = game.step(action)
        if moment.ended:
            break
        action = player.send(moment)
    return moment.progression


def by_chance(module, task, seed, limit=2000):
    """The progression that random actions reach."""
    game, dice = module.make(task, seed), random.Random(seed)
    moment = game.reset()
    for _ in range(limit):
        moment = game.step(dice.choice(list(module.ACTIONS)))
        if moment.ended:
            break
    return moment.progression


@pytest.mark.parametrize("task", babyai.TASKS)
def test_babyai_is_solved(task):
    assert [progression("babyai", task, seed) for seed in range(8)] == [1.0] * 8
    assert sum(by_chance(babyai, task, seed) for seed in range(8)) <= 5


@pytest.mark.parametrize("task", babaisai.TASKS[::7])
def test_some_of_baba_is_ai_is_solved(task):
    assert progression("babaisai", task, 0) == 1.0


@pytest.mark.slow
def test_baba_is_ai_is_solved():
    assert sum(progression("babaisai", task, 0) for task in babaisai.TASKS) >= 38
    assert sum(by_chance(babaisai, task, 0, 100) for task in babaisai.TASKS) <= 20


def test_a_board_is_read_from_its_text():
    for task in babaisai.TASKS:
        for seed in range(3):
            game = babaisai.make(task, seed)
            read = read_board(game.reset().long)
            assert (read.width, read.height) == (game._board.width, game._board.height), task
            assert list(read.tops()) == list(game._board.tops()), task


@pytest.mark.slow
def test_crafter_is_played_far_above_chance():
    played = [progression("crafter", "default", seed) for seed in range(3)]
    chance = [by_chance(crafter, "default", seed) for seed in range(3)]
    assert min(played) > max(chance)
    assert sum(played) / 3 > 0.4


def test_a_moment_of_crafter_is_read():
    moment = crafter.Moment(
        "You see:\n- water 3 steps to your south-west\n- cow 1 step to your east\n\n"
        "You face cow at your front.",
        "Your status:\n- health: 9/9\n- food: 4/9\n\nYour inventory:\n- wood: 7",
    )
    scene = Scene(moment)
    assert (scene.faces, scene.count("wood"), scene.count("food"), scene.count("coal")) == ("cow", 7, 4, 0)
    assert scene.sees["water"].ways == ("south", "west")
    assert scene.near("cow")
    assert not scene.near("water", 2)
