import json

import pytest

from balrog_rag.envs.minihack.kind import Solved
from balrog_rag.envs.nethack.progression import Progression, table
from balrog_rag.util.paths import data


def moment(depth=1, experience_level=1):
    return {"depth": depth, "experience_level": experience_level}


def test_the_table_is_complete_and_says_where_it_is_from():
    assert len(table()) == 80
    assert all(f"Dlvl:{n}" in table() for n in range(1, 51))
    assert all(f"Xp:{n}" in table() for n in range(1, 31))
    content = json.loads((data("eval") / "progression.json").read_text())
    assert "BALROG" in content["source"]


@pytest.mark.parametrize(
    ("achievement", "worth"),
    [
        ("Dlvl:1", 0.0),
        ("Xp:1", 0.0),
        ("Dlvl:2", 0.015392269075361172),
        ("Xp:2", 0.01847840456172601),
        ("Dlvl:10", 0.12558597019922987),
        ("Dlvl:50", 0.8067964442444019),
        ("Xp:30", 0.7804561949196475),
    ],
)
def test_figures_to_the_last_digit(achievement, worth):
    assert table()[achievement] == worth


@pytest.mark.parametrize("name", ["Dlvl", "Xp"])
def test_deeper_and_more_experienced_is_never_worth_less(name):
    worths = [worth for key, worth in table().items() if key.startswith(name)]
    assert worths == sorted(worths)


def test_the_best_ever_reached_counts():
    progression = Progression()
    for depth, level in [(1, 1), (2, 1), (4, 1), (3, 2), (1, 2), (60, 2)]:
        progression.see(moment(depth, level))
    assert progression.value == table()["Dlvl:4"]
    assert progression.reached == "Dlvl:4"
    assert progression.dlvl_list == ["Dlvl:1", "Dlvl:2", "Dlvl:4", "Dlvl:3"]
    assert progression.xplvl_list == ["Xp:1", "Xp:2"]


def test_the_zeros_after_a_game_reach_nothing():
    progression = Progression()
    progression.see(moment(0, 0))
    assert progression == Progression()


@pytest.mark.parametrize(
    ("rewards", "value"), [([0.0, -0.01, 1.0], 1.0), ([0.99], 0.0), ([0.0, 1.01], 1.0), ([], 0.0)]
)
def test_a_task_is_solved_or_not(rewards, value):
    progress = Solved()
    for reward in rewards:
        progress.see({}, reward, "")
    assert progress.value == value
