"""Read single recordings without a database: each frame, and the key that was pressed at it."""

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
"""By file extension: 1 has the terminal's output with times (as in NLD-NAO), 2 adds keys, 3 adds scores."""
NO_KEY = "key not recorded"
_ROWS, _COLUMNS, _BLOCK = 24, 80, 512


class Frame(NamedTuple):
    """One moment of a recording."""

    painting: ColouredText
    key: str
    """The key pressed at it, or a note that it is not recorded."""
    numbers: Numbers
    """The numbers of its bottom lines (if any), seconds since the first frame, and the score if recorded."""


def recorded_kind() -> EnvironmentKind:
    """NetHack as far as a terminal shows it."""
    kind = kind_of("nle")
    seconds = Measure("seconds", "seconds since the first frame", "s", "seconds", "last", counted=True)
    return replace(
        kind,
        scoring=replace(kind.scoring, measures=(*kind.scoring.measures, seconds)),
        display=replace(kind.display, blank=lambda numbers: not numbers),
    )


def version_of(path: Path) -> int | None:
    """The version of a file according to its name; None if it does not have a recording's name."""
    match = RECORDING.fullmatch(path.name)
    if match is None:
        return None
    if match["version"] not in VERSIONS:
        raise DatasetError(f"{path}: ttyrec{match['version']} is unknown; versions 1 to 3 can be read")
    return VERSIONS[match["version"]]


def recordings_in(folder: Path) -> list[Path]:
    """Every recording in a folder and its subfolders, in order of names."""
    return [path for path in sorted(folder.rglob("*.ttyrec*.bz2")) if version_of(path)]


def plain_name(name: str) -> str:
    """A recording's name without its extension."""
    return name.rpartition(".ttyrec")[0]


def frames_of(path: Path) -> Iterator[Frame]:
    """Yield every frame of a recording; a truncated one ends early without an error.

    In version 1 each write to the terminal is a frame, so one key may cause several.
    """
    started = None
    if (version := version_of(path)) is None:
        raise DatasetError(f"{path}: not named like a recording; rename it to *.ttyrec.bz2, or *.ttyrec3.bz2")
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
    """The arrays of each frame, named as in nle.dataset; the next block overwrites them."""
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
    """The game's log line beside a recording; empty if none names it."""
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
