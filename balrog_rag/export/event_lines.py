"""Write an episode's events for other programs by replaying its journal: exact prompts, exact screens.

jsonl   one line with the episode's spec, then one per event of contracts/events.py, named by `type`
atif    one document in the Agent Trajectory Interchange Format, built with the package `atif`
"""

import asyncio
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from balrog_rag.contracts.events import Event
from balrog_rag.episode import journal as journals
from balrog_rag.episode.journal import Header
from balrog_rag.run.replay import replay
from balrog_rag.util import extras


def export(journal: Path, kind: str, out: BinaryIO) -> None:
    """Replay a journal and write its events; raises ReplayError if it does not match the replayed game."""
    header, _ = journals.read_headed(journal)
    if kind == "jsonl":
        lines = ExportedLines(header, out)
        asyncio.run(replay(journal, lines))
        if lines.failure is not None:
            raise lines.failure
        return
    extras.require("atif", "atif", "--to atif")
    from balrog_rag.export.atif import Trajectory

    made = Trajectory(header)
    asyncio.run(replay(journal, made))
    out.write(msgspec.json.format(msgspec.json.encode(made.document()), indent=1) + b"\n")


class ExportedLines:
    """Writes each event as it arrives."""

    def __init__(self, header: Header, out: BinaryIO) -> None:
        self._out = out
        self.failure: OSError | None = None
        """Why writing failed: a full disk, or a reader that closed the pipe."""
        self._line(
            {
                "type": "Episode",
                "format": 1,
                "spec": header.spec,
                "spec_digest": header.spec_digest,
                "config_digest": header.config_digest,
                "versions": header.versions,
            }
        )

    def see(self, event: Event) -> None:
        """Write one event."""
        self._line(event)

    def _line(self, what: Any) -> None:
        if self.failure is not None:
            return
        try:
            self._out.write(msgspec.json.encode(what) + b"\n")
        except OSError as error:
            self.failure = error
