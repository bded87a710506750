"""One task per environment of BALROG: a sample is a game, its score BALROG's progression."""

from collections.abc import Iterator
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from balrog_inspect.playing import play, progression
from balrog_rag.config.compose import compose
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.rollouts.split_seeds import split_seed


def _task(
    preset: str, agent: str, games: int | None, tasks: str, split: str, overrides: str, max_steps: int | None
) -> Task:
    named = tasks.split(",") if tasks else compose([f"env={preset}"]).env.tasks
    words = overrides.split()
    return Task(
        dataset=MemoryDataset(list(_samples(named, games, split)), name=preset),
        solver=play(agent=agent, overrides=words, max_steps=max_steps),
        scorer=progression(),
        metadata={"agent": agent, "split": split, "overrides": overrides},
    )


def _samples(tasks: list[str], games: int | None, split: str) -> Iterator[Sample]:
    for qualified in tasks:
        kind = kind_of(qualified.partition("/")[0])
        for number in range(games or kind.sampling.episodes):
            seed = split_seed(qualified, split, number)
            name = f"{qualified.replace('/', '.')}.{number:02d}"
            yield Sample(input=qualified, target="1", id=name, metadata={"task": qualified, "seed": seed})


def _register(preset: str) -> Any:
    def make(
        agent: str = "naive_append",
        games: int | None = None,
        tasks: str = "",
        split: str = "eval",
        overrides: str = "",
        max_steps: int | None = None,
    ) -> Task:
        return _task(preset, agent, games, tasks, split, overrides, max_steps)

    make.__doc__ = (
        f"Play {preset} with an agent of balrog_rag: `games` per task (default: as BALROG) of a `split`. "
        "`tasks` are env/task names with commas instead of BALROG's; `overrides` are KEY=VALUE words of "
        "balrog_rag, `max_steps` the most agent steps per game."
    )
    return task(name=preset)(make)


nethack = _register("nethack")
minihack = _register("minihack")
babyai = _register("babyai")
crafter = _register("crafter")
babaisai = _register("babaisai")
textworld = _register("textworld")
