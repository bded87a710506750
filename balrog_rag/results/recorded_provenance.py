"""The provenance of a run's results, as recorded in run.json, with every attempt at playing it."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.config.frozen import tree_digest
from balrog_rag.contracts.errors import JournalError
from balrog_rag.episode.journal import Header, entries_of
from balrog_rag.results.run_folder import home_of, write_json
from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.described_types import described_at_import
from balrog_rag.util.files import read_file

FILE = "run.json"


class Origin(msgspec.Struct, frozen=True):
    """When a run was started, with which versions and prompts."""

    started: str = "unknown"
    versions: str = "unknown"
    prompts: str = "unknown"
    attempts: int = 0
    caps: tuple[Mapping[str, int | float | None], ...] = ()
    """An episode's caps in each attempt that recorded them."""


class _Attempt(msgspec.Struct):
    started: str = "unknown"
    versions: dict[str, str] = {}
    prompts: dict[str, Any] = {}
    caps: dict[str, int | float | None] = {}


@described_at_import
class _RunFile(msgspec.Struct):
    attempts: list[_Attempt] = []


def _attempts(run: Path) -> list[_Attempt]:
    return decoded_json(read_file(run / FILE), _RunFile).attempts


def add_attempt(run: Path, attempt: Mapping[str, Any]) -> None:
    """Add an attempt to run.json."""
    path = run / FILE
    write_json(path, {"attempts": [*_as_recorded(path), attempt]})


def merge_attempts(runs: Sequence[Path], out: Path) -> None:
    """Write the attempts of several folders of one run into another folder, earliest first."""
    attempts = [attempt for run in runs for attempt in _as_recorded(run / FILE)]
    attempts.sort(key=lambda attempt: str(attempt.get("started", "")) if isinstance(attempt, dict) else "")
    write_json(out / FILE, {"attempts": attempts})


def _as_recorded(path: Path) -> list[Any]:
    try:
        attempts = decoded_json(read_file(path), dict[str, Any])["attempts"]
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return []  # a lost run.json costs the list of earlier attempts, not the run
    return attempts if isinstance(attempts, list) else []


def origin(run: Path) -> Origin:
    """Read run.json; if it is missing or damaged, provenance is unknown."""
    try:
        attempts = _attempts(run)
    except (msgspec.DecodeError, UnicodeDecodeError, FileNotFoundError):
        return Origin()
    except OSError as error:
        return Origin(versions=f"unknown (run.json: {error.strerror})")
    if not attempts:
        return Origin()
    versions = {f"{name} {number}" for attempt in attempts for name, number in attempt.versions.items()}
    prompts = sorted({tree_digest(attempt.prompts)[:12] for attempt in attempts})
    caps = tuple(attempt.caps for attempt in attempts if attempt.caps)
    return Origin(attempts[0].started, ", ".join(sorted(versions)), ", ".join(prompts), len(attempts), caps)


def packages(run: Path) -> dict[str, set[str]]:
    """The versions of each package that played the run, from run.json; empty if it is unreadable."""
    found: dict[str, set[str]] = {}
    with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        for attempt in _attempts(run):
            for name, number in attempt.versions.items():
                found.setdefault(name, set()).add(number)
    return found


def different_packages(ours: Iterable[Path], theirs: Iterable[Path]) -> list[str]:
    """Packages whose versions differ between two arms, e.g. 'numpy 1.26.4 against 2.1.0'."""
    one, other = (_together(map(packages, runs)) for runs in (ours, theirs))
    if not one or not other:
        return []
    names = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
    return [f"{name} {_listed(one.get(name))} against {_listed(other.get(name))}" for name in names]


def _together(runs: Iterable[Mapping[str, set[str]]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for run in runs:
        for name, numbers in run.items():
            found.setdefault(name, set()).update(numbers)
    return found


def _listed(numbers: set[str] | None) -> str:
    return ", ".join(sorted(numbers)) if numbers else "none"


def contradiction(run: Path, versions: Mapping[str, str]) -> str:
    """How run.json contradicts the versions in a journal of its run; empty if it agrees."""
    path = run / FILE
    try:
        claimed = [attempt.versions for attempt in _attempts(run)]
    except OSError as error:
        return f"{path}: cannot be read ({error.strerror}); it is written whenever a run starts"
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return f"{path}: damaged ({error})"
    if dict(versions) in claimed:
        return ""
    return f"{path}: no attempt has the package versions recorded in its journals"


def contradictions(journals: Iterable[Path]) -> list[str]:
    """Contradictions between run.json and the versions in these journals, once per run."""
    found: dict[str, None] = {}
    for path in journals:
        run = home_of(path)
        if run is not None:
            with suppress(JournalError):  # a damaged journal is reported by the replay
                header = next(entries_of(path), None)
                if isinstance(header, Header) and (what := contradiction(run, header.versions)):
                    found[what] = None
    return list(found)
