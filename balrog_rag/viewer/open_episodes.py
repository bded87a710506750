"""The row of an episode that has not ended: how far it is, and whether somebody still plays it."""

import os
from pathlib import Path
from typing import Any

from balrog_rag.contracts.kinds import kind_of
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Completion, Lookup, Start, Step
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results.episodes import agent_name

LOCKS = Path("/proc/locks")
"""Linux lists the locks of all processes here. Testing a lock by taking it could make a starting run fail."""


def open_row(path: Path, spec: EpisodeSpec) -> dict[str, Any]:
    """The row, with the same keys as after the end, as far as they are known."""
    kind, player = kind_of(spec.game.env), spec.last_player
    steps, tokens, dollars, asked, unpriced = 0, 0, 0.0, False, 0
    numbers: dict[str, int] = {}
    last: journal.Entry | None = None
    for last in journal.entries_of(path):
        if isinstance(last, Start):
            numbers |= last.numbers
        elif isinstance(last, Step):
            steps += last.count
            if not kind.display.blank(last.numbers):
                numbers |= last.numbers
        elif isinstance(last, Completion):
            asked, usage = True, last.reply.usage
            tokens += usage.input + usage.output
            dollars += last.reply.cost or 0.0
            unpriced += last.reply.cost is None
    return {
        "name": spec.episode,
        "kind": kind.title,
        "task": spec.game.versioned(spec.game.task),
        "state": "open",
        "doing": doing(played_now(path), last, asked),
        "how": kind.display.headline(numbers),
        "steps": steps,
        "tokens": tokens if asked else None,
        "dollars": round(dollars, 6) if asked else None,
        "unpriced": unpriced,
        "agent": agent_name(player.agent),
        "model": player.model.get("name") if asked else None,
    }


def doing(played: bool | None, last: journal.Entry | None, asked: bool) -> str:
    """What an open episode is doing: empty if that cannot be known on this machine."""
    if played is None:
        return ""
    if not played:
        return "interrupted"
    waits = asked and isinstance(last, Start | Step | Lookup)
    return "waiting for the model" if waits else "playing"


def played_now(path: Path) -> bool | None:
    """Whether a process has locked the journal to write it; None if this system does not say."""
    try:
        locks = LOCKS.read_text()
        found = path.stat()
    except OSError:
        return None
    device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    return any(device in line.split() for line in locks.splitlines())
