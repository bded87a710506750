"""Replay a journal without a model: to show it, and to verify it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.contracts.data import Purpose, Reply
from balrog_rag.contracts.errors import JournalError
from balrog_rag.contracts.kinds import refuse_other_version
from balrog_rag.episode import journal
from balrog_rag.episode.effects import EndOfJournal, JournalCursor
from balrog_rag.episode.journal import Header
from balrog_rag.episode.play import EpisodeContext, play
from balrog_rag.episode.segments import SegmentCounter
from balrog_rag.episode.spec import EpisodeSpec, PlayerSpec
from balrog_rag.results import run_folder
from balrog_rag.results.run_seal import is_local_run
from balrog_rag.run.episode_runner import GameSource
from balrog_rag.run.services import ReplayServices
from balrog_rag.workers.inline import InlineGames


class Verdict(msgspec.Struct, frozen=True):
    """The result of a successful replay."""

    episode: str
    steps: int
    complete: bool
    """Whether the journal reaches the end of the episode."""
    head: str
    """The last digest of the journal's chain; empty if its lines are not chained."""
    appends: bool = False
    """Whether a player of the episode has an append-only history."""
    segments: int = 0
    """The segments of its prompts if so (`episode.segments`)."""


class Unmetered:
    """A meter for replays, which cost nothing."""

    def admit(self) -> None:
        """Admit every call."""

    def charge(self, reply: Reply, purpose: Purpose) -> None:
        """Ignore the cost, which an earlier attempt has paid."""


async def verify(path: Path) -> Verdict:
    """Replay a journal and compare everything; raise JournalError or ReplayError at a difference."""
    refuse_misplaced(path)
    segments = SegmentCounter()
    verdict = await replay(path, segments)
    # Counted from the prompts themselves, not from the agent's notes.
    return msgspec.structs.replace(verdict, segments=segments.count) if verdict.appends else verdict


def refuse_misplaced(path: Path) -> None:
    """Refuse a journal that lies in a run folder but belongs elsewhere."""
    run = run_folder.home_of(path)
    header = next(journal.entries_of(path), None) if run is not None else None
    if run is None or not isinstance(header, Header):
        return
    # Otherwise a good episode copied over a bad one would verify: each journal is sound by itself.
    home = run_folder.journal_path(run, header.spec.episode)
    if home.resolve() != path.resolve():
        raise JournalError(f"{path}: is the journal of episode {header.spec.episode}; its place is {home}")
    if header.config_digest != run_folder.frozen_config(run).digest:
        raise JournalError(f"{path}: was played under another configuration than {run}'s")


class OwnPlayers:
    """Tells whether a journal's players belong to a run that this user made on this machine.

    What a folder's run is, is read once: for many journals, while nobody changes their runs.
    """

    def __init__(self) -> None:
        self._known: dict[Path, list[Any]] = {}

    def __call__(self, path: Path, spec: EpisodeSpec) -> bool:
        """Whether they do; if not, programs that they name must not run."""
        folder = path.parent
        if folder not in self._known:
            self._known[folder] = _own_agents(path)
        own = self._known[folder]
        # The folder being ours is not enough: a journal copied into it may name other programs.
        return all(msgspec.to_builtins(player.agent) in own for player in players(spec))


def _own_agents(path: Path) -> list[Any]:
    """The agents of a journal's run, if it is this user's own."""
    run = run_folder.home_of(path)
    if run is None or not is_local_run(run):
        return []
    forked = [player for spec in run_folder.forked_specs(run) for player in players(spec)]
    agents = [msgspec.to_builtins(player.agent) for player in forked]
    return [run_folder.frozen_config(run).config["agent"], *agents]


def players(spec: EpisodeSpec) -> list[PlayerSpec]:
    """Return all players of an episode."""
    return [spec.player, *(fork.player for fork in spec.forks)]


def recorded_only(recording: journal.Recording) -> JournalCursor:
    """Return a cursor that stops at the end of the recording."""
    return JournalCursor(recording, None)


async def replay(
    path: Path,
    watcher: Watcher,
    ttyrec: str | None = None,
    games: GameSource | None = None,
    cursor: Callable[[journal.Recording], JournalCursor] = recorded_only,
    trusted: bool | OwnPlayers | None = None,
) -> Verdict:
    """Replay a journal in this process, in front of a watcher; `ttyrec` is the path of a recording to make.

    `games` opens the game and `cursor` reads the journal; a viewer can pass its own.
    `trusted`: whether programs named by the journal may run; None or OwnPlayers: only if this user made
    the run here.
    """
    header, recording = journal.read_headed(path)
    spec = header.spec
    if spec.digest != header.spec_digest:
        raise JournalError(f"{path}: the spec was changed (its digest does not match); restore the file")
    refuse_other_version(spec.game, str(path))
    game = await (games or InlineGames()).open(spec.game, ttyrec)
    own = OwnPlayers() if trusted is None else trusted
    services = ReplayServices(trusted=own if isinstance(own, bool) else own(path, spec))
    try:
        context = EpisodeContext(spec, game, cursor(recording), services, Unmetered(), watcher)
        await play(context)
    except EndOfJournal:
        # An interrupted episode's journal is incomplete but valid: everything in it has been compared.
        pass
    finally:
        await game.close()
    appends = any(appends_only(player) for player in players(spec))
    return Verdict(spec.episode, recording.count, recording.end is not None, recording.head, appends)


def appends_only(player: PlayerSpec) -> bool:
    """Whether a player has an append-only history."""
    history = player.agent.get("history")
    return isinstance(history, Mapping) and history.get("window") == "append"
