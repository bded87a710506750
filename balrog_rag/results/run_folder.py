"""The run folder: BALROG's layout with added journals.

RUN/config.json                                  the frozen configuration and its digest
RUN/run.json                                     provenance: versions, prompts, machine, attempts
RUN/<env>/<task>/<task>_run_NN.journal.jsonl     the source of all results
RUN/<env>/<task>/<task>_run_NN.{json,csv}        BALROG's record of the same episode
RUN/packed/NNNNNN.{jsonl,index}                  journals of finished episodes, with run.pack
RUN/nld/<env>_<task>_<NN>/                       with run.ttyrec: a recording in the game's native format
a slash in a task name A/B becomes folders: ENV/A/B/A/B_run_00.json
RUN/<env>/<env>_summary.json, RUN/summary.json, RUN/episodes.csv, RUN/eval.log
"""

import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.config.frozen import config_digest
from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.episode.packs import FOLDER as PACKED
from balrog_rag.episode.packs import find, journal_name, journals_in, packs_in
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.described_types import described_at_import
from balrog_rag.util.files import lock, no_link, read_file, strange
from balrog_rag.util.shell_commands import command

CONFIG = "config.json"
"""The frozen configuration of a run."""
FORKED = "forked.json"
"""The specs of a run that was not planned."""
SHARD = "shard.json"
"""The episodes of one shard of a run."""
SWEEP = "sweep.json"
"""The file that marks a folder as a sweep's."""
RECORDS = (CONFIG, FORKED, SHARD, "run.json", "summary.json", "episodes.csv")
"""The files of a run folder that say what was planned and what came of it."""
FILES = (*RECORDS, "eval.log")
"""The files of a run folder other than those of its episodes."""


def resume_with(folder: Path) -> str:
    """Return the command that resumes a run or a sweep."""
    return command("resume", folder)


class FrozenConfig(msgspec.Struct, frozen=True):
    """config.json."""

    digest: str
    config: dict[str, Any]


class _Plan(msgspec.Struct):
    tasks: list[str] = []
    episodes: int | None = None


class _Caps(msgspec.Struct):
    episode: dict[str, int | float | None] = {}


@described_at_import
class _Sections(msgspec.Struct):
    """What results read in a configuration: anybody may have written it, and its digest proves nothing."""

    env: _Plan = msgspec.field(default_factory=_Plan)
    limits: _Caps = msgspec.field(default_factory=_Caps)
    agent: dict[str, Any] = {}
    model: dict[str, Any] = {}
    knowledge: dict[str, Any] = {}
    run: dict[str, Any] = {}


_PART = r"(?!\.)[^/\\\x00-\x1f\x7f]{1,200}"
_EPISODE = re.compile(rf"{_PART}(?:/{_PART})+/[0-9]{{1,9}}")


def is_part(name: str) -> bool:
    """Whether a name read from a folder is a single valid path component."""
    return re.fullmatch(_PART, name) is not None


def is_episode(name: str) -> bool:
    """Whether a name is env/task/number, and so cannot refer to a path outside of a run folder."""
    return _EPISODE.fullmatch(name) is not None


def episode_stem(run: Path, episode: str) -> Path:
    """The path of an episode's files without extension; all episode names are converted to paths here."""
    env, task, number = _parts(run, episode)
    return run / env / task / f"{task}_run_{number}"


def _parts(run: Path, episode: str) -> list[str]:
    if not is_episode(episode):
        raise RunFolderError(f"{run}: {episode!r} is not an episode name; expected env/task/number")
    task, _, number = episode.rpartition("/")
    env, _, task = task.partition("/")
    return [env, task, number]


def stem_of(episode: str) -> str:
    """The path of an episode's files inside its run folder, without extension."""
    return str(episode_stem(Path(), episode))


def journal_path(run: Path, episode: str) -> Path:
    """The journal of an episode named env/task/NN."""
    return episode_stem(run, episode).with_suffix(".journal.jsonl")


RECORDINGS = "nld"
"""The folder of a run's recordings, with one folder per episode."""


def recording_path(run: Path, episode: str) -> Path | None:
    """The recording of an episode; None if its kind of game does not record."""
    env, task, number = _parts(run, episode)
    name = kind_of(env).retrospect.recording
    folder = run / RECORDINGS / f"{env}_{task}_{number}".replace("/", "_")
    return folder / name.format(number=int(number)) if name else None


def journals(run: Path) -> list[Path]:
    """Every journal of a run or of a sweep's runs, sorted by name; a packed one by the path it would have."""
    packed = [
        folder / journal_name(place.episode)
        for folder in (run, *(each.parent for each in run.glob(f"*/{PACKED}")))
        for pack in packs_in(folder)
        for place in journals_in(pack)
    ]
    return sorted({*journal_files(run), *packed})


def journal_files(run: Path) -> list[Path]:
    """The journals that have files of their own."""
    return sorted(run.glob("*/**/*_run_*.journal.jsonl"))


def is_journal(path: Path) -> bool:
    """Whether a path is that of a journal, judged by its name or its first bytes."""
    if path.name.endswith(".journal.jsonl") or not path.is_file():
        return path.is_file() or find(path) is not None
    with open(path, "rb") as file:
        return file.read(len(_BEGINNING)) == _BEGINNING


_BEGINNING = b'{"t":"header"'


def one_journal(path: Path) -> Path:
    """Return the given journal, or the only journal of the given run folder."""
    if path.is_file() and not is_journal(path):
        raise RunFolderError(f"{path}: not a journal; pass a run folder or a *.journal.jsonl")
    if not path.is_dir():
        return path
    found = journals(path)
    if len(found) == 1:
        return found[0]
    if not found:
        raise RunFolderError(f"{path}: contains no journal; pass a run folder or a *.journal.jsonl")
    raise ConfigError(f"{path}: contains {len(found)} journals; pass one, e.g. {found[0]}")


def home_of(journal: Path) -> Path | None:
    """The run folder that contains a journal, or None."""
    above = journal.resolve().parents[2:12]  # RUN/<env>/<task, perhaps some folders deep>/<file>
    return next((place for place in above if (place / CONFIG).is_file()), None)


def create(run: Path, config: dict[str, Any]) -> None:
    """Create a new run folder with its frozen configuration; raises an error if it exists."""
    if not made(run, config):
        raise taken(run)


def made(run: Path, config: dict[str, Any]) -> bool:
    """Create a run folder unless it has content; if two processes try at once, one succeeds."""
    if run.exists() and any(not path.name.endswith(DRAFT) for path in run.iterdir()):
        return False
    try:
        run.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"{run}: cannot be created ({error.strerror}); set run.folder") from error
    return write_new_json(run / CONFIG, {"digest": config_digest(config), "config": config})


def taken(run: Path) -> RunFolderError:
    """The error if a new run or sweep would be mixed with an existing one."""
    return RunFolderError(f"{run}: not empty; resume it with {resume_with(run)}, or choose another name")


def frozen_config(run: Path) -> FrozenConfig:
    """Read the configuration that a run was started with."""
    path = run / CONFIG
    try:
        return decoded_config(path, read_file(path))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RunFolderError(f"{run}: not a run folder ({CONFIG}: {error.strerror})") from error
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be read ({error.strerror})") from error


def is_run_folder(path: Path) -> bool:
    """Whether a folder's config.json is a run's, or damaged, so that nothing may be written beside it."""
    try:
        return bool(decoded_json(read_file(path / CONFIG), FrozenConfig).digest)
    except (FileNotFoundError, msgspec.ValidationError):  # none, or one of something else
        return False
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return True


def decoded_config(path: Path, data: bytes) -> FrozenConfig:
    """Return the configuration in the content of config.json."""
    try:
        frozen = decoded_json(data, FrozenConfig)
        msgspec.convert(frozen.config, _Sections)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{path}: not a frozen configuration ({error})") from error
    if frozen.digest != config_digest(frozen.config):
        raise RunFolderError(
            f"{path}: changed by hand or written by another version (digest mismatch); "
            "restore it, or use that version"
        )
    return frozen


def forked_specs(run: Path) -> list[EpisodeSpec]:
    """The specs of a forked run; empty for a planned run."""
    path = run / FORKED
    if not path.exists():
        return []
    try:
        return decoded_specs(path, read_file(path))
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be read ({error})") from error


def decoded_specs(path: Path, data: bytes) -> list[EpisodeSpec]:
    """Return the specs in the content of forked.json."""
    try:
        specs = decoded_json(data, list[EpisodeSpec])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{path}: cannot be read ({error})") from error
    refuse_names(path, [spec.episode for spec in specs])
    return specs


class ShardPlan(msgspec.Struct, frozen=True):
    """shard.json"""

    shard: str
    episodes: list[str]


def shard_episodes(run: Path) -> list[str] | None:
    """The episodes of a shard; None for a whole run."""
    path = run / SHARD
    if not path.exists():
        return None
    try:
        names = decoded_json(read_file(path), ShardPlan).episodes
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{path}: cannot be read ({error}); give the shard's command again") from error
    refuse_names(path, names)
    return names


def refuse_names(path: Path, episodes: Sequence[str]) -> None:
    """Reject a list of episodes with a name that is invalid or occurs twice."""
    for episode in episodes:
        if not is_episode(episode):
            raise RunFolderError(f"{path}: {episode!r} is not an episode name; expected env/task/number")
    if len(set(episodes)) < len(episodes):
        raise RunFolderError(f"{path}: contains an episode twice")


DRAFT = ".tmp"
"""Suffix of incomplete files; a killed process may leave one behind."""


@contextmanager
def locked(run: Path) -> Iterator[None]:
    """Lock a run folder exclusively. The OS releases the lock when the process ends, even by `kill -9`.

    The file is kept: removing it would let two processes lock two files. Each journal has its own lock
    (`episode.journal_writer.Writer`) in case somebody removes it during play.
    """
    refuse_links(run)
    try:
        number = os.open(run / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise RunFolderError(f"{run}: cannot be written ({error.strerror or error})") from error
    try:
        if not lock(number):
            raise RunFolderError(f"{run}: another process is playing this run; wait for it or stop it")
        yield
    finally:
        os.close(number)


def refuse_links(run: Path) -> None:
    """Reject a folder that contains a link before anything is written: links lead out of the run."""
    try:
        found = strange(run)
    except OSError as error:
        raise RunFolderError(f"{run}: cannot be read ({error.strerror})") from error
    if found is not None:
        what = "a link" if found.is_symlink() else "neither a file nor a folder"
        raise RunFolderError(f"{found}: is {what}; remove it before {run} is written to")


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically."""
    write_bytes(path, _json(value))


def write_new_json(path: Path, value: Any) -> bool:
    """Write a JSON file atomically unless it exists; return false if it does, even if just created."""
    return write_new_bytes(path, _json(value))


def write_new_bytes(path: Path, data: bytes) -> bool:
    """Write a file atomically unless it exists; return false if it does, even if just created."""
    try:
        _write(path, data, _link)
    except _ThereAlready:
        return False
    return True


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=4) + b"\n"


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically."""
    _write(path, data, os.replace)


def _write(path: Path, data: bytes, put: Callable[[Path, Path], None]) -> None:
    draft = path.with_name(f".{path.name}.{threading.get_native_id()}{DRAFT}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(draft, "wb", opener=no_link) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        put(draft, path)
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        with suppress(OSError):  # if the folder cannot be created there is no draft
            draft.unlink()


class _ThereAlready(Exception):
    """A file that should be new exists already."""


def _link(draft: Path, path: Path) -> None:
    """Move a file into place unless the name is taken: of two simultaneous attempts, one succeeds."""
    try:
        os.link(draft, path)
    except FileExistsError as error:
        raise _ThereAlready from error
    except OSError:  # this file system has no hard links
        if path.exists():
            raise _ThereAlready from None
        os.replace(draft, path)
