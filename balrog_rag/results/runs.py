"""Load a run folder: finished episodes, unfinished ones, and unusable journals by name.

What journals contained is kept in an index beside them (`episode_index`), so that a report on ten thousand
episodes need not read gigabytes again.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.contracts.kinds import episodes_planned, kind_of
from balrog_rag.episode import journal
from balrog_rag.episode.packs import episode_named, journal_name, packs_in
from balrog_rag.episode.spec import MOST_EPISODES, EpisodeSpec, episode_name
from balrog_rag.results import run_folder
from balrog_rag.results.episode_index import (
    ROW_BYTES,
    Segment,
    read_index,
    write_index,
)
from balrog_rag.results.episodes import Episode, EpisodeSequence, as_sequence
from balrog_rag.results.journal_reading import JournalReading, of_files, of_packs, stat_of
from balrog_rag.results.stored_sequence import StoredEpisodes, having, in_display_order
from balrog_rag.util.wording import many


class Problem(msgspec.Struct, frozen=True):
    """A journal that was left out, and the reason."""

    path: str
    what: str


class LoadedRun(msgspec.Struct, dict=True):
    """One run folder."""

    folder: Path
    digest: str
    config: dict[str, Any]
    episodes: Sequence[Episode]
    unfinished: list[str]
    problems: list[Problem]
    fresh: frozenset[str] = frozenset()
    """Names of the episodes that were just read from journals with files of their own."""
    with_files: Sequence[Episode] = ()
    """The episodes whose journals have files of their own."""
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
        return bool(self.forked) or bool(having(self.episodes, "forked"))

    @property
    def asked_for(self) -> list[str]:
        """The names of the planned episodes."""
        listed = self._listed
        if listed is not None:
            return listed
        return [episode_name(task, number) for task, count in _counts(self.config) for number in range(count)]

    @property
    def _listed(self) -> list[str] | None:
        """The planned episodes of a shard or a fork, which do not follow from the configuration alone."""
        if self.share is not None:
            return list(self.share)
        return [spec.episode for spec in self.forked] or None

    @property
    def planned(self) -> int:
        """The number of planned episodes."""
        listed = self._listed
        return sum(count for _, count in _counts(self.config)) if listed is None else len(listed)

    @property
    def missing(self) -> int:
        """The number of planned episodes without a journal."""
        others = {*(problem.path for problem in self.problems)}
        others |= {f"{stem}.journal.jsonl" for stem in self.unfinished}
        return sum(str(run_folder.journal_path(Path(), name)) not in others for name in self._owed())

    def _owed(self) -> list[str]:
        """The planned episodes that have not ended."""
        if isinstance(self.episodes, StoredEpisodes) and self._listed is None:
            return self.episodes.owed(_counts(self.config))
        played = {episode.name for episode in self.episodes}
        return [name for name in self.asked_for if name not in played]

    @property
    def cut(self) -> Sequence[Episode]:
        """Episodes that a cap of the whole run ended; they continue if the cap is raised."""
        return having(self.episodes, "cut")

    @property
    def holes(self) -> int:
        """The number of episodes without a result: planned, started beyond the plan, or cut off."""
        return len(self._environments_of_holes)

    @property
    def _environments_of_holes(self) -> list[str]:
        # Asked for many times, and of a million planned episodes it takes seconds.
        state = id(self.config), id(self.episodes), len(self.episodes), len(self.unfinished), self.share
        if self.__dict__.get("_holes", (None,))[0] != state:
            self.__dict__["_holes"] = state, self._found_holes()
        found: list[str] = self.__dict__["_holes"][1]
        return found

    def _found_holes(self) -> list[str]:
        owed = {*self._owed()}
        places = {str(run_folder.journal_path(Path(), name)) for name in owed}
        beyond = [stem for stem in self.unfinished if f"{stem}.journal.jsonl" not in places]
        return [name.partition("/")[0] for name in (*owed, *beyond)] + [episode.env for episode in self.cut]

    @property
    def partial(self) -> str:
        """'partial: 7 of 204' if episodes are open or missing, otherwise empty."""
        return partial(len(self.episodes) - len(self.cut), self.holes)

    def partial_in(self, env: str) -> str:
        """The same for one environment."""
        mine = self.by_env().get(env, ())
        ended = len(mine) - len(having(mine, "cut"))
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

    def by_env(self) -> dict[str, EpisodeSequence]:
        """Its episodes by environment, in order of appearance."""
        return as_sequence(self.episodes).by_env()


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


def _refuse_unknown_games(run: Path, config: dict[str, Any]) -> None:
    """Reject a plan with games that nothing here can score."""
    for task in config.get("env", {}).get("tasks", []):
        name = task.partition("/")[0]
        if not registry.environments.has(name):
            raise RunFolderError(
                f"{run / run_folder.CONFIG}: plans games of {name!r}, an environment that is not installed "
                "here; install the plug-in that registers it"
            )


def _refuse_many(run: Path, config: dict[str, Any]) -> None:
    """Reject a plan whose list of names alone would exhaust the memory."""
    count = sum(count for _, count in _counts(config))
    if count > MOST_EPISODES:
        raise RunFolderError(
            f"{run / 'config.json'}: plans {count:,} episodes; a run can have at most {MOST_EPISODES:,}"
        )


def load(run: Path, use_index: bool = True) -> LoadedRun:
    """Load a run folder; raises RunFolderError if it is not one."""
    frozen = run_folder.frozen_config(run)
    _refuse_unknown_games(run, frozen.config)
    _refuse_many(run, frozen.config)
    paths, packs = run_folder.journal_files(run), packs_in(run)
    most = (len(paths) + 1) * ROW_BYTES + sum(stat_of(pack)[0] for pack in packs)
    old = read_index(run, frozen.digest, most) if use_index else {}
    fresh: set[str] = set()
    kinds = frozenset(task.partition("/")[0] for task, _ in _counts(frozen.config))
    where = JournalReading(run, frozen.digest, kinds)
    segments = [of_files(where, paths, old.get(""), fresh), *of_packs(where, packs, old)]
    if [*old.values()] != segments and (paths or packs or old):
        write_index(run, frozen.digest, segments)
    return _sorted_out(run, frozen, segments, fresh)


def state_of(run: Path) -> object:
    """The files that a run is read from, with sizes and times: while these are equal, so is its content."""
    sources = [run / run_folder.CONFIG, run / run_folder.FORKED, run / run_folder.SHARD]
    return [(path, *stat_of(path)) for path in (*sources, *packs_in(run), *run_folder.journal_files(run))]


def _sorted_out(
    run: Path, frozen: run_folder.FrozenConfig, segments: Sequence[Segment], fresh: set[str]
) -> LoadedRun:
    """Separate usable episodes from unusable ones, with the reason for each."""
    forked, share = run_folder.forked_specs(run), run_folder.shard_episodes(run)
    made = LoadedRun(run, frozen.digest, frozen.config, [], [], [], forked=forked, share=share)
    made.fresh = frozenset(fresh)
    files, packed = segments[0].journals, segments[1:]
    made.with_files = list(segments[0].rows)
    made.episodes = in_display_order([segment.rows for segment in (*packed, segments[0])])
    # A journal that was taken out of a pack to be played on counts, not the packed one.
    if packed and (open_again := {each.name for each in files if not each.ended}):
        made.episodes = _without(made.episodes, open_again)
    for each in [*files, *(each for segment in packed if segment.problems for each in segment.journals)]:
        if each.problem:
            made.problems.append(Problem(each.name, each.problem))
        elif not each.ended:
            made.unfinished.append(each.name.removesuffix(".journal.jsonl"))
    return made


def _without(episodes: Sequence[Episode], journals: Collection[str]) -> Sequence[Episode]:
    """All but the episodes of these journals."""
    if isinstance(episodes, StoredEpisodes):
        return episodes.without(map(episode_named, journals))
    return [each for each in episodes if journal_name(each.name) not in journals]
