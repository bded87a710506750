"""Watchers that several places need: one does nothing, one tells many others, one tells runs apart."""

from collections.abc import Sequence

from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.contracts.data import Decision, Observation, Passage, Purpose, Reply, Request, Transition
from balrog_rag.contracts.errors import BalrogError


class Unwatched:
    """Sees nothing; the base of watchers that look at some events only."""

    def started(self, episode: str, observation: Observation) -> None:
        """The first observation."""

    def asked(self, episode: str, step: int, request: Request) -> None:
        """A prompt is complete."""

    def answered(self, episode: str, step: int, purpose: Purpose, reply: Reply, live: bool) -> None:
        """A model answered."""

    def looked_up(self, episode: str, step: int, query: str, passages: Sequence[Passage]) -> None:
        """A search came back."""

    def stepped(self, episode: str, step: int, decision: Decision, taken: str, after: Transition) -> None:
        """An action was taken."""

    def ended(self, episode: str, outcome: str, steps: int) -> None:
        """The episode is over."""

    def found(self, episode: str, outcome: str, steps: int, progression: float) -> None:
        """The episode had ended in an earlier attempt."""

    def troubled(self, episode: str, error: BalrogError, again: bool) -> None:
        """An error cut the episode."""


class Several:
    """Tells each of several watchers, in order."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = tuple(watchers)

    def started(self, episode: str, observation: Observation) -> None:
        """The first observation."""
        for watcher in self._watchers:
            watcher.started(episode, observation)

    def asked(self, episode: str, step: int, request: Request) -> None:
        """A prompt is complete."""
        for watcher in self._watchers:
            watcher.asked(episode, step, request)

    def answered(self, episode: str, step: int, purpose: Purpose, reply: Reply, live: bool) -> None:
        """A model answered."""
        for watcher in self._watchers:
            watcher.answered(episode, step, purpose, reply, live)

    def looked_up(self, episode: str, step: int, query: str, passages: Sequence[Passage]) -> None:
        """A search came back."""
        for watcher in self._watchers:
            watcher.looked_up(episode, step, query, passages)

    def stepped(self, episode: str, step: int, decision: Decision, taken: str, after: Transition) -> None:
        """An action was taken."""
        for watcher in self._watchers:
            watcher.stepped(episode, step, decision, taken, after)

    def ended(self, episode: str, outcome: str, steps: int) -> None:
        """The episode is over."""
        for watcher in self._watchers:
            watcher.ended(episode, outcome, steps)

    def found(self, episode: str, outcome: str, steps: int, progression: float) -> None:
        """The episode had ended in an earlier attempt."""
        for watcher in self._watchers:
            watcher.found(episode, outcome, steps, progression)

    def troubled(self, episode: str, error: BalrogError, again: bool) -> None:
        """An error cut the episode."""
        for watcher in self._watchers:
            watcher.troubled(episode, error, again)


class Labelled:
    """Names the run before each episode, where several runs are watched together."""

    def __init__(self, label: str, watcher: Watcher) -> None:
        self._label, self._watcher = f"{label}:", watcher

    def started(self, episode: str, observation: Observation) -> None:
        """The first observation."""
        self._watcher.started(self._label + episode, observation)

    def asked(self, episode: str, step: int, request: Request) -> None:
        """A prompt is complete."""
        self._watcher.asked(self._label + episode, step, request)

    def answered(self, episode: str, step: int, purpose: Purpose, reply: Reply, live: bool) -> None:
        """A model answered."""
        self._watcher.answered(self._label + episode, step, purpose, reply, live)

    def looked_up(self, episode: str, step: int, query: str, passages: Sequence[Passage]) -> None:
        """A search came back."""
        self._watcher.looked_up(self._label + episode, step, query, passages)

    def stepped(self, episode: str, step: int, decision: Decision, taken: str, after: Transition) -> None:
        """An action was taken."""
        self._watcher.stepped(self._label + episode, step, decision, taken, after)

    def ended(self, episode: str, outcome: str, steps: int) -> None:
        """The episode is over."""
        self._watcher.ended(self._label + episode, outcome, steps)

    def found(self, episode: str, outcome: str, steps: int, progression: float) -> None:
        """The episode had ended in an earlier attempt."""
        self._watcher.found(self._label + episode, outcome, steps, progression)

    def troubled(self, episode: str, error: BalrogError, again: bool) -> None:
        """An error cut the episode."""
        self._watcher.troubled(self._label + episode, error, again)
