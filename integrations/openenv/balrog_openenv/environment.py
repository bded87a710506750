"""One game of balrog_rag as an OpenEnv environment."""

from threading import Lock
from typing import Any
from uuid import uuid4

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import EnvironmentMetadata

import balrog_rag
from balrog_openenv.models import BalrogAction, BalrogObservation, BalrogState
from balrog_openenv.tasks import Tasks
from balrog_rag.contracts.errors import ConfigError

NAME = "balrog"
DEFAULT_TASK = "babyai/BabyAI-MixedTrainLocal-v0/goto"
STEPS_ENDED = "steps"
_one_at_a_time = Lock()
"""The server uses several threads, and a game changes settings of its process when it starts."""


class BalrogEnvironment(Tasks, Environment[BalrogAction, BalrogObservation, BalrogState]):
    """Text observations and named actions. The rewards of a game add up to its progression."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        """Start nothing: `reset` does."""
        super().__init__()
        self._game: Any = None
        self._most: int | None = None
        self._state = BalrogState()

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str | None = None,
        index: int | None = None,
        task: str = DEFAULT_TASK,
        max_steps: int | None = None,
        **options: Any,
    ) -> BalrogObservation:
        """Start a game: game `index` of `split`, or `seed` of `task`.

        `options` are the options of the game, as env.KEY=VALUE sets them in a run.
        """
        if (split is None) != (index is None):
            raise ConfigError("index: split and index go together, as in split=train index=0")
        if max_steps is not None and max_steps < 1:
            raise ConfigError(f"max_steps: expected an integer above 0, got {max_steps}")
        if split is not None and index is not None:
            chosen = self.get_task(split, index)
            task, seed = chosen["task"], chosen["seed"]
        self.close()
        with _one_at_a_time:
            self._game = balrog_rag.make(task, seed=seed or 0, **options)
        self._most = max_steps
        self._state = BalrogState(episode_id=episode_id or uuid4().hex, task=task, seed=seed or 0)
        view = self._game.view
        return self._observed(0.0, goal=view.goal, actions=dict(view.actions))

    def step(self, action: BalrogAction, timeout_s: float | None = None, **kwargs: Any) -> BalrogObservation:
        """Take an action. One that does not exist becomes the task's default action, as in a run."""
        if self._game is None:
            raise ConfigError("no game: call reset first")
        if self._state.ended:
            raise ConfigError(f"the game is over ({self._state.ended}); call reset")
        name = action.action.strip()
        invalid = not self._game.view.takes(name)
        before = self._game.progression
        with _one_at_a_time:
            self._game.step(self._game.view.default_action if invalid else name)
        self._state.step_count += 1
        return self._observed(self._game.progression - before, invalid=invalid)

    def _observed(self, reward: float, **more: Any) -> BalrogObservation:
        game, state = self._game, self._state
        state.ended = game.ended or (STEPS_ENDED if state.step_count == self._most else "")
        state.progression = game.progression
        seen = game.observation
        return BalrogObservation(
            text="\n".join(text for text in (seen.long_term, seen.short_term) if text),
            progression=state.progression,
            ended=state.ended,
            done=bool(state.ended),
            reward=reward,
            **more,
        )

    @property
    def state(self) -> BalrogState:
        """The game in play."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Describe the environment."""
        return EnvironmentMetadata(
            name=NAME,
            description="BALROG's text games: BabyAI, Crafter, Baba Is AI, MiniHack, NetHack, TextWorld",
            version=balrog_rag.__version__,
        )

    def close(self) -> None:
        """End the game."""
        if self._game is not None:
            self._game.close()
            self._game = None
