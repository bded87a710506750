"""The random policy: any advertised action that the game takes, all equally often."""

from collections.abc import Mapping
from random import Random
from typing import Any, ClassVar

from balrog_rag.config.schema import AgentConfig
from balrog_rag.contracts.data import TaskView


class RandomPolicy:
    """Chooses by a generator of its own, seeded by its episode."""

    needs_raw: ClassVar[bool] = False

    def __init__(self, config: AgentConfig, view: TaskView, seed: int) -> None:
        """The same seed makes the same choices."""
        self._actions = tuple(action for action in view.actions if action in view.accepted)
        self._random = Random(seed)

    def act(self, raw: Mapping[str, Any]) -> str:
        """Any action, whatever the game shows."""
        return self._random.choice(self._actions)
