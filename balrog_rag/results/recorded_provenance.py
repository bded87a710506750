"""What run.json says of where a run's numbers come from, as far as it is there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.config.frozen import tree_digest
from balrog_rag.util.files import read_file


class Origin(msgspec.Struct, frozen=True):
    """When a run was started, by which versions, with which prompts."""

    started: str = "unknown"
    versions: str = "unknown"
    prompts: str = "unknown"
    attempts: int = 0
    caps: tuple[Mapping[str, int | float | None], ...] = ()
    """The caps of an episode in each attempt that noted them."""


class _Attempt(msgspec.Struct):
    started: str = "unknown"
    versions: dict[str, str] = {}
    prompts: dict[str, Any] = {}
    caps: dict[str, int | float | None] = {}


class _RunFile(msgspec.Struct):
    attempts: list[_Attempt] = []


def origin(run: Path) -> Origin:
    """Read run.json; a lost or damaged one costs this knowledge and nothing else."""
    try:
        attempts = msgspec.json.decode(read_file(run / "run.json"), type=_RunFile).attempts
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
