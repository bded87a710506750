"""Where code of the user's has failed: one line for the terminal, and the traceback for the log."""

import os
import sysconfig
import traceback
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[1]
LONGEST = 300
"""Characters of an exception's own words that are kept."""
MOST_FRAMES = 40
"""Innermost frames of a traceback that are kept: endless recursion has a thousand."""
_LIBRARY = Path(sysconfig.get_path("stdlib")).resolve()
_written: dict[str, str] = {}


class Blame(NamedTuple):
    """What failed where."""

    line: str
    """As in `mine.py:2 in act: KeyError: 'north'`."""
    trace: str


def blame_of(error: BaseException, whose: str = "") -> Blame:
    """The innermost place in code that is neither this package's nor Python's own.

    Where there is none, as when a call does not fit, the line says `whose` code it is.
    """
    frames = traceback.extract_tb(error.__traceback__)
    foreign = [frame for frame in frames if _is_foreign(Path(frame.filename))]
    what = " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST].removesuffix(":")
    trace = "".join(traceback.format_exception(error, limit=-MOST_FRAMES))
    if not foreign and (whose or not frames):
        return Blame(f"{whose} {what}".strip(), trace)
    frame = (foreign or frames)[-1]
    return Blame(f"{as_written(frame.filename)}:{frame.lineno} in {frame.name}: {what}", trace)


def _is_foreign(file: Path) -> bool:
    if file.is_relative_to(PACKAGE) or file.name.startswith("<"):
        return False
    return not file.is_relative_to(_LIBRARY) or "site-packages" in file.parts


def remember_as_written(path: Path, written: str) -> None:
    """Show this path from now on as the user wrote it."""
    _written[str(path)] = written


def as_written(text: str) -> str:
    """A text that begins with an absolute path, the path as the user wrote it or relative to this folder."""
    for path, written in _written.items():
        if text.startswith((f"{path}:", f"{path}{os.sep}")) or text == path:
            return written + text[len(path) :]
    return text.removeprefix(f"{os.getcwd()}{os.sep}")
