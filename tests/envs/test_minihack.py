import random
import subprocess
import sys

import pytest

from balrog_rag.contracts.errors import ConfigError, EnvironmentFailure
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.minihack import kind as minihack_kind
from balrog_rag.envs.minihack.game import GOALS, OTHER_GOAL
from balrog_rag.envs.minihack.kind import tasks
from balrog_rag.envs.minihack.tasks import BALROG_TASKS
from balrog_rag.workers.inline import InlineGame
from tests.envs.support import minihack, play

LEVEL = """MAZE: "mylevel",' '
FLAGS:noteleport
GEOMETRY:center,center
MAP
.....
.....
ENDMAP
REGION:(0,0,4,1),lit,"ordinary"
BRANCH:(0,0,0,0),(1,1,1,1)
STAIR:(4,0),down
"""


def walk_towards_stairs(task, seed):
    """Random moves until the task ends."""
    game = InlineGame(minihack(task, seed, max_steps=2000))
    dice = random.Random(seed)
    names = list(game.view.actions)
    transitions = game._hosted.play([dice.choice(names) for _ in range(2000)])
    game._hosted.close()
    return transitions[-1]


def test_a_solved_task_says_so_and_keeps_its_last_screen():
    last = walk_towards_stairs("Room-Random-5x5", 1)
    assert last.ended == Outcome.SOLVED
    assert last.reward >= 1.0
    assert last.observation.numbers["max_hp"] > 0
    assert "Dlvl:1" in last.observation.text("map")
    assert last.end["death"] == ""
    assert last.end["xlogfile_from"] == "game"


def test_a_solving_move_that_costs_no_time_is_worth_one_too():
    """Fast characters get free moves, on which the step penalty would make the reward 0.99."""
    for seed in range(1, 30):
        last = walk_towards_stairs("Room-Random-5x5", seed)
        if last.ended == Outcome.SOLVED:
            assert last.reward >= 1.0


def test_a_death_in_a_task_is_a_death():
    last = walk_towards_stairs("HideNSeek-Lava", 1)
    assert last.ended == Outcome.DIED
    assert last.end["death"].startswith(("burned", "killed"))
    assert last.observation.numbers["max_hp"] > 0


def test_steps_are_capped_at_balrogs_hundred():
    transitions = play(minihack("Corridor-R3"), ["search"] * 200)
    assert len(transitions) - 1 == 100
    assert transitions[-1].ended == Outcome.STEPS


@pytest.mark.parametrize("task", [task for task in BALROG_TASKS if "Boxoban" not in task])
def test_balrogs_tasks_can_be_played_and_repeat(task):
    spec = minihack(task, 5)
    first, second = (play(spec, ["east", "south", "west", "north"] * 5) for _ in range(2))
    assert [seen.observation.digest for seen in first] == [seen.observation.digest for seen in second]
    assert first[0].observation.digest != play(minihack(task, 6), [])[0].observation.digest


def test_every_balrog_task_is_registered():
    assert set(BALROG_TASKS) <= set(tasks())


@pytest.mark.slow
def test_every_registered_task_can_be_played():
    for task in tasks():
        if not any(word in task for word in ("Boxoban", "Custom", "Crossing")):
            assert len(play(minihack(task), ["north", "east"])) >= 2, task


def test_a_task_that_minigrid_cannot_make_is_refused_before_the_run():
    refused = [task for task in tasks() if "Crossing" in task]
    assert len(refused) == 10
    for task in refused:
        with pytest.raises(ConfigError, match="minigrid makes its Crossing levels in their own size only"):
            minihack_kind.check(minihack(task))


@pytest.mark.parametrize(
    ("task", "goal"),
    [
        ("Corridor-R3", GOALS["corridor"]),
        ("CorridorBattle-Dark", GOALS["corridor"]),
        ("Quest-Medium", GOALS["quest"]),
        ("MazeWalk-9x9", OTHER_GOAL),
    ],
)
def test_goals(task, goal):
    game = InlineGame(minihack(task))
    game._hosted.close()
    assert game.view.goal == goal


def test_a_level_of_ones_own():
    transitions = play(minihack("Navigation-Custom", des_file=LEVEL), ["east", "east", "east", "east"])
    assert transitions[0].observation.numbers["depth"] == 1
    assert transitions[-1].ended == Outcome.SOLVED


def test_a_level_that_does_not_compile():
    with pytest.raises(EnvironmentFailure, match="its level description does not compile"):
        play(minihack("Navigation-Custom", des_file="MAZE: broken\n"), [])


def test_a_custom_task_wants_its_level_and_not_a_path():
    with pytest.raises(ConfigError, match=r"set env\.options\.des_file"):
        play(minihack("Navigation-Custom", des_file="level.des"), [])


def test_python_dice_are_left_as_they_were():
    random.seed(5)
    expected = random.random()
    random.seed(5)
    play(minihack("Corridor-R3"), ["north"])
    assert random.random() == expected


IMPORTED = """
import sys
from balrog_rag.envs.minihack.package import import_minihack
import_minihack()
assert "pkg_resources" not in sys.modules
import pkg_resources
from minihack import base
from minihack.envs import boxohack
assert base.HACKDIR == pkg_resources.resource_filename("nle", "nethackdir")
assert base.PATCH_SCRIPT.startswith(pkg_resources.resource_filename("minihack", "scripts"))
assert boxohack.LEVELS_PATH.startswith(pkg_resources.resource_filename("minihack", "dat"))
"""


def test_the_package_finds_its_files_without_pkg_resources() -> None:
    words = [sys.executable, "-W", "error", "-W", "ignore:pkg_resources", "-c", IMPORTED]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
