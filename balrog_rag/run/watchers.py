"""Watchers that several places need: one does nothing, one tells many others, one tells runs apart."""

from collections.abc import Sequence

from msgspec.structs import replace

from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.contracts.events import Event


class NullWatcher:
    """Sees nothing."""

    def see(self, event: Event) -> None:
        """Pass it over."""


class CompositeWatcher:
    """Tells each of several watchers, in order."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = tuple(watchers)

    def see(self, event: Event) -> None:
        """Tell all."""
        for watcher in self._watchers:
            watcher.see(event)


class LabelledWatcher:
    """Names the run before each episode, where several runs are watched together."""

    def __init__(self, label: str, watcher: Watcher) -> None:
        self._label, self._watcher = f"{label}:", watcher

    def see(self, event: Event) -> None:
        """Tell it under the longer name."""
        self._watcher.see(replace(event, episode=self._label + event.episode))
