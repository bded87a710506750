"""A run folder read: its finished episodes, what is unfinished, and by name what cannot be used.

What a journal said is kept in an index beside it (RUN/.episodes), so that a report on ten thousand
episodes need not read gigabytes again. The index is sealed with this user's key: one that was forged or
made by somebody else is ignored. A journal whose size or modification time differs is read again. The
index may be deleted at any time.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.errors import JournalError, RunFolderError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.episode import chain, journal
from balrog_rag.episode.spec import MOST_EPISODES, EpisodeSpec, episode_name
from balrog_rag.results import run_folder
from balrog_rag.results.episodes import Episode
from balrog_rag.results.run_seal import opened_by_user, sealed_by_user
from balrog_rag.results.tally import read_episode
from balrog_rag.util.files import LARGE, read_file
from balrog_rag.util.wording import many

INDEX = ".episodes"
INDEX_VERSION = 4
ROW_BYTES = 1 << 20
"""Most bytes of the index for each journal that the folder holds."""
IN_PARALLEL_FROM = 200 << 20
"""Bytes of journals from which reading them in several processes pays."""


class Problem(msgspec.Struct, frozen=True):
    """A journal that was left out, and why."""

    path: str
    what: str


class LoadedRun(msgspec.Struct):
    """One run folder."""

    folder: Path
    digest: str
    config: dict[str, Any]
    episodes: list[Episode]
    unfinished: list[str]
    problems: list[Problem]
    fresh: frozenset[str] = frozenset()
    """Names of the episodes read from their journals just now."""
    forked: Sequence[EpisodeSpec] = ()
    """What a fork plays in place of a plan."""

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.folder.resolve().name

    @property
    def is_fork(self) -> bool:
        """Whether others than its player decided some of its steps."""
        return bool(self.forked) or any(episode.forked for episode in self.episodes)

    @property
    def asked_for(self) -> list[str]:
        """The names of the episodes that its plan holds."""
        planned = [
            episode_name(task, number) for task, count in _counts(self.config) for number in range(count)
        ]
        return [spec.episode for spec in self.forked] or planned

    @property
    def planned(self) -> int:
        """How many episodes were asked for."""
        return len(self.asked_for)

    @property
    def missing(self) -> int:
        """Planned episodes of which there is no journal in its place."""
        played = {episode.name for episode in self.episodes}
        others = {*(problem.path for problem in self.problems)}
        others |= {f"{stem}.journal.jsonl" for stem in self.unfinished}
        owed = [name for name in self.asked_for if name not in played]
        return sum(str(run_folder.journal_path(Path(), name)) not in others for name in owed)

    @property
    def cut(self) -> list[Episode]:
        """Episodes that a cap of the whole run has cut off; a higher cap goes on with them."""
        return [episode for episode in self.episodes if episode.cut]

    @property
    def holes(self) -> int:
        """Episodes that have no result although they were planned, begun beyond the plan, or cut off."""
        return len(self._environments_of_holes)

    @property
    def _environments_of_holes(self) -> list[str]:
        played = {episode.name for episode in self.episodes}
        owed = {name for name in self.asked_for if name not in played}
        places = {str(run_folder.journal_path(Path(), name)) for name in owed}
        beyond = [stem for stem in self.unfinished if f"{stem}.journal.jsonl" not in places]
        return [name.partition("/")[0] for name in (*owed, *beyond)] + [episode.env for episode in self.cut]

    @property
    def partial(self) -> str:
        """'partial: 7 of 204' where episodes are open or missing; empty where all have ended."""
        return partial(len(self.episodes) - len(self.cut), self.holes)

    def partial_in(self, env: str) -> str:
        """The same of one environment."""
        ended = sum(episode.env == env and not episode.cut for episode in self.episodes)
        return partial(ended, self._environments_of_holes.count(env))

    def open_games(self) -> set[tuple[str, str, str]]:
        """The games of episodes that were begun and have not ended, or were cut off."""
        found = {(episode.env, episode.task, episode.game_name) for episode in self.cut}
        for stem in self.unfinished:
            header = journal.read(self.folder / f"{stem}.journal.jsonl").header
            if header is not None:
                game = header.spec.game
                found.add((game.env, game.task, kind_of(game.env).sampling.identity(game)))
        return found

    @property
    def caveat(self) -> str:
        """What its figures leave out or hold too much, in one line; empty where nothing."""
        said = [
            f"{many(count, what)} {how}"
            for count, what, how in (
                (len(self.problems), "damaged or foreign journals", "left out"),
                (len(self.unfinished), "episodes", "unfinished"),
                (len(self.cut), "episodes", "cut off by a cap of the run"),
            )
            if count
        ]
        if self.missing:
            said.append(f"{self.missing} of {self.planned} episodes missing")
        if self.is_fork:
            said.append("forked: others decided its first steps")
        return f"{self.name}: {', '.join(said)}" if said else ""

    def by_env(self) -> dict[str, list[Episode]]:
        """Its episodes by environment, in the order of their names."""
        grouped: dict[str, list[Episode]] = {}
        for episode in self.episodes:
            grouped.setdefault(episode.env, []).append(episode)
        return grouped


def partial(ended: int, holes: int) -> str:
    """What is said of figures that leave some episodes out; empty where none is left out.

    Episodes that have ended are no random sample of those planned: solved games end early, dead players too.
    """
    return f"partial: {ended} of {ended + holes}" if holes else ""


def _counts(config: dict[str, Any]) -> list[tuple[str, int]]:
    """How many episodes of each task a configuration plans."""
    env = config.get("env", {})
    return [
        (task, env.get("episodes") or kind_of(task.partition("/")[0]).sampling.episodes)
        for task in env.get("tasks", [])
    ]


def _refuse_many(run: Path, config: dict[str, Any]) -> None:
    """Refuse a plan whose list of names alone would fill the memory."""
    count = sum(count for _, count in _counts(config))
    if count > MOST_EPISODES:
        raise RunFolderError(
            f"{run / 'config.json'}: plans {count:,} episodes, at most {MOST_EPISODES:,} fit in a run"
        )


class _Known(msgspec.Struct):
    size: int
    time: int
    head: str = ""
    """The final digest of the journal's chain."""
    episode: Episode | None = None
    problem: str = ""


class _Index(msgspec.Struct):
    version: int
    digest: str
    """The digest of the run's configuration: an index of another run is ignored."""
    journals: dict[str, _Known]


def load(run: Path, use_index: bool = True) -> LoadedRun:
    """Read a run folder; a RunFolderError where it is none."""
    frozen = run_folder.frozen_config(run)
    _refuse_many(run, frozen.config)
    paths = run_folder.journals(run)
    old = _read_index(run, frozen.digest, len(paths)) if use_index else {}
    found: dict[str, _Known] = {}
    stale: list[Path] = []
    for path in paths:
        name, stat = str(path.relative_to(run)), _stat(path)
        if stat is None:
            found[name] = _Known(0, 0, problem="cannot be read")
            continue
        known = old.get(name)
        if known is None or (known.size, known.time) != (stat.st_size, stat.st_mtime_ns):
            known = _Known(stat.st_size, stat.st_mtime_ns)
            stale.append(path)
        found[name] = known
    sizes = [found[str(path.relative_to(run))].size for path in stale]
    size = sum(size for size in sizes if size <= LARGE)  # larger ones are refused unread
    for path, read in zip(stale, _read_all(stale, size), strict=True):
        known = found[str(path.relative_to(run))]
        known.episode, known.problem, known.head = read
    if stale or len(found) != len(old):
        _write_index(run, frozen.digest, found)
    return _sorted_out(run, frozen, found, {str(path.relative_to(run)) for path in stale})


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:  # a link to nowhere
        return None


_Read = tuple[Episode | None, str, str]
"""An episode, or what is wrong with its journal, and the final digest of the journal's chain."""


def _read_all(paths: Sequence[Path], size: int) -> list[_Read]:
    if size < IN_PARALLEL_FROM or len(paths) < 2:
        return [_read_one(path) for path in paths]
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        return list(pool.map(_read_one, paths, chunksize=max(1, min(64, len(paths) // 16))))


def _read_one(path: Path) -> _Read:
    try:
        return read_episode(path), "", chain.last_of(path)
    except JournalError as error:
        return None, str(error).removeprefix(f"{path}: "), ""
    except OSError as error:  # removed since it was read
        return None, f"cannot be read ({error.strerror})", ""


def _sorted_out(
    run: Path, frozen: run_folder.FrozenConfig, found: dict[str, _Known], fresh: set[str]
) -> LoadedRun:
    """Tell usable episodes from the others, and say of each other what is wrong with it."""
    made = LoadedRun(run, frozen.digest, frozen.config, [], [], [], forked=run_folder.forked_specs(run))
    read_now = set()
    for name, known in found.items():
        episode = known.episode
        if known.problem:
            made.problems.append(Problem(name, known.problem))
        elif episode is None:
            made.unfinished.append(name.removesuffix(".journal.jsonl"))
        elif what := _misfit(run, name, frozen.digest, episode):
            made.problems.append(Problem(name, what))
        else:
            made.episodes.append(episode)
            if name in fresh:
                read_now.add(episode.name)
    made.fresh = frozenset(read_now)
    made.episodes.sort(key=lambda episode: (episode.env, episode.task, len(episode.number), episode.number))
    return made


def _misfit(run: Path, name: str, digest: str, episode: Episode) -> str:
    if episode.config_digest != digest:
        return f"foreign: played under another configuration ({episode.config_digest[:12]})"
    if not run_folder.is_episode(episode.name):
        return f"foreign: {episode.name!r} is no episode's name"
    home = run_folder.journal_path(run, episode.name).relative_to(run)
    if str(home) != name:
        return f"duplicate or misplaced: it holds episode {episode.name}, whose place is {home}"
    return ""


def _read_index(run: Path, digest: str, journals: int) -> dict[str, _Known]:
    """The rows of the index; none unless this user's key sealed them for this configuration."""
    try:
        data = opened_by_user(read_file(run / INDEX, (journals + 1) * ROW_BYTES))
        index = msgspec.msgpack.decode(data or b"", type=_Index)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return index.journals if (index.version, index.digest) == (INDEX_VERSION, digest) else {}


def _write_index(run: Path, digest: str, found: dict[str, _Known]) -> None:
    sealed = sealed_by_user(msgspec.msgpack.encode(_Index(INDEX_VERSION, digest, found)))
    with suppress(RunFolderError):  # a folder that may only be read can still be reported on
        if sealed:
            run_folder.write_bytes(run / INDEX, sealed)
