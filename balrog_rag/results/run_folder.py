"""The run folder: BALROG's layout with journals beside it.

RUN/config.json                                  the frozen configuration and its digest
RUN/run.json                                     provenance: versions, prompts, machine, attempts
RUN/<env>/<task>/<task>_run_NN.journal.jsonl     the truth
RUN/<env>/<task>/<task>_run_NN.{json,csv}        BALROG's record of the same episode
RUN/nld/<env>_<task>_<NN>/                       with run.ttyrec, its recording in the game's own form
a slash in the name of a task A/B is a folder, twice: ENV/A/B/A/B_run_00.json
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
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.util.files import lock, no_link, read_file, strange


class FrozenConfig(msgspec.Struct, frozen=True):
    """config.json."""

    digest: str
    config: dict[str, Any]


_PART = r"(?!\.)[^/\\\x00-\x1f\x7f]{1,200}"
_EPISODE = re.compile(rf"{_PART}(?:/{_PART})+/[0-9]{{1,9}}")


def is_part(name: str) -> bool:
    """Whether a name read from a folder may be that of a file or folder in it."""
    return re.fullmatch(_PART, name) is not None


def is_episode(name: str) -> bool:
    """Whether a name is env/task/number, and so means a place in a run folder and nowhere else."""
    return _EPISODE.fullmatch(name) is not None


def episode_stem(run: Path, episode: str) -> Path:
    """Where an episode's files lie, without their endings: every name of an episode becomes a path here."""
    env, task, number = _parts(run, episode)
    return run / env / task / f"{task}_run_{number}"


def _parts(run: Path, episode: str) -> list[str]:
    if not is_episode(episode):
        raise RunFolderError(f"{run}: {episode!r} is no episode's name, which is env/task/number")
    task, _, number = episode.rpartition("/")
    env, _, task = task.partition("/")
    return [env, task, number]


def journal_path(run: Path, episode: str) -> Path:
    """The journal of an episode named env/task/NN."""
    return episode_stem(run, episode).with_suffix(".journal.jsonl")


RECORDINGS = "nld"
"""The folder of a run's recordings, one folder an episode."""


def recording_path(run: Path, episode: str) -> Path | None:
    """The recording of an episode; None where its kind of game makes none."""
    env, task, number = _parts(run, episode)
    name = kind_of(env).retrospect.recording
    folder = run / RECORDINGS / f"{env}_{task}_{number}".replace("/", "_")
    return folder / name.format(number=int(number)) if name else None


def journals(run: Path) -> list[Path]:
    """Every journal of a run or of a sweep's runs, in the order of their names."""
    return sorted(run.glob("*/**/*_run_*.journal.jsonl"))


def is_journal(path: Path) -> bool:
    """Whether a file is one by its name, or by how it begins."""
    if path.name.endswith(".journal.jsonl") or not path.is_file():
        return path.is_file()
    with open(path, "rb") as file:
        return file.read(len(_BEGINNING)) == _BEGINNING


_BEGINNING = b'{"t":"header"'


def one_journal(path: Path) -> Path:
    """The journal named; a run folder stands for the only one that it holds."""
    if path.is_file() and not is_journal(path):
        raise RunFolderError(f"{path}: is no journal; give a run folder or a *.journal.jsonl")
    if not path.is_dir():
        return path
    found = journals(path)
    if len(found) == 1:
        return found[0]
    if not found:
        raise RunFolderError(f"{path}: holds no journal; give a run folder or a *.journal.jsonl")
    raise ConfigError(f"{path}: holds {len(found)} journals; name one, e.g. {found[0]}")


def home_of(journal: Path) -> Path | None:
    """The run folder in which a journal lies; None where it lies in none."""
    above = journal.resolve().parents[2:12]  # RUN/<env>/<task, perhaps some folders deep>/<file>
    return next((place for place in above if (place / "config.json").is_file()), None)


def create(run: Path, config: dict[str, Any]) -> None:
    """Make a new run folder with its frozen configuration; an error where one is there."""
    if not made(run, config):
        raise taken(run)


def made(run: Path, config: dict[str, Any]) -> bool:
    """The same, but for a folder that holds something; of two processes that begin at once one makes it."""
    if run.exists() and any(not path.name.endswith(DRAFT) for path in run.iterdir()):
        return False
    try:
        run.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"{run}: cannot be made ({error.strerror}); set run.folder") from error
    return write_new_json(run / "config.json", {"digest": config_digest(config), "config": config})


def taken(run: Path) -> RunFolderError:
    """What is said where a new run or sweep would be mixed with another."""
    return RunFolderError(f"{run}: not empty; go on with it by resume={run}, or choose another name")


def frozen_config(run: Path) -> FrozenConfig:
    """The configuration a run was started with."""
    path = run / "config.json"
    try:
        frozen = msgspec.json.decode(read_file(path), type=FrozenConfig)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RunFolderError(f"{run}: no run folder here (config.json: {error.strerror})") from error
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be read ({error.strerror})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{path}: is no frozen configuration ({error})") from error
    if frozen.digest != config_digest(frozen.config):
        raise RunFolderError(
            f"{path}: was changed by hand or written by another version (its digest does not fit); "
            "restore it, or go on with that version"
        )
    return frozen


def forked_specs(run: Path) -> list[EpisodeSpec]:
    """The specs of a run that was forked from another's episode; none for a planned run."""
    path = run / FORKED
    if not path.exists():
        return []
    try:
        specs = msgspec.json.decode(read_file(path), type=list[EpisodeSpec])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{path}: cannot be read ({error})") from error
    refuse_names(path, [spec.episode for spec in specs])
    return specs


def refuse_names(path: Path, episodes: Sequence[str]) -> None:
    """Refuse a list of episodes of which one would lie outside of the run folder, or in another's place."""
    for episode in episodes:
        if not is_episode(episode):
            raise RunFolderError(f"{path}: {episode!r} is no episode's name, which is env/task/number")
    if len(set(episodes)) < len(episodes):
        raise RunFolderError(f"{path}: names an episode twice")


FORKED = "forked.json"
"""The specs of a run whose episodes no plan makes."""


DRAFT = ".tmp"
"""How files end that are not whole yet; one may be left by a process that was killed."""


@contextmanager
def locked(run: Path) -> Iterator[None]:
    """Hold a run folder alone. The system releases the lock when the process ends, even by `kill -9`.

    The file stays: removing it would let two processes lock two files. Each journal has a lock of its own
    (`episode.journal.Writer`) in case somebody removes it during play.
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
    """Refuse a folder with a link in it before anything is written: what is behind it is not of this run."""
    try:
        found = strange(run)
    except OSError as error:
        raise RunFolderError(f"{run}: cannot be read ({error.strerror})") from error
    if found is not None:
        what = "a link" if found.is_symlink() else "neither a file nor a folder"
        raise RunFolderError(
            f"{found}: is {what}; nothing is written into {run} while it is there, remove it"
        )


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file whole or not at all."""
    write_bytes(path, _json(value))


def write_new_json(path: Path, value: Any) -> bool:
    """The same of a file that is not there yet; False where it is, be it since a moment ago."""
    try:
        _write(path, _json(value), _link)
    except _ThereAlready:
        return False
    return True


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=4) + b"\n"


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
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
        with suppress(OSError):  # where the folder cannot be made there is no draft either
            draft.unlink()


class _ThereAlready(Exception):
    """A file that was to be a new one."""


def _link(draft: Path, path: Path) -> None:
    """Put a file at its place where there is none: of two that try at once, one can."""
    try:
        os.link(draft, path)
    except FileExistsError as error:
        raise _ThereAlready from error
    except OSError:  # no hard links on this file system
        if path.exists():
            raise _ThereAlready from None
        os.replace(draft, path)
