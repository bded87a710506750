"""The folders of a run that was split: RUN.shards/3-of-8 and so on, each an ordinary run folder.

RUN.shards/K-of-N/shard.json names the episodes of a shard, so that its results are complete without those of
the others. All shards of a folder can be read as one run, without merging them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.config.frozen import differing_keys
from balrog_rag.contracts.errors import JournalError, RunFolderError
from balrog_rag.episode import journal
from balrog_rag.episode.packs import find
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results import run_folder
from balrog_rag.results.episodes import Episode
from balrog_rag.results.runs import LoadedRun, Problem, load
from balrog_rag.results.stored_sequence import display_order
from balrog_rag.util.files import LARGE, lock_shared, read_file

SUFFIX = ".shards"
_NAME = re.compile(r"[0-9]{1,6}-of-[0-9]{1,6}")


def is_sharded(folder: Path) -> bool:
    """Whether a folder contains the shards of a run."""
    return folder.name.endswith(SUFFIX) and bool(shards_in_folder(folder))


def shards_in_folder(folder: Path) -> list[Path]:
    """Return the shards in RUN.shards that have begun, in order."""
    if not folder.is_dir():
        return []
    found = [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]
    return sorted((path for path in found if (path / run_folder.CONFIG).is_file()), key=_place)


def _place(shard: Path) -> tuple[int, int]:
    number, _, count = shard.name.partition("-of-")
    return int(count), int(number)


def loaded(folder: Path, use_index: bool = True) -> LoadedRun:
    """Load a run folder, or the shards of a run as one run."""
    return (
        as_one(folder, shards_in_folder(folder), use_index) if is_sharded(folder) else load(folder, use_index)
    )


def as_one(folder: Path, parts: Sequence[Path], use_index: bool = True) -> LoadedRun:
    """Load run folders of one configuration as one run; `folder` names it.

    Raises RunFolderError if they differ in their configuration, or if an episode in two of them differs.
    """
    runs = [load(part, use_index) for part in parts]
    for run in runs[1:]:
        refuse_other_configuration(runs[0], run)
    whole = LoadedRun(folder, runs[0].digest, runs[0].config, [], [], [])
    ended: dict[str, tuple[Episode, Path]] = {}
    for run in runs:
        whole.problems += [Problem(f"{run.folder.name}/{found.path}", found.what) for found in run.problems]
        for episode in run.episodes:
            stem = run_folder.stem_of(episode.name)
            ended[stem] = _better(ended.get(stem), (episode, run.folder))
    playing = _furthest(run for run in runs if run.unfinished)
    whole.homes = playing | {stem: home for stem, (_, home) in ended.items()}
    whole.unfinished = [stem for stem in playing if stem not in ended]
    whole.episodes = sorted((episode for episode, _ in ended.values()), key=display_order)
    return whole


def _better(one: tuple[Episode, Path] | None, other: tuple[Episode, Path]) -> tuple[Episode, Path]:
    """Choose between two copies of an episode: one that a cap of the run has cut off may have continued."""
    if one is None or one[0].cut:
        return other if one is None or not other[0].cut else one
    if not other[0].cut:
        refuse_contradiction(*(run_folder.journal_path(home, episode.name) for episode, home in (one, other)))
    return one


def _furthest(runs: Iterable[LoadedRun]) -> dict[str, Path]:
    """The folder with the longest journal of each unfinished episode, by the stem of its files."""
    found: dict[str, tuple[int, Path]] = {}
    for run in runs:
        for stem in run.unfinished:
            size = (run.folder / f"{stem}.journal.jsonl").stat().st_size
            found[stem] = max(found.get(stem, (-1, run.folder)), (size, run.folder), key=lambda each: each[0])
    return {stem: home for stem, (_, home) in found.items()}


def refuse_other_configuration(one: LoadedRun, other: LoadedRun) -> None:
    """Raise an error that names the settings in which two parts of a run differ."""
    for run in (one, other):
        if run.forked:
            raise RunFolderError(f"{run.folder}: a fork; only planned runs can be put together")
    if one.digest == other.digest:
        return
    raise RunFolderError(
        f"{other.folder}: another configuration than {one.folder} ({differences(one.config, other.config)}); "
        "pass only parts of one run"
    )


_WHERE = ("run.folder", "run.name", "runner.")


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Name the settings in which two parts of a run differ, apart from where and how fast they play."""
    keys = [key for key in differing_keys(one, other) if not key.startswith(_WHERE)]
    return ", ".join(keys[:5])


def refuse_contradiction(one: Path, other: Path) -> None:
    """Raise an error unless two finished journals of an episode agree in everything but times."""
    heads = [journal.head_of(path) for path in (one, other)]
    if heads[0] != heads[1] and _told(one) != _told(other):
        raise RunFolderError(
            f"{other}: the same episode as {one}, but played differently; delete one of the two journals"
        )


def _told(path: Path) -> list[Any]:
    """The content of a journal without times, attempts and what they cost."""
    return [_timeless(entry) for entry in journal.entries_of(path)]


def _timeless(entry: journal.Entry) -> Any:
    match entry:
        case journal.Header():
            return entry.spec_digest
        case journal.Completion():
            return entry.step, entry.purpose, entry.request, entry.reply.text
        case journal.Lookup():
            return entry.step, entry.query, [passage.id for passage in entry.passages]
        case journal.End():
            return msgspec.structs.replace(entry, seconds=0.0)
        case _:
            return entry


def write_plan(folder: Path, shard: str, episodes: Iterable[str]) -> None:
    """Write which episodes a shard has."""
    run_folder.write_json(folder / run_folder.SHARD, run_folder.ShardPlan(shard, list(episodes)))


def longest_journal(folders: Iterable[Path], spec: EpisodeSpec) -> Path | None:
    """Return the journal of an episode that got furthest in these folders; None if none has begun it."""
    found = [run_folder.journal_path(folder, spec.episode) for folder in folders]
    found = [path for path in found if journal.exists(path) and _spec_digest(path) == spec.digest]
    return max(found, key=lambda path: len(journal.read_bytes(path)), default=None)


def _spec_digest(path: Path) -> str:
    """The digest in a journal's header; "" if there is no intact one."""
    with suppress(JournalError, StopIteration):
        header = next(journal.entries_of(path))
        return header.spec_digest if isinstance(header, journal.Header) else ""
    return ""


EPISODE_FILES = (".journal.jsonl", ".csv")
"""Files of an episode that cannot be made from others: BALROG's table holds observations."""


def copy_episode(journal: Path, target: Path) -> None:
    """Copy an episode's files into another folder; raises RunFolderError if it is being played.

    A journal that is there already is kept: another process of the same shard may have begun to play it.
    """
    stem, new = (str(path).removesuffix(EPISODE_FILES[0]) for path in (journal, target))
    data = {suffix: _at_rest(Path(stem + suffix)) for suffix in EPISODE_FILES}
    if data[".csv"] is not None:
        run_folder.write_bytes(Path(new + ".csv"), data[".csv"])
    run_folder.write_new_bytes(target, data[EPISODE_FILES[0]] or b"")


def _at_rest(path: Path) -> bytes | None:
    """The content of a file that nobody is writing to; None if it does not exist."""
    try:
        with open(path, "rb") as file:
            if not lock_shared(file.fileno()):
                raise RunFolderError(f"{path}: is being played; stop {path.parents[2].name} first")
            return read_file(path, LARGE)
    except FileNotFoundError:
        packed = find(path)
        return None if packed is None else packed.read()
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be read ({error.strerror})") from error
