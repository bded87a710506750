"""One game as TRL plays it: its public methods, except reset and get_reward, are the model's tools."""

from typing import Any

import balrog_rag
from balrog_rag.contracts.data import Observation
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.rollouts.split_seeds import refuse_fixed_games, split_seed


class BalrogGame:
    """A game of balrog_rag. TRL makes one per rollout and resets it often."""

    def __init__(self) -> None:
        """Start nothing: `reset` does."""
        self._game: Any = None
        self._most: int | None = None
        self._steps = 0
        self._failed = False

    def reset(
        self,
        task: str,
        seed: int = 0,
        split: str | None = None,
        index: int | None = None,
        max_steps: int | None = None,
        options: dict[str, Any] | None = None,
        **row: Any,
    ) -> str:
        """Start the game of a row of the data set, and return what the player reads first.

        A row has `task`, and `split` and `index` or a `seed`. Other columns are ignored, since TRL passes
        all of them.
        """
        if (split is None) != (index is None):
            raise ConfigError("index: split and index go together, as in split=train index=0")
        if max_steps is not None and max_steps < 1:
            raise ConfigError(f"max_steps: expected an integer above 0, got {max_steps}")
        if split is not None and index is not None:
            refuse_fixed_games(task)
            seed = split_seed(task, split, index)
        self._close()
        self._game = balrog_rag.make(task, seed=seed, **(options or {}))
        self._most, self._steps, self._failed = max_steps, 0, False
        view = self._game.view
        actions = "\n".join(f"{name}: {meaning}" for name, meaning in view.actions.items())
        return f"{view.goal}\n\nActions:\n{actions}\n\n{_text(self._game.observation)}"

    def act(self, action: str) -> str:
        """Take one action in the game.

        Args:
            action: The name of the action.

        Returns:
            What you see after it.
        """
        if self._game is None:
            raise ConfigError("no game: call reset first")
        try:
            return self._played(action.strip())
        except Exception:
            self._failed = True  # TRL returns the error to the model, so the game would count as lost
            raise

    def get_reward(self) -> float | None:
        """Return the progression, from 0 to 1; None, which TRL leaves out, if the game failed."""
        return None if self._game is None or self._failed else float(self._game.progression)

    def _played(self, name: str) -> str:
        if ended := self._ended():
            return f"The game is over ({ended})."
        if not self._game.view.takes(name):
            return f"There is no action {name!r:.80}. Choose one of: {', '.join(self._game.view.actions)}."
        self._game.step(name)
        self._steps += 1
        seen = _text(self._game.observation)
        return f"{seen}\n\nThe game is over ({self._ended()})." if self._ended() else seen

    def _ended(self) -> str:
        limit = "steps" if self._steps == self._most else ""
        return str(self._game.ended) or limit

    def _close(self) -> None:
        if self._game is not None:
            self._game.close()
            self._game = None


def _text(seen: Observation) -> str:
    return "\n".join(text for text in (seen.long_term, seen.short_term) if text)
