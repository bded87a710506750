"""Put the parts of a run together: shards, or copies of one run from several machines.

Everything but journals, BALROG's tables and recordings is computed again, so a merged folder equals that of
the same run played on one machine, times aside. The folder appears complete or not at all.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from balrog_rag.config.frozen import with_value
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.contracts.outcome import RESUMABLE
from balrog_rag.episode import journal
from balrog_rag.results import run_folder
from balrog_rag.results.leaderboard.off_plan import unplanned
from balrog_rag.results.recorded_provenance import merge_attempts
from balrog_rag.results.run_seal import is_local_run, mark_new
from balrog_rag.results.runs import LoadedRun
from balrog_rag.results.shard_folders import EPISODE_FILES, as_one, is_sharded, shards_in_folder
from balrog_rag.results.stored_run import StoredRun
from balrog_rag.results.summary import write_all
from balrog_rag.run.episode_recordings import database_of
from balrog_rag.run.journal_packer import JournalPacker
from balrog_rag.run.resume import specs_of
from balrog_rag.util.files import LARGE, read_file


class MergedRun(NamedTuple):
    """A run put together from parts."""

    folder: Path
    parts: int
    missing: Sequence[str]
    """Planned episodes that no part has finished."""
    is_new: bool
    """False if the folder had the same content before."""


def merge(places: Sequence[Path], out: Path, pack: int | None = None) -> MergedRun:
    """Put run folders, or the shards in RUN.shards, together in a new folder; raises RunFolderError.

    `pack`: most journals in a file; 0: a file for each; None: as the run itself does.
    """
    parts = [part for place in places for part in _parts_in(place)]
    run = as_one(out, parts, use_index=False)
    if run.problems:
        raise RunFolderError(f"{run.problems[0].path}: {run.problems[0].what}")
    settings = with_value(run_folder.frozen_config(parts[0]).config, "run.name", out.name)
    settings = with_value(with_value(settings, "run.folder", str(out.parent)), "runner.shard", None)
    if pack is not None:
        files = {key: value for key, value in settings["run"].items() if key != "pack"}
        settings["run"] = files | ({"pack": pack} if pack else {})
    planned = specs_of(StoredRun(out, settings))
    run.config = settings
    if foreign := unplanned(run, planned):
        raise RunFolderError(f"{parts[0]} and others: {foreign[0]} ({len(foreign)} such episodes)")
    finished = {episode.name for episode in run.episodes}
    missing = [spec.episode for spec in planned if spec.episode not in finished]
    if out.exists():
        _refuse_another_merge(run, out)
        return MergedRun(out, len(parts), missing, is_new=False)
    with _appearing(out) as draft:
        _write(run, parts, draft)
    return MergedRun(out, len(parts), missing, is_new=True)


def _parts_in(place: Path) -> list[Path]:
    if is_sharded(place):
        return shards_in_folder(place)
    run_folder.frozen_config(place)  # says so if it is not a run folder
    return [place]


def _write(run: LoadedRun, parts: Sequence[Path], draft: Path) -> None:
    run_folder.create(draft, run.config)
    pack = run.config["run"].get("pack")
    packer = JournalPacker(draft, pack, sync=False) if pack else None
    final = {run_folder.stem_of(each.name) for each in run.episodes if each.outcome not in RESUMABLE}
    for stem, home in run.homes.items():
        source, target = (folder / f"{stem}{EPISODE_FILES[0]}" for folder in (home, draft))
        if source.is_file():
            _copy(source, target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(journal.read_bytes(source))
        if packer is None:
            _copy(home / f"{stem}.csv", draft / f"{stem}.csv")
        elif stem in final:
            packer.add(target)
    recordings = [part / run_folder.RECORDINGS for part in parts]
    for recording in (each for folder in recordings if folder.is_dir() for each in sorted(folder.iterdir())):
        for file in sorted(recording.rglob("*")) if recording.is_dir() else ():
            _copy(file, draft / run_folder.RECORDINGS / file.relative_to(recording.parent))
    if any(folder.is_dir() for folder in recordings):
        database_of(draft)
    merge_attempts(parts, draft)
    with open(draft / "eval.log", "wb") as log:
        for part in parts:
            with suppress(FileNotFoundError):
                log.write(read_file(part / "eval.log", LARGE))
    if all(is_local_run(part) for part in parts):
        mark_new(draft, run_folder.CONFIG)
    write_all(draft)


def _copy(file: Path, target: Path) -> None:
    """Copy a regular file if it exists; links lead out of the run."""
    if file.is_file() and not file.is_symlink():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target)


@contextmanager
def _appearing(out: Path) -> Iterator[Path]:
    """Yield a folder beside `out` that takes its place when the body has filled it, or is removed."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=run_folder.DRAFT, dir=out.parent))
    except OSError as error:
        raise RunFolderError(f"{out}: cannot be created ({error.strerror}); choose another --out") from error
    try:
        yield place / out.name
        os.rename(place / out.name, out)
    except OSError as error:
        raise RunFolderError(f"{out}: cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _refuse_another_merge(run: LoadedRun, out: Path) -> None:
    """Refuse a folder that exists, unless it holds exactly the episodes that this merge would write."""
    other = f"{out}: exists and is not this merge"
    if run_folder.frozen_config(out).digest != run.digest:
        raise RunFolderError(f"{other} (another configuration); choose another --out")
    ours = {f"{stem}{EPISODE_FILES[0]}": home for stem, home in run.homes.items()}
    theirs = {str(path.relative_to(out)) for path in run_folder.journals(out)}
    for name in sorted({*ours, *theirs}):
        known = name in ours and name in theirs
        same = known and journal.read_bytes(ours[name] / name) == journal.read_bytes(out / name)
        if not same:
            raise RunFolderError(f"{other} ({name} differs or is missing); remove it or choose another --out")
