"""A journal played again without a model: for looking at it, and for proving it."""

from pathlib import Path

import msgspec

from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.contracts.data import Purpose, Reply
from balrog_rag.contracts.errors import JournalError
from balrog_rag.episode import journal
from balrog_rag.episode.effects import Tape, TapeEnd
from balrog_rag.episode.journal import Recording
from balrog_rag.episode.play import Stage, play
from balrog_rag.episode.policy import play_policy
from balrog_rag.run.services import ReplayStudio
from balrog_rag.run.watchers import Unwatched
from balrog_rag.workers.inline import InlineHouse


class Verdict(msgspec.Struct, frozen=True):
    """What a replay found equal."""

    episode: str
    steps: int
    complete: bool
    """Whether the journal goes to the episode's end."""


class Unmetered:
    """A meter for replays: what is played again costs nothing."""

    def admit(self) -> None:
        """Always room."""

    def charge(self, reply: Reply, purpose: Purpose) -> None:
        """Paid for long ago."""


async def verify(path: Path) -> Verdict:
    """Play a journal again and compare everything; raises ReplayError at the first difference."""
    return await replay(path, Unwatched())


async def replay(path: Path, watcher: Watcher) -> Verdict:
    """Play a journal again in this process, in front of a watcher."""
    recording = journal.read(path)
    if recording.header is None:
        raise JournalError(f"{path}: holds no whole header; nothing can be played")
    spec = recording.header.spec
    if spec.digest != recording.header.spec_digest:
        raise JournalError(f"{path}: the spec was changed (its digest does not fit)")
    game = await InlineHouse().open(spec.game)
    studio = ReplayStudio()
    try:
        stage = Stage(spec, game, Tape(recording, None), studio, Unmetered(), watcher)
        await (play_policy if studio.is_policy(spec.cast) else play)(stage)
    except TapeEnd:
        pass
    finally:
        await game.close()
    return Verdict(spec.episode, len(recording.steps), _whole(recording))


def _whole(recording: Recording) -> bool:
    return recording.end is not None
