"""List the episodes of journals, runs, sweeps and recordings, with one row of data each."""

import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from balrog_rag.contracts.errors import BalrogError, RunFolderError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.dataset.recordings import plain_name
from balrog_rag.episode import journal
from balrog_rag.episode.packs import journal_name
from balrog_rag.results import run_folder, runs
from balrog_rag.results.coded_values import Coded
from balrog_rag.results.episode_arrays import EpisodeArrays, arrays_of
from balrog_rag.results.episodes import Episode, agent_name
from balrog_rag.results.tally import read_episode
from balrog_rag.run.replay import OwnPlayers
from balrog_rag.viewer import published_episodes, recorded
from balrog_rag.viewer.open_episodes import open_row
from balrog_rag.viewer.published_episodes import PublishedEpisode, csvs
from balrog_rag.viewer.rebuilding import RebuiltEpisode, header_of
from balrog_rag.viewer.recorded import RecordedEpisode, is_recording, recordings

JOURNAL = ".journal.jsonl"
MOST_LISTED = 20_000
"""Ended episodes of a run that a page lists: more take a browser minutes."""


class ListedEpisode(NamedTuple):
    """An episode that can be viewed."""

    key: str
    """Name in links and pages."""
    path: Path
    run: Path | None
    """Its run folder."""
    row: dict[str, Any]
    """Its row in the list."""
    env: str = ""
    """The environment, for an episode of a BALROG submission instead of a journal."""
    episode: Episode | None = None
    """Its results, if it is an ended one of a journal."""

    def source(
        self, tiles: bool = False, own: OwnPlayers | None = None
    ) -> RebuiltEpisode | PublishedEpisode | RecordedEpisode:
        """Create the source of its documents; only games that are replayed have tiles."""
        if is_recording(self.path):
            return RecordedEpisode(self.path)
        return PublishedEpisode(self.path, self.env) if self.env else RebuiltEpisode(self.path, tiles, own)


def sources(paths: Sequence[Path]) -> list[Sequence[ListedEpisode]]:
    """Return the episodes at these paths by source; those of a run that has not changed are the same list."""
    return [source for path in paths for source in _behind(path)]


def listed(paths: Sequence[Path]) -> list[ListedEpisode]:
    """Return every episode at these paths, each with a unique name."""
    return named(paths, sources(paths))


def named(paths: Sequence[Path], sources: Sequence[Sequence[ListedEpisode]]) -> list[ListedEpisode]:
    """Return the episodes of these sources, each with a unique name."""
    found = [episode for source in sources for episode in source]
    if not found:
        raise RunFolderError(
            f"{paths[0]}: contains no episode; give a run folder, submission, *{JOURNAL} or *.ttyrec3.bz2"
        )
    several = len({episode.run for episode in found}) > 1
    taken: set[str] = set()
    made = []
    for episode in found:
        key = f"{episode.run.name}:{episode.key}" if several and episode.run else episode.key
        made.append(under(free(key, taken), episode))
        taken.add(made[-1].key)
    return made


def free(key: str, taken: Set[str]) -> str:
    """Return an unused name derived from `key`."""
    while key in taken:
        key += "+"
    return key


def under(key: str, episode: ListedEpisode) -> ListedEpisode:
    """Rename an episode for links and pages."""
    if key == episode.key == episode.row.get("key"):
        return episode
    return episode._replace(key=key, row=episode.row | {"key": key})


def run_folders(path: Path) -> list[Path]:
    """Return the run folder itself, or those of a sweep."""
    if (path / "config.json").is_file():
        return [path]
    return sorted(each.parent for each in path.glob("*/config.json"))


def _behind(path: Path) -> Iterator[Sequence[ListedEpisode]]:
    if not journal.exists(path):
        raise RunFolderError(f"{path}: not found; pass a run folder, a *{JOURNAL} or a *.ttyrec3.bz2")
    if not path.is_dir():
        if is_recording(path):
            yield [_of_recording(path, path.name)]
        else:
            yield [_of_journal(path, run_folder.home_of(path))]
        return
    folders = run_folders(path)
    for run in folders:
        yield _of_run(run.resolve())
    for name, env, file in csvs(path) if not folders else ():
        about = published_episodes.row(published_episodes.record_of(file), name, env) | {
            "run": path.resolve().name
        }
        yield [ListedEpisode(name, file, path.resolve(), about, env)]
    for name, file in recordings(path) if not folders else ():
        yield [_of_recording(file, name, path.resolve())]


def _of_recording(path: Path, name: str, home: Path | None = None) -> ListedEpisode:
    name = plain_name(name)
    return ListedEpisode(name, path, home, recorded.row(path, name) | {"run": home.name if home else ""})


def _of_run(run: Path) -> list[ListedEpisode]:
    """Episodes that have ended, those in play, and unusable ones with the reason."""
    state = runs.state_of(run)
    if (known := _known.get(run)) is not None and known[0] == state:
        return known[1]
    loaded = runs.load(run)
    found = list(_in_run(run, loaded))
    if not loaded.problems and not loaded.unfinished:  # either may change while no journal does
        while len(_known) >= _MOST_KNOWN:
            del _known[next(iter(_known))]
        _known[run] = state, found
    return found


_MOST_KNOWN = 64
"""Runs whose lists are kept."""
_known: dict[Path, tuple[object, list[ListedEpisode]]] = {}
"""Runs as they were listed: a server lists again every few seconds."""


def _in_run(run: Path, loaded: runs.LoadedRun) -> Iterator[ListedEpisode]:
    if len(loaded.episodes) > MOST_LISTED:
        _say_that_others_are_not_listed(run)
    ended = loaded.episodes[:MOST_LISTED]
    for episode, about in zip(ended, rows_of(ended), strict=True):
        key = about["name"]
        about["run"], about["key"] = run.name, key
        yield ListedEpisode(key, run / journal_name(key), run, about, episode=episode)
    for stem in loaded.unfinished:
        yield _of_journal(run / f"{stem}{JOURNAL}", run)
    for problem in loaded.problems:
        about = {"name": problem.path, "run": run.name, "state": "damaged", "how": problem.what}
        yield ListedEpisode(problem.path, run / problem.path, run, about)


@cache
def _say_that_others_are_not_listed(run: Path) -> None:
    """Print it once: a server lists again every few seconds."""
    print(
        f"{run}: only the first {MOST_LISTED:,} episodes are listed; view another by the path of its journal",
        file=sys.stderr,
    )


def _of_journal(path: Path, run: Path | None) -> ListedEpisode:
    name = "" if run is None else run.name
    ended = read_episode(path)
    if ended is not None:
        return ListedEpisode(ended.name, path, run, row(ended) | {"run": name}, episode=ended)
    try:
        spec = header_of(path).spec
    except BalrogError as error:
        return ListedEpisode(
            path.name, path, run, {"name": path.name, "run": name, "state": "damaged", "how": str(error)}
        )
    return ListedEpisode(spec.episode, path, run, open_row(path, spec) | {"run": name})


def row(episode: Episode) -> dict[str, Any]:
    """The row of an episode that has ended."""
    return rows_of([episode])[0]


def rows_of(episodes: Sequence[Episode]) -> list[dict[str, Any]]:
    """The rows of episodes that have ended."""
    arrays = arrays_of(episodes)
    env, model = arrays.env, arrays.asked_model
    columns = {
        "name": arrays.values("name"),
        "kind": env.mapped(lambda name: kind_of(name).title).array().tolist(),
        "task": arrays.task.array().tolist(),
        "state": ["ended"] * len(episodes),
        "outcome": arrays.coded("outcome").array().tolist(),
        "how": arrays.ended_by.array().tolist(),
        "cause": arrays.cause.array().tolist(),
        "preventable": arrays.preventable.array().tolist(),
        "progression": [round(value, 3) for value in arrays.percent.tolist()],
        "steps": arrays.numbers("steps").tolist(),
        "tokens": _unless(arrays.unseen.tolist(), (arrays.total("input") + arrays.total("output")).tolist()),
        "dollars": [round(value, 6) for value in arrays.total("dollars").tolist()],
        "unpriced": arrays.total("unpriced").tolist(),
        "seconds": [round(value, 2) for value in arrays.seconds.tolist()],
        "invalid": arrays.numbers("invalid").tolist(),
        "searches": arrays.lookups("count").tolist(),
        "agent": arrays.mapped(agent_name, "agent").array().tolist(),
        "model": _unless(
            (~arrays.has_calls).tolist(), model.mapped(lambda of: str(of.get("name", "?"))).array().tolist()
        ),
        "measures": _measures(episodes, env),
    }
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _unless(unknown: Sequence[bool], values: Sequence[Any]) -> list[Any]:
    return [None if each else value for each, value in zip(unknown, values, strict=True)]


def _measures(episodes: Sequence[Episode], env: Coded) -> list[list[list[Any]]]:
    """Title, value and unit of each measure of its kind of game, for each episode."""
    made: list[list[list[Any]]] = [[] for _ in episodes]
    for name, _ in env.counted():
        places = env.where(name)
        arrays = EpisodeArrays([episodes[place] for place in places])
        for measure in kind_of(name).scoring.measures:
            for place, value in zip(places, arrays.measured(measure).tolist(), strict=True):
                # Unknown is null in JSON, which has no NaN.
                made[place].append([measure.title, None if value != value else value, measure.unit])
    return made


def runs_of(episodes: Iterable[ListedEpisode]) -> list[Path]:
    """Return the distinct run folders of these episodes."""
    return list(dict.fromkeys(episode.run for episode in episodes if episode.run is not None))
