"""Splits of the games that BALROG plays; no two share a game.

TextWorld's games are a fixed list without splits: reset(task=..., seed=...) plays them.
"""

from typing import Any

from balrog_rag.contracts.kinds import kind_of
from balrog_rag.rollouts.split_seeds import SPLITS, split_seed

ENVIRONMENTS = ("babyai", "crafter", "babaisai", "minihack", "nle")
GAMES_PER_TASK = 1000


def balrog_tasks(env: str) -> list[str]:
    """Return the tasks of an environment that BALROG plays, as env/task."""
    kind = kind_of(env)
    return [f"{env}/{name}" for name in kind.sampling.listed or kind.tasks()]


def all_tasks() -> list[str]:
    """Return the tasks of all environments."""
    return [task for env in ENVIRONMENTS for task in balrog_tasks(env)]


class Tasks:
    """OpenEnv's TaskProvider: tasks take turns, each with the next seed of the split."""

    def list_splits(self) -> list[str]:
        """Return the names of the splits."""
        return list(SPLITS)

    def num_tasks(self, split: str) -> int:
        """Return the number of games of a split."""
        self._check(split)
        return len(all_tasks()) * GAMES_PER_TASK

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return one game; raise IndexError outside the split."""
        if not 0 <= index < self.num_tasks(split):
            raise IndexError(f"index: {split} has {self.num_tasks(split)} games, got {index}")
        names = all_tasks()
        task = names[index % len(names)]
        seed = split_seed(task, split, index // len(names))
        return {"id": f"{split}-{index}", "index": index, "split": split, "task": task, "seed": seed}

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        """Return games as a slice does."""
        return [self.get_task(split, index) for index in range(self.num_tasks(split))[slice(start, stop)]]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Return the first game of each task; `num_tasks` has the whole number."""
        return self.get_task_range(split, 0, len(all_tasks()))

    def _check(self, split: str) -> None:
        if split not in SPLITS:
            raise IndexError(f"split: unknown split {split!r:.60}; choose one of {', '.join(SPLITS)}")
