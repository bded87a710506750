"""One task per environment of BALROG: a sample is a game, its score BALROG's progression.

Tasks are written out one by one, because the register of inspect_evals looks for functions with `@task`.
"""

from collections.abc import Iterator

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from balrog_inspect.playing import play, progression
from balrog_rag.config.compose import compose
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.rollouts.split_seeds import split_seed

AGENT = "naive_append"


def game_task(
    preset: str, agent: str, games: int | None, tasks: str, split: str, overrides: str, max_steps: int | None
) -> Task:
    """Make the task of an environment.

    `games` are played per task (default: as BALROG) of a `split`. `tasks` are env/task names with commas
    instead of BALROG's, `overrides` KEY=VALUE words of balrog_rag, `max_steps` the most agent steps per game.
    """
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


@task
def nethack(
    agent: str = AGENT,
    games: int | None = None,
    tasks: str = "",
    split: str = "eval",
    overrides: str = "",
    max_steps: int | None = None,
) -> Task:
    """Play NetHack with an agent of balrog_rag; see `game_task` for the arguments."""
    return game_task("nethack", agent, games, tasks, split, overrides, max_steps)


@task
def minihack(
    agent: str = AGENT,
    games: int | None = None,
    tasks: str = "",
    split: str = "eval",
    overrides: str = "",
    max_steps: int | None = None,
) -> Task:
    """Play MiniHack with an agent of balrog_rag; see `game_task` for the arguments."""
    return game_task("minihack", agent, games, tasks, split, overrides, max_steps)


@task
def babyai(
    agent: str = AGENT,
    games: int | None = None,
    tasks: str = "",
    split: str = "eval",
    overrides: str = "",
    max_steps: int | None = None,
) -> Task:
    """Play BabyAI with an agent of balrog_rag; see `game_task` for the arguments."""
    return game_task("babyai", agent, games, tasks, split, overrides, max_steps)


@task
def crafter(
    agent: str = AGENT,
    games: int | None = None,
    tasks: str = "",
    split: str = "eval",
    overrides: str = "",
    max_steps: int | None = None,
) -> Task:
    """Play Crafter with an agent of balrog_rag; see `game_task` for the arguments."""
    return game_task("crafter", agent, games, tasks, split, overrides, max_steps)


@task
def babaisai(
    agent: str = AGENT,
    games: int | None = None,
    tasks: str = "",
    split: str = "eval",
    overrides: str = "",
    max_steps: int | None = None,
) -> Task:
    """Play Baba Is AI with an agent of balrog_rag; see `game_task` for the arguments."""
    return game_task("babaisai", agent, games, tasks, split, overrides, max_steps)


@task
def textworld(
    agent: str = AGENT,
    games: int | None = None,
    tasks: str = "",
    split: str = "eval",
    overrides: str = "",
    max_steps: int | None = None,
) -> Task:
    """Play TextWorld with an agent of balrog_rag; see `game_task` for the arguments."""
    return game_task("textworld", agent, games, tasks, split, overrides, max_steps)
