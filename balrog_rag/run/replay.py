"""A journal played again without a model: for looking at it, and for proving it."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.contracts.data import Purpose, Reply
from balrog_rag.contracts.errors import JournalError
from balrog_rag.episode import journal
from balrog_rag.episode.effects import EndOfJournal, JournalCursor
from balrog_rag.episode.journal import Header
from balrog_rag.episode.play import EpisodeContext, play
from balrog_rag.episode.spec import EpisodeSpec, PlayerSpec
from balrog_rag.results import run_folder
from balrog_rag.results.run_seal import made_here
from balrog_rag.run.episode_runner import GameSource
from balrog_rag.run.services import ReplayServices
from balrog_rag.run.watchers import NullWatcher
from balrog_rag.workers.inline import InlineGames


class Verdict(msgspec.Struct, frozen=True):
    """What a replay found equal."""

    episode: str
    steps: int
    complete: bool
    """Whether the journal goes to the episode's end."""
    head: str
    """The last digest of the journal's chain; empty where its lines are not chained."""


class Unmetered:
    """A meter for replays: what is played again costs nothing."""

    def admit(self) -> None:
        """Always room."""

    def charge(self, reply: Reply, purpose: Purpose) -> None:
        """Paid for long ago."""


async def verify(path: Path) -> Verdict:
    """Play a journal again and compare everything; raises a JournalError or ReplayError at a difference."""
    refuse_misplaced(path)
    return await replay(path, NullWatcher())


def refuse_misplaced(path: Path) -> None:
    """A journal that lies in a run folder must be the one that belongs there."""
    run = run_folder.home_of(path)
    header = next(journal.entries_of(path), None) if run is not None else None
    if run is None or not isinstance(header, Header):
        return
    home = run_folder.journal_path(run, header.spec.episode)
    if home.resolve() != path.resolve():
        raise JournalError(f"{path}: holds episode {header.spec.episode}, whose place is {home}")
    if header.config_digest != run_folder.frozen_config(run).digest:
        raise JournalError(f"{path}: was played under another configuration than {run}'s")


def own_player(path: Path, spec: EpisodeSpec) -> bool:
    """Whether the players of a journal are those of a run that this user has made on this machine."""
    run = run_folder.home_of(path)
    if run is None or not made_here(run):
        return False
    own = [run_folder.frozen_config(run).config["agent"]]
    own += [
        msgspec.to_builtins(player.agent)
        for forked in run_folder.forked_specs(run)
        for player in players(forked)
    ]
    return all(msgspec.to_builtins(player.agent) in own for player in players(spec))


def players(spec: EpisodeSpec) -> list[PlayerSpec]:
    """All who decide in an episode."""
    return [spec.player, *(fork.player for fork in spec.forks)]


def recorded_only(recording: journal.Recording) -> JournalCursor:
    """A cursor that ends where the recording does."""
    return JournalCursor(recording, None)


async def replay(
    path: Path,
    watcher: Watcher,
    ttyrec: str | None = None,
    games: GameSource | None = None,
    cursor: Callable[[journal.Recording], JournalCursor] = recorded_only,
    trusted: bool | None = None,
) -> Verdict:
    """Play a journal again in this process, in front of a watcher; `ttyrec` names a recording of it.

    `games` opens the game, `cursor` reads the journal: a viewer that wants more of either brings its own.
    `trusted`: code that it names may be run; null: where this user has made the run here, by this player.
    """
    recording = journal.read(path)
    if recording.header is None:
        raise JournalError(f"{path}: holds no whole header; nothing can be played")
    spec = recording.header.spec
    if spec.digest != recording.header.spec_digest:
        raise JournalError(f"{path}: the spec was changed (its digest does not fit)")
    game = await (games or InlineGames()).open(spec.game, ttyrec)
    services = ReplayServices(trusted=own_player(path, spec) if trusted is None else trusted)
    try:
        context = EpisodeContext(spec, game, cursor(recording), services, Unmetered(), watcher)
        await play(context)
    except EndOfJournal:
        pass
    finally:
        await game.close()
    return Verdict(spec.episode, recording.count, recording.end is not None, recording.head)
