"""Demonstrations: episodes of somebody else, as plain turns of text in a small file that few_shot shows.

The files are read when an agent is made, never while it plays, and their hash is part of the episode's spec.
Make them with `python -m balrog_rag.prompts demonstrate`.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.files import read_file


class DemonstrationTurn(msgspec.Struct, frozen=True):
    """One turn: what the game showed (its long part) and what was done."""

    observation: str
    action: str


class Demonstration(msgspec.Struct, frozen=True):
    """One episode, from its first turn on."""

    task: str
    source: str
    """Where it was taken from, for the reader of the file."""
    turns: tuple[DemonstrationTurn, ...]
    last: str | None = None
    """What the last action led to; None in files of earlier versions, which end with that action."""


def shortened(demonstration: Demonstration, turns: int | None) -> Demonstration:
    """The first turns, and what the last of them led to; None: all turns."""
    if turns is None or turns >= len(demonstration.turns):
        return demonstration
    last = demonstration.turns[turns].observation
    return msgspec.structs.replace(demonstration, turns=demonstration.turns[:turns], last=last)


def write(path: Path, demonstration: Demonstration) -> None:
    """Write the file of one episode."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(demonstration), indent=1) + b"\n")


def load(paths: Sequence[str], expected: str | None) -> tuple[Demonstration, ...]:
    """The demonstrations of these files, which must still be those that the run started with."""
    found = content_digest(paths)
    if expected is not None and expected != found:
        raise ConfigError(
            f"agent.demonstrations: {', '.join(paths)} are not the files that this run started with "
            f"(content {found}, expected {expected}); put the old ones back or start a new run"
        )
    return tuple(_decode(path, data) for path, data in zip(paths, _contents(tuple(paths)), strict=True))


def content_digest(paths: Sequence[str]) -> str:
    """The hash of what stands in these files, in this order."""
    return digest("\n".join(digest(data) for data in _contents(tuple(paths))))


@lru_cache(maxsize=8)
def _contents(paths: tuple[str, ...]) -> tuple[bytes, ...]:
    """Read once a process: every episode of a run is shown the same."""
    return tuple(_read(path) for path in paths)


def _read(path: str) -> bytes:
    try:
        return read_file(Path(path))
    except OSError as error:
        raise ConfigError(f"agent.demonstrations: {path}: {error.strerror or error}") from error


@lru_cache(maxsize=8)
def _decode(path: str, data: bytes) -> Demonstration:
    try:
        return msgspec.json.decode(data, type=Demonstration)
    except msgspec.MsgspecError as error:
        raise ConfigError(
            f"agent.demonstrations: {path} is no demonstration file ({error}); "
            "make one with python -m balrog_rag.prompts demonstrate"
        ) from error
