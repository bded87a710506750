"""What Gymnasium needs to know of a task before it is played: spaces, action names, specs of its games."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from gymnasium import spaces

from balrog_rag.api.manual_game import game_spec
from balrog_rag.contracts.data import GameSpec, Seeds, TaskView
from balrog_rag.contracts.errors import ConfigError, EnvironmentFailure
from balrog_rag.contracts.registry import nearest
from balrog_rag.gym.observation_format import MAX_CHARACTERS, ObservationFormat
from balrog_rag.workers.host import HostedGame

SEEDS = 2**31
"""Seeds that `reset` draws when it is given none are below this."""


class TaskInterface:
    """A task with its spaces. Creating it starts one game for a moment, which tells what tasks do not."""

    def __init__(
        self,
        task: str,
        *,
        observation: str = "text",
        arrays: Sequence[str] | None = None,
        max_characters: int = MAX_CHARACTERS,
        all_answers: bool = False,
        max_presses: int | None = None,
        programs: Sequence[str] = (),
        options: Mapping[str, Any],
    ) -> None:
        """The arguments are those of `GameEnv`."""
        self.task, self._all_answers = task, all_answers
        self._spec = game_spec(task, 0, max_presses, programs, options)
        hosted = HostedGame(self._spec)
        try:
            self.action_names = self._named(hosted.view)
            offered = {} if observation == "text" else hosted.arrays
            self.format = ObservationFormat(observation, arrays, max_characters, offered, task)
        finally:
            hosted.close()
        self.action_space = spaces.Discrete(len(self.action_names))

    def spec(self, seed: int) -> GameSpec:
        """Return the spec of the game with this seed."""
        return msgspec.structs.replace(self._spec, seeds=Seeds(core=seed, disp=seed))

    def check(self, view: TaskView) -> None:
        """Refuse a game with other actions than the action space has."""
        if self._named(view) != self.action_names:
            raise EnvironmentFailure(
                f"{self.task}: its actions differ from game to game, so it has no fixed action space; "
                "step it with balrog_rag.make instead"
            )

    def action(self, action: Any, view: TaskView) -> str:
        """Return the action of this number, or the action itself if it is given as text."""
        if isinstance(action, str):
            if view.takes(action):
                return action
            raise ConfigError(f"{self.task}: unknown action {action!r:.80}{nearest(action, view.actions)}")
        if not isinstance(action, int | np.integer) or not 0 <= action < len(self.action_names):
            last = len(self.action_names) - 1
            raise ConfigError(f"{self.task}: expected an action from 0 to {last}, got {action!r:.80}")
        return self.action_names[action]

    def _named(self, view: TaskView) -> tuple[str, ...]:
        more = sorted(view.accepted - set(view.plain)) if self._all_answers else ()
        return (*view.plain, *more)


def drawn_seed(generator: np.random.Generator) -> int:
    """Return the seed of the next game, for a `reset` without a seed."""
    return int(generator.integers(SEEDS))
