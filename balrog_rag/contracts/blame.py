"""Locate a failure in the user's code: one line for the terminal and a traceback for the log."""

import os
import sysconfig
import traceback
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[1]
LONGEST = 300
"""Maximum length of the exception's message."""
MOST_FRAMES = 40
"""Innermost frames of a traceback that are kept: infinite recursion would give a thousand."""
_LIBRARY = Path(sysconfig.get_path("stdlib")).resolve()
_written: dict[str, str] = {}


class Blame(NamedTuple):
    """An error and where it was raised."""

    line: str
    """For example `mine.py:2 in act: KeyError: 'north'`."""
    trace: str


def blame_of(error: BaseException, whose: str = "") -> Blame:
    """Find the innermost frame that belongs neither to this package nor to Python's library.

    If there is none, as when the arguments of a call do not fit, the line says `whose` code it is.
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
    """From now on, show this path as the user wrote it."""
    _written[str(path)] = written


def as_written(text: str) -> str:
    """Shorten an absolute path at the start of `text`: as the user wrote it, or relative to this folder."""
    for path, written in _written.items():
        if text.startswith((f"{path}:", f"{path}{os.sep}")) or text == path:
            return written + text[len(path) :]
    return text.removeprefix(f"{os.getcwd()}{os.sep}")
