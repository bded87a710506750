"""Single recordings, read without a database: what each frame shows, and the key that was pressed at it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from balrog_rag.contracts.errors import DatasetError
from balrog_rag.contracts.kinds import EnvironmentKind, Measure, Numbers, kind_of
from balrog_rag.contracts.painting import ColouredText
from balrog_rag.dataset.layouts import RECORDING
from balrog_rag.envs.nethack.colours import coloured
from balrog_rag.envs.nethack.game_end import parse_log_line
from balrog_rag.envs.nethack.logged import numbers_in
from balrog_rag.envs.nethack.screen_signals import STATUS_LINES, key_name

VERSIONS = {"": 1, "1": 1, "2": 2, "3": 3}
"""Of recordings, by what their names end in: 1 holds what the terminal was sent and when (as NLD-NAO has it),
2 also keys, 3 also scores."""
NO_KEY = "key not recorded"
_ROWS, _COLUMNS, _BLOCK = 24, 80, 512


class Frame(NamedTuple):
    """One moment of a recording."""

    painting: ColouredText
    key: str
    """What was pressed at it, or that it is not recorded."""
    numbers: Numbers
    """What its bottom lines show, the seconds since the first frame, the score where it is recorded; empty
    without such lines."""


def recorded_kind() -> EnvironmentKind:
    """NetHack, as far as a terminal tells of it."""
    kind = kind_of("nle")
    seconds = Measure("seconds", "seconds since the first frame", "s", "seconds", "last", counted=True)
    return replace(
        kind,
        scoring=replace(kind.scoring, measures=(*kind.scoring.measures, seconds)),
        display=replace(kind.display, blank=lambda numbers: not numbers),
    )


def version_of(path: Path) -> int | None:
    """Which version a file is by its name; None where it is called like no recording at all."""
    match = RECORDING.fullmatch(path.name)
    if match is None:
        return None
    if match["version"] not in VERSIONS:
        raise DatasetError(f"{path}: ttyrec{match['version']} is unknown; versions 1 to 3 can be read")
    return VERSIONS[match["version"]]


def recordings_in(folder: Path) -> list[Path]:
    """Every recording in a folder and those below it, in the order of their names."""
    return [path for path in sorted(folder.rglob("*.ttyrec*.bz2")) if version_of(path)]


def plain_name(name: str) -> str:
    """A recording's name without its ending."""
    return name.rpartition(".ttyrec")[0]


def frames_of(path: Path) -> Iterator[Frame]:
    """Every frame of a recording in turn; one that is cut short ends early, in silence.

    In version 1 each writing to the terminal is a frame, so that several may come of one key.
    """
    started = None
    if (version := version_of(path)) is None:
        raise DatasetError(f"{path}: called like no recording; name it *.ttyrec.bz2, or *.ttyrec3.bz2")
    for arrays in _arrays(path, version):
        time = int(arrays["timestamps"])
        started = time if started is None else started
        score = {"score": int(arrays["scores"])} if version >= 3 else {}
        painting = coloured(arrays)
        shown = numbers_in("\n".join(painting.rows()[0][-STATUS_LINES:]))
        numbers = {**shown, **score, "seconds": (time - started) // 1_000_000} if "turn" in shown else {}
        key = key_name(int(arrays["keypresses"])) if version >= 2 else NO_KEY
        yield Frame(painting, key, numbers)


def _arrays(path: Path, version: int) -> Iterator[dict[str, Any]]:
    """The arrays of each frame, as nle.dataset names them; the next block is written over them."""
    from nle._pyconverter import Converter

    converter = Converter(_ROWS, _COLUMNS, version)
    converter.load_ttyrec(str(path), 1, 0)
    block: dict[str, NDArray[Any]] = {
        "tty_chars": np.zeros((_BLOCK, _ROWS, _COLUMNS), np.uint8),
        "tty_colors": np.zeros((_BLOCK, _ROWS, _COLUMNS), np.int8),
        "tty_cursor": np.zeros((_BLOCK, 2), np.int16),
        "timestamps": np.zeros(_BLOCK, np.int64),
        "keypresses": np.zeros(_BLOCK, np.uint8),
        "scores": np.zeros(_BLOCK, np.int32),
    }
    left = 0
    while left == 0:
        left = converter.convert(*block.values())
        for place in range(_BLOCK - left):
            yield {name: values[place] for name, values in block.items()}


def log_line(path: Path) -> Mapping[str, Any]:
    """The game's log line beside a recording; empty where none names it."""
    match = RECORDING.fullmatch(path.name)
    return _named(path.with_name(f"{match['stem']}.xlogfile")).get(path.name, {}) if match else {}


@lru_cache(maxsize=64)
def _named(log: Path) -> dict[str, dict[str, Any]]:
    """A log's lines by the recordings that they name."""
    try:
        lines = log.read_text("latin-1").splitlines()
    except OSError:
        return {}
    return {line.rpartition("ttyrecname=")[2].strip(): parse_log_line(line) for line in lines}
