"""Read a run's journals, from files of their own and from packs, as far as its index does not have them."""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError, JournalError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.outcome import PLAYER_LOST, in_words
from balrog_rag.episode import chain, journal
from balrog_rag.episode.packs import PackedJournal, journal_name, journals_in
from balrog_rag.results import run_folder
from balrog_rag.results.episode_index import IndexedJournal, Segment, segment_of
from balrog_rag.results.episodes import Episode
from balrog_rag.results.tally import read_episode
from balrog_rag.util.child_processes import child_processes
from balrog_rag.util.files import LARGE

CRASHED_BEFORE = (
    "its program {}, which earlier versions scored as 0 and is an error now; delete the journal and resume "
    "the run to play this episode again"
)
IN_PARALLEL_FROM = 200 << 20
"""Total size of journals in bytes above which they are read by several processes."""
MOST_READERS = 8
"""Processes that read journals at once: one with a pack of 10,000 takes 250 MB."""


class JournalReading(NamedTuple):
    """The run whose journals are read."""

    run: Path
    digest: str
    """The digest of its configuration."""
    kinds: frozenset[str]
    """Its kinds of game."""

    def in_parallel(self, size: int) -> bool:
        """Whether this many bytes of journals are read by several processes."""
        # Others do not know the kinds of game that the running program added.
        return size >= IN_PARALLEL_FROM and not any(map(registry.environments.added, self.kinds))


def stat_of(path: Path) -> tuple[int, int]:
    """Size and modification time of a file; negative if it cannot be read, such as a dangling link."""
    try:
        status = path.stat()
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns


_Read = tuple[IndexedJournal, Episode | None]


def of_files(where: JournalReading, paths: Sequence[Path], old: Segment | None, fresh: set[str]) -> Segment:
    """What the journals with files of their own contain; the names of episodes that were read are `fresh`."""
    known = {each.name: (each, episode) for each, episode in old.by_journal()} if old else {}
    found: dict[str, _Read] = {}
    stale: list[Path] = []
    for path in paths:
        name, (size, time) = str(path.relative_to(where.run)), stat_of(path)
        before = known.get(name)
        # A problem is never current: another version of this program, or of a plug-in, may not have it.
        if before is not None and not before[0].problem and (before[0].size, before[0].time) == (size, time):
            found[name] = before
        else:
            found[name] = (
                IndexedJournal(name, size, time, problem="" if size >= 0 else "cannot be read"),
                None,
            )
            stale += [path] if size >= 0 else []
    size = sum(
        size for path in stale if (size := stat_of(path)[0]) <= LARGE
    )  # larger ones are rejected unread
    for name, (read, episode) in zip(
        (str(path.relative_to(where.run)) for path in stale),
        _read_all(where, [(path, None) for path in stale], where.in_parallel(size)),
        strict=True,
    ):
        read.size, read.time = found[name][0].size, found[name][0].time
        found[name] = read, episode
        fresh |= {episode.name} if episode is not None else set()
    if old is not None and not fresh and [each for each, _ in found.values()] == old.journals:
        return old
    return _segment("", 0, 0, list(found.values()))


def of_packs(where: JournalReading, packs: Sequence[Path], old: Mapping[str, Segment]) -> list[Segment]:
    """What packs contain, read again if they have changed."""
    states = {pack.name: stat_of(pack) for pack in packs}
    found = {
        name: known
        for name, state in states.items()
        if (known := old.get(name)) is not None and (known.size, known.time) == state and not known.problems
    }
    stale = [pack for pack in packs if pack.name not in found]
    if len(stale) > 1 and where.in_parallel(sum(states[pack.name][0] for pack in stale)):
        with child_processes(min(len(stale), MOST_READERS)) as pool:
            every = list(pool.map(functools.partial(_encoded_pack, where), stale))
        made = [msgspec.msgpack.decode(data, type=Segment) for data in every]
    else:
        made = [_of_pack(where, pack, where.in_parallel(states[pack.name][0])) for pack in stale]
    found |= {segment.source: segment for segment in made}
    return [found[pack.name] for pack in packs]


def _encoded_pack(where: JournalReading, pack: Path) -> bytes:
    """Read a pack in another process."""
    return msgspec.msgpack.encode(_of_pack(where, pack, parallel=False))


def _of_pack(where: JournalReading, pack: Path, parallel: bool) -> Segment:
    size, time = stat_of(pack)
    try:
        places = journals_in(pack)
    except JournalError as error:
        damaged = IndexedJournal(
            str(pack.relative_to(where.run)), problem=str(error).removeprefix(f"{pack}: ")
        )
        return _segment(pack.name, size, time, [(damaged, None)])
    sources = [(where.run / journal_name(place.episode), place) for place in places]
    return _segment(pack.name, size, time, _read_all(where, sources, parallel))


def _segment(source: str, size: int, time: int, found: Sequence[_Read]) -> Segment:
    try:
        return segment_of(source, size, time, found)
    except OverflowError:  # a hostile journal: no game counts that far
        return segment_of(source, size, time, [_without_large_numbers(*each) for each in found])


def _without_large_numbers(listed: IndexedJournal, episode: Episode | None) -> _Read:
    try:
        segment_of("", 0, 0, [(listed, episode)])
    except OverflowError:
        why = "contains numbers of more than 64 bits"
        return msgspec.structs.replace(listed, ended=False, problem=why), None
    return listed, episode


_Source = tuple[Path, PackedJournal | None]
"""The path of a journal, and its place in a pack if it is to be read from there."""


def _read_all(where: JournalReading, sources: Sequence[_Source], parallel: bool) -> list[_Read]:
    read = functools.partial(_read_one, where)
    if not parallel or len(sources) < 2:
        return [read(source) for source in sources]
    with child_processes(MOST_READERS) as pool:
        return list(pool.map(read, sources, chunksize=max(1, min(64, len(sources) // 16))))


def _read_one(where: JournalReading, source: _Source) -> _Read:
    path, place = source
    name = str(path.relative_to(where.run))
    try:
        data = journal.read_bytes(path) if place is None else place.read()
        episode = read_episode(path, journal.entries_in(data, path))
    except ConfigError as error:  # without its kind of game, every figure of the run would lack it
        raise ConfigError(f"{path}: {error}") from error
    except JournalError as error:
        return IndexedJournal(name, problem=str(error).removeprefix(f"{path}: ")), None
    except OSError as error:
        return IndexedJournal(name, problem=f"cannot be read ({error.strerror})"), None
    head = (chain.last(data[-journal.TAIL :]) or b"").decode()
    if episode is None:
        return IndexedJournal(name, head=head), None
    if what := _misfit(where.digest, name, episode):
        return IndexedJournal(name, head=head, problem=what), None
    return IndexedJournal(name, head=head, ended=True), episode


def _misfit(digest: str, name: str, episode: Episode) -> str:
    if episode.config_digest != digest:
        return f"foreign: played under another configuration ({episode.config_digest[:12]})"
    if not run_folder.is_episode(episode.name):
        return f"foreign: {episode.name!r} is not an episode name"
    home = journal_name(episode.name)
    if home != name:
        return f"duplicate or misplaced: contains episode {episode.name}, which belongs in {home}"
    if episode.outcome in PLAYER_LOST and not kind_of(episode.env).scoring.crash_scores:
        return CRASHED_BEFORE.format(in_words(episode.outcome))
    return ""
