"""The scores of an episode, computed as in a run, in the words of Gymnasium."""

from typing import Any, NamedTuple

from balrog_rag.contracts.data import GameSpec, TaskView, Transition
from balrog_rag.contracts.kinds import follow, kind_of, value_of
from balrog_rag.contracts.outcome import Outcome

LIMITS = frozenset({Outcome.STEPS, Outcome.NO_PROGRESS})
"""Ends that the harness sets, not the game: the episode is truncated, not terminated."""


class StepResult(NamedTuple):
    """What `Env.step` returns beside the observation."""

    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class ScoredEpisode:
    """One episode: sees every transition and keeps its progression."""

    def __init__(self, spec: GameSpec, view: TaskView, start: Transition) -> None:
        self.over = False
        self._kind, self._goal = kind_of(spec.env), view.goal
        self._seed = spec.seeds.core
        self._progress = self._kind.progress(spec)
        follow(self._progress, start, start.observation.numbers, start.ended)
        self.start_info = self._info(start)

    def see(self, transition: Transition) -> StepResult:
        """Score a transition."""
        ended = transition.ended
        follow(self._progress, transition, transition.observation.numbers, ended)
        self.over = bool(ended)
        truncated = ended in LIMITS
        return StepResult(
            float(transition.reward), self.over and not truncated, truncated, self._info(transition)
        )

    def _info(self, transition: Transition) -> dict[str, Any]:
        return {
            "progression": value_of(self._progress, self._kind),
            "outcome": transition.ended,
            "keys": transition.keys,
            "instead": transition.instead,
            "goal": self._goal,
            "seed": self._seed,
            "numbers": dict(transition.observation.numbers),
        }
