"""Which games the taskset yields."""

from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from balrog_verifiers.fixed_games import PLACES
from balrog_verifiers.taskset import ENVIRONMENTS, balrog_tasks

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.envs.textworld.games import games, seeds

from .support import GOTO, NLE, environment


def first(count: int, **taskset: Any) -> list[Any]:
    return list(islice(environment(Path("unused"), taskset=taskset).taskset, count))


def test_environments_take_turns_and_so_do_their_tasks() -> None:
    found = [task.data.task for task in first(8, environments=["babyai", "crafter"])]
    babyai = balrog_tasks("babyai")
    assert found[::2] == babyai[:4]
    assert found[1::2] == ["crafter/default"] * 4


def test_the_environments_and_tasks_are_balrogs() -> None:
    from balrog_rag.config.compose import compose

    ours = {task for env in ENVIRONMENTS for task in balrog_tasks(env)}
    assert ours == set(compose(["env=balrog"]).env.tasks)


def test_splits_share_no_game() -> None:
    by_split = {
        split: {(task.data.task, task.data.seed) for task in first(400, tasks=[GOTO, NLE], split=split)}
        for split in PLACES
    }
    assert [len(games) for games in by_split.values()] == [400] * 4
    assert len(set.union(*by_split.values())) == 1600


def test_splits_of_textworld_divide_its_games() -> None:
    """Seed n is game n, so no two splits may share one, and none may exceed the list."""
    assert {len(games(task)) for task in seeds()} == {25}
    assert sorted(seed for places in PLACES.values() for seed in places) == list(range(25))


def test_a_game_is_the_same_whenever_it_is_loaded() -> None:
    one, again = first(6, environments=["babyai", "nle"]), first(6, environments=["babyai", "nle"])
    assert [task.key for task in one] == [task.key for task in again]
    assert [task.hash for task in one] == [task.hash for task in again]
    assert len({task.key for task in one}) == 6


@pytest.mark.parametrize(
    ("taskset", "said"),
    [
        ({"tasks": ["nle/NetHackChalenge-v0"]}, "did you mean NetHackChallenge-v0"),
        ({"environments": ["nehtack"]}, "nehtack"),
        ({"tasks": ["nethackers/val-dwa-law-fem"]}, "nethackers has a fixed list of games"),
        ({"tasks": [GOTO], "max_steps": 0}, "max_steps"),
        ({"tasks": [NLE], "overrides": ["env.actoins=skills"]}, "env.actoins"),
    ],
)
def test_a_task_that_cannot_be_played_is_refused_before_anything_is_played(taskset: Any, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        first(1, **taskset)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
