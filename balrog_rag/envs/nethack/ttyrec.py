"""NLE's own recording of a game, in the layout of the NetHack Learning Dataset.

A recording is two files: NAME.0.ttyrec3.bz2 with the frames and NAME.xlogfile with one line of facts. A
dataset identifies a game by that line, so every recording gets one, however its episode ends.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from balrog_rag.contracts.errors import EnvironmentFailure
from balrog_rag.envs.nethack.game_end import quit_game, read_log, stand_in

_SCORES = ("logfile", "record")
"""Files that NetHack looks for beside the log; without them its last page is a complaint."""
_FREE_TEXT = re.compile(r"[\t\n\r]")


def log_prefix(ttyrec: str | None) -> str | None:
    """The common prefix of a recording's log: NAME.0.ttyrec3.bz2 goes with NAME.xlogfile, as in NLE."""
    return None if ttyrec is None else re.sub(r"(\.\d+)?\.ttyrec3\.bz2$", "", ttyrec) + "."


def clear(ttyrec: str | None) -> None:
    """Prepare a recording: NLE would append to the log of an earlier attempt.

    A game shows the same pages with and without a recording.
    """
    if ttyrec is None:
        return
    try:
        Path(ttyrec).parent.mkdir(parents=True, exist_ok=True)
        for path in (Path(ttyrec), *_beside(ttyrec, "xlogfile", *_SCORES)):
            path.unlink(missing_ok=True)
        for path in _beside(ttyrec, *_SCORES):
            path.touch()
    except OSError as error:
        raise EnvironmentFailure(f"{ttyrec}: cannot be written ({error.strerror or error})") from error


def _beside(ttyrec: str, *names: str) -> list[Path]:
    return [Path(f"{log_prefix(ttyrec)}{name}") for name in names]


def finish(
    game: Any, arrays: Mapping[str, NDArray[Any]], ttyrec: str | None, live: NDArray[Any] | None
) -> None:
    """Finish a recording: quit a game still running, and add a log line if there is none.

    `live` holds the last bottom lines of the game; None if they are still shown.
    """
    if ttyrec is None:
        return
    live = (arrays["blstats"] if live is None else live).copy()
    (log,) = _beside(ttyrec, "xlogfile")
    if not read_log(log) and arrays["program_state"].any() and not game._pynethack.done():
        quit_game(game, arrays)
    _keep_ascii(log)
    if not read_log(log):
        _write_line(log, {**stand_in(live), "ttyrecname": Path(ttyrec).name})
    for path in _beside(ttyrec, *_SCORES):
        path.unlink(missing_ok=True)


def _keep_ascii(log: Path) -> None:
    """Replace characters of typed names in a line; nle.dataset reads ASCII only."""
    line = log.read_bytes() if log.exists() else b""
    if not line.isascii():
        log.write_bytes(line.decode("latin-1").encode("ascii", "replace"))


def _write_line(log: Path, fields: Mapping[str, Any]) -> None:
    """Write a line like NetHack's from what is known; readers treat missing fields as unknown."""
    cells = (f"{name}={_FREE_TEXT.sub(' ', str(value))}" for name, value in fields.items())
    with log.open("a", encoding="ascii", errors="replace") as file:
        file.write("\t".join(cells) + "\n")
