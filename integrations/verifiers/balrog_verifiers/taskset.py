"""The taskset: games of balrog_rag, drawn from one of its splits, scored by BALROG's progression."""

from collections.abc import Iterator
from itertools import count
from typing import Any, Literal

import verifiers.v1 as vf

from balrog_rag.contracts.kinds import kind_of
from balrog_rag.rollouts.rollout_request import read_request
from balrog_rag.rollouts.rollout_spec import prepared
from balrog_rag.rollouts.split_seeds import split_seed
from balrog_verifiers.fixed_games import fixed_seeds

INFO = "balrog_rag"
"""The key of a rollout's result in the `info` of its trace."""
ENVIRONMENTS = ("babyai", "crafter", "textworld", "babaisai", "minihack", "nle")
Split = Literal["train", "validation", "test", "eval"]


class BalrogData(vf.TaskData):
    """One game."""

    task: str
    """env/task, as in env.tasks."""
    seed: int
    split: str
    max_steps: int | None = None
    overrides: list[str] = []


class BalrogTask(vf.Task[BalrogData]):
    """A game and its score. A rollout without a result has no reward; its trace has an error instead."""

    @property
    def key(self) -> str:
        """The game's identity, whatever its place in the taskset."""
        return self.data.id or super().key

    @vf.reward(weight=1.0)
    async def progression(self, trace: vf.Trace) -> float:
        """BALROG's progression, from 0 to 1."""
        reward = _result(trace)["reward"]
        if reward is None:
            raise ValueError("the rollout has no score")
        return float(reward)

    @vf.metric
    async def game(self, trace: vf.Trace) -> dict[str, float]:
        """Numbers of the game and of its calls; a game without a number leaves it out."""
        result = _result(trace)
        found = {name: result[name] for name in ("steps", "segments", "progression_held", "episode_return")}
        for purpose, used in result["usage"].items():
            found[f"{purpose}_calls"] = used["calls"]
        return {name: float(value) for name, value in found.items() if value is not None}


def _result(trace: vf.Trace) -> dict[str, Any]:
    if INFO not in trace.info:
        raise ValueError("no game was played; use the harness balrog-verifiers")
    found: dict[str, Any] = trace.info[INFO]
    return found


class BalrogTasksetConfig(vf.TasksetConfig):
    """Which games."""

    environments: list[str] = list(ENVIRONMENTS)
    """Environments that take turns, each with the tasks that BALROG plays."""
    tasks: list[str] = []
    """env/task, as in env.tasks; instead of `environments`."""
    split: Split = "train"
    """Splits share no game."""
    max_steps: int | None = None
    """Most agent steps per game; none: BALROG's limit."""
    overrides: list[str] = []
    """KEY=VALUE of the game, as for `balrog-rag run`, such as env.actions=skills."""


class BalrogTaskset(vf.Taskset[BalrogTask, BalrogTasksetConfig]):
    """Games without end: environments take turns, and so do the tasks of each."""

    INFINITE = True

    def load(self) -> Iterator[BalrogTask]:
        """Yield games, so that every environment comes equally often."""
        waiting = [self._games(tasks) for tasks in self._by_environment()]
        while waiting:
            for games in list(waiting):
                game = next(games, None)
                if game is None:
                    waiting.remove(games)
                else:
                    yield game

    def _by_environment(self) -> list[list[str]]:
        if not self.config.tasks:
            return [balrog_tasks(env) for env in self.config.environments]
        found: dict[str, list[str]] = {}
        for task in self.config.tasks:
            found.setdefault(task.partition("/")[0], []).append(task)
        return list(found.values())

    def _games(self, tasks: list[str]) -> Iterator[BalrogTask]:
        """Yield the games of one environment: a seed of each task, then the next seed of each."""
        for task in tasks:
            self._check(task)
        seeds = {task: self._seeds(task) for task in tasks}
        for place in count():
            for task in tasks:
                seed = next(seeds[task], None)
                if seed is None:
                    return
                yield self._game(task, seed, place)

    def _seeds(self, task: str) -> Iterator[int]:
        fixed = fixed_seeds(task, self.config.split)
        return (
            (split_seed(task, self.config.split, index) for index in count())
            if fixed is None
            else iter(fixed)
        )

    def _game(self, task: str, seed: int, place: int) -> BalrogTask:
        config = self.config
        data = BalrogData(
            id=f"{config.split}/{place}/{task}",
            name=f"{task}#{place}",
            prompt=f"Play {task}.",
            task=task,
            seed=seed,
            split=config.split,
            max_steps=config.max_steps,
            overrides=config.overrides,
        )
        return BalrogTask(data, config.task)

    def _check(self, task: str) -> None:
        """Refuse a task that cannot be played here before anything is played."""
        model = {"base_url": "http://127.0.0.1/v1", "name": "none"}
        request = {"task": task, "model": model, "overrides": self.config.overrides}
        prepared(read_request({**request, "max_steps": self.config.max_steps}))


def balrog_tasks(env: str) -> list[str]:
    """Return the tasks of an environment that BALROG plays, as env/task."""
    kind = kind_of(env)
    return [f"{env}/{name}" for name in kind.sampling.listed or kind.tasks()]
