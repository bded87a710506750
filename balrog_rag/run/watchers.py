"""Watchers for general use: one ignores events, one forwards to several, one labels runs."""

from collections.abc import Sequence

from msgspec.structs import replace

from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.contracts.events import Event


class NullWatcher:
    """Ignores all events."""

    def see(self, event: Event) -> None:
        """Ignore the event."""


class CompositeWatcher:
    """Forwards events to several watchers, in order."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = tuple(watchers)

    def see(self, event: Event) -> None:
        """Forward the event."""
        for watcher in self._watchers:
            watcher.see(event)


class LabelledWatcher:
    """Prefixes each episode with the run's label when several runs are watched together."""

    def __init__(self, label: str, watcher: Watcher) -> None:
        self._label, self._watcher = f"{label}:", watcher

    def see(self, event: Event) -> None:
        """Forward the event under the longer name."""
        self._watcher.see(replace(event, episode=self._label + event.episode))
