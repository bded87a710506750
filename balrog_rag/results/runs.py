"""Load a run folder: finished episodes, unfinished ones, and unusable journals by name.

Results of journals are cached in an index beside them (RUN/.episodes), so that a report on ten thousand
episodes need not read gigabytes again. The index is sealed with this user's key: a forged or foreign one is
ignored. A journal whose size or modification time differs is read again. The index can be deleted at any
time.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.errors import JournalError, RunFolderError
from balrog_rag.contracts.kinds import episodes_planned, kind_of
from balrog_rag.contracts.outcome import PLAYER_LOST, in_words
from balrog_rag.episode import chain, journal
from balrog_rag.episode.spec import MOST_EPISODES, EpisodeSpec, episode_name
from balrog_rag.results import run_folder
from balrog_rag.results.episodes import Episode
from balrog_rag.results.run_seal import opened_by_user, sealed_by_user
from balrog_rag.results.tally import read_episode
from balrog_rag.util.files import LARGE, read_file
from balrog_rag.util.wording import many

INDEX = ".episodes"
INDEX_VERSION = 6
CRASHED_BEFORE = (
    "its program {}, which earlier versions scored as 0 and is an error now; delete the journal and resume "
    "the run to play this episode again"
)
ROW_BYTES = 1 << 20
"""Maximum size of the index per journal in the folder, in bytes."""
IN_PARALLEL_FROM = 200 << 20
"""Total size of journals in bytes above which they are read by several processes."""


class Problem(msgspec.Struct, frozen=True):
    """A journal that was left out, and the reason."""

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
    """Names of the episodes that were just read from their journals."""
    forked: Sequence[EpisodeSpec] = ()
    """The specs of a fork, which replace a plan."""
    share: Sequence[str] | None = None
    """The episodes of a shard; None for a whole run."""
    homes: Mapping[str, Path] = {}
    """If several folders are read as one run: the folder of each episode, by the stem of its files."""

    @property
    def folders(self) -> list[Path]:
        """The folders that contain its episodes."""
        return list(dict.fromkeys(self.homes.values())) or [self.folder]

    def journal(self, episode: str) -> Path:
        """The journal of one of its episodes."""
        return run_folder.journal_path(self.home(run_folder.stem_of(episode)), episode)

    def home(self, stem: str) -> Path:
        """The folder that contains the files with this stem."""
        return self.homes.get(stem, self.folder)

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.folder.resolve().name

    @property
    def is_fork(self) -> bool:
        """Whether some steps were decided by other players."""
        return bool(self.forked) or any(episode.forked for episode in self.episodes)

    @property
    def asked_for(self) -> list[str]:
        """The names of the planned episodes."""
        if self.share is not None:
            return list(self.share)
        planned = [
            episode_name(task, number) for task, count in _counts(self.config) for number in range(count)
        ]
        return [spec.episode for spec in self.forked] or planned

    @property
    def planned(self) -> int:
        """The number of planned episodes."""
        return len(self.asked_for)

    @property
    def missing(self) -> int:
        """The number of planned episodes without a journal."""
        played = {episode.name for episode in self.episodes}
        others = {*(problem.path for problem in self.problems)}
        others |= {f"{stem}.journal.jsonl" for stem in self.unfinished}
        owed = [name for name in self.asked_for if name not in played]
        return sum(str(run_folder.journal_path(Path(), name)) not in others for name in owed)

    @property
    def cut(self) -> list[Episode]:
        """Episodes that a cap of the whole run ended; they continue if the cap is raised."""
        return [episode for episode in self.episodes if episode.cut]

    @property
    def holes(self) -> int:
        """The number of episodes without a result: planned, started beyond the plan, or cut off."""
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
        """'partial: 7 of 204' if episodes are open or missing, otherwise empty."""
        return partial(len(self.episodes) - len(self.cut), self.holes)

    def partial_in(self, env: str) -> str:
        """The same for one environment."""
        ended = sum(episode.env == env and not episode.cut for episode in self.episodes)
        return partial(ended, self._environments_of_holes.count(env))

    def open_games(self) -> set[tuple[str, str, str]]:
        """The games of episodes that have not ended or were cut off."""
        found = {(episode.env, episode.task, episode.game_name) for episode in self.cut}
        for stem in self.unfinished:
            header = journal.read(self.home(stem) / f"{stem}.journal.jsonl").header
            if header is not None:
                game = header.spec.game
                task = game.versioned(game.task)
                found.add((game.env, task, kind_of(game.env).sampling.identity(game)))
        return found

    @property
    def caveat(self) -> str:
        """Describe in one line what the figures leave out or include in error; empty if nothing."""
        said = [
            f"{many(count, what)} {how}"
            for count, what, how in (
                (len(self.problems), "unusable journals", "left out"),
                (len(self.unfinished), "episodes", "unfinished"),
                (len(self.cut), "episodes", "cut off by a cap of the run"),
            )
            if count
        ]
        if self.missing:
            said.append(f"{self.missing} of {self.planned} episodes missing")
        if self.is_fork:
            said.append("forked: another player decided its first steps")
        return f"{self.name}: {', '.join(said)}" if said else ""

    def by_env(self) -> dict[str, list[Episode]]:
        """Its episodes by environment, sorted by name."""
        grouped: dict[str, list[Episode]] = {}
        for episode in self.episodes:
            grouped.setdefault(episode.env, []).append(episode)
        return grouped


def partial(ended: int, holes: int) -> str:
    """Mark figures that leave out some episodes; empty if complete.

    Ended episodes are not a random sample of the planned ones: solved games end early, and so do dead
    players.
    """
    return f"partial: {ended} of {ended + holes}" if holes else ""


def _counts(config: dict[str, Any]) -> list[tuple[str, int]]:
    """The number of episodes that a configuration plans for each task."""
    env = config.get("env", {})
    return [(task, episodes_planned(task, env.get("episodes"))) for task in env.get("tasks", [])]


def _refuse_many(run: Path, config: dict[str, Any]) -> None:
    """Reject a plan whose list of names alone would exhaust the memory."""
    count = sum(count for _, count in _counts(config))
    if count > MOST_EPISODES:
        raise RunFolderError(
            f"{run / 'config.json'}: plans {count:,} episodes; a run can have at most {MOST_EPISODES:,}"
        )


class _Known(msgspec.Struct):
    size: int
    time: int
    head: str = ""
    """The final digest of the journal's hash chain."""
    episode: Episode | None = None
    problem: str = ""


class _Index(msgspec.Struct):
    version: int
    digest: str
    """The digest of the run's configuration: an index of another run is ignored."""
    journals: dict[str, _Known]


def load(run: Path, use_index: bool = True) -> LoadedRun:
    """Load a run folder; raises RunFolderError if it is not one."""
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
        # A problem is never current: another version of this program, or of a plug-in, may not have it.
        if known is None or known.problem or (known.size, known.time) != (stat.st_size, stat.st_mtime_ns):
            known = _Known(stat.st_size, stat.st_mtime_ns)
            stale.append(path)
        found[name] = known
    sizes = [found[str(path.relative_to(run))].size for path in stale]
    size = sum(size for size in sizes if size <= LARGE)  # larger ones are rejected without being read
    for path, read in zip(stale, _read_all(stale, size), strict=True):
        known = found[str(path.relative_to(run))]
        known.episode, known.problem, known.head = read
    if stale or len(found) != len(old):
        _write_index(run, frozen.digest, found)
    return _sorted_out(run, frozen, found, {str(path.relative_to(run)) for path in stale})


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:  # a dangling link
        return None


_Read = tuple[Episode | None, str, str]
"""An episode, or a description of what is wrong with its journal, and the final digest of its hash chain."""


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
    """Separate usable episodes from unusable ones, with the reason for each."""
    forked, share = run_folder.forked_specs(run), run_folder.shard_episodes(run)
    made = LoadedRun(run, frozen.digest, frozen.config, [], [], [], forked=forked, share=share)
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
    made.episodes.sort(key=display_order)
    return made


def display_order(episode: Episode) -> tuple[str, str, int, str]:
    """Sort key of the episodes of a run."""
    return episode.env, episode.task, len(episode.number), episode.number


def _misfit(run: Path, name: str, digest: str, episode: Episode) -> str:
    if episode.config_digest != digest:
        return f"foreign: played under another configuration ({episode.config_digest[:12]})"
    if not run_folder.is_episode(episode.name):
        return f"foreign: {episode.name!r} is not an episode name"
    home = run_folder.journal_path(run, episode.name).relative_to(run)
    if str(home) != name:
        return f"duplicate or misplaced: contains episode {episode.name}, which belongs in {home}"
    if episode.outcome in PLAYER_LOST and not kind_of(episode.env).scoring.crash_scores:
        return CRASHED_BEFORE.format(in_words(episode.outcome))
    return ""


def _read_index(run: Path, digest: str, journals: int) -> dict[str, _Known]:
    """The rows of the index; empty unless sealed with this user's key for this configuration."""
    try:
        data = opened_by_user(read_file(run / INDEX, (journals + 1) * ROW_BYTES))
        index = msgspec.msgpack.decode(data or b"", type=_Index)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return index.journals if (index.version, index.digest) == (INDEX_VERSION, digest) else {}


def _write_index(run: Path, digest: str, found: dict[str, _Known]) -> None:
    sealed = sealed_by_user(msgspec.msgpack.encode(_Index(INDEX_VERSION, digest, found)))
    with suppress(RunFolderError):  # read-only folders can still be reported on
        if sealed:
            run_folder.write_bytes(run / INDEX, sealed)
