"""What every command shares: how it ends, and how a wrong option is refused before anything is done."""

import argparse
import errno
import io
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.util.files import FileNotWritten
from balrog_rag.util.option_parser import Parser as Parser
from balrog_rag.util.secrets import redact
from balrog_rag.util.terminal_safe import terminal_safe

INTERRUPTED = 130
"""The exit code of Ctrl-C: 128 and the signal's number."""
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of writing to a full disk or to a terminal that is gone."""
MOST_PORT = 65535


prefix = "python -m balrog_rag."
"""How the command was called, for its usage lines."""


def called(name: str) -> str:
    """A command's name as the user wrote it."""
    return f"{prefix}{name}"


def resume_with(folder: Path) -> str:
    """The command that resumes a run or a sweep, in the manner in which this one was called."""
    if prefix.startswith("python"):
        return f"{prefix}eval resume={shlex.quote(str(folder))}"
    return f"{prefix}resume {shlex.quote(str(folder))}"


def ended(command: Callable[[], int], stopped: str = "stopped") -> int:
    """Carry a command out; a mistake is one line, Ctrl-C another, a reader that has seen enough is none."""
    code = 0
    open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # where there is no sign such as ±, as in ASCII
    try:
        code = command()
        sys.stdout.flush()  # here, where a pipe that is closed can still be taken for what it is
        return code
    except BalrogError as error:
        print(f"error: {terminal_safe(redact(str(error)))}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(stopped, file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        give_up(sys.stdout)
        return code
    except FileNotWritten as error:
        print(f"error: {terminal_safe(str(error))}", file=sys.stderr)
        return code or 1
    except OSError as error:
        if error.filename is not None or error.errno not in UNWRITABLE:
            raise
        give_up(sys.stdout)
        print(f"error: stdout: cannot be written ({error.strerror})", file=sys.stderr)
        return code or 1


def open_closed_streams() -> None:
    """Send to nowhere what goes to a standard stream that the caller has closed, as `>&-` does.

    Python has None for such a stream, and its number would go to the next file that is opened.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nowhere, nowhere == number)
            setattr(sys, name, os.fdopen(nowhere, "w" if number else "r"))


def as_far_as_read(stream: TextIO, say: Callable[[], None]) -> None:
    """Print what is also in a folder; where nobody reads it any more the command ends as it would have."""
    try:
        say()
        stream.flush()
    except OSError:
        give_up(stream)


def give_up(stream: TextIO) -> None:
    """Send to nowhere what is left to write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def within(option: str, value: float | None, least: float, most: float | None = None) -> None:
    """Refuse a number out of its range; None is an option that was left out."""
    if value is None or (value >= least and (most is None or value <= most)):
        return
    bounds = f"at least {least:g}" if most is None else f"{least:g} to {most:g}"
    raise ConfigError(f"{option} {value:g}: must be {bounds}")


def folder_to_write(option: str, path: Path) -> None:
    """Refuse a folder that cannot be made, since a file stands in its way."""
    for part in (path, *path.parents):
        if part.is_dir():
            return
        if part.exists():
            raise ConfigError(f"{option} {path}: {part} is a file; name a folder")


def file_to_write(option: str, path: Path, endings: tuple[str, ...] = ()) -> None:
    """Refuse a file that cannot be written or is of no kind that is known."""
    if endings and path.suffix not in endings:
        raise ConfigError(f"{option} {path}: no such kind of file; its name ends in {' or '.join(endings)}")
    if path.is_dir():
        raise ConfigError(f"{option} {path}: is a folder; name a file")
    if not path.parent.is_dir():
        raise ConfigError(f"{option} {path}: no folder {path.parent}; make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ConfigError(f"{option} {path}: cannot be written (permission denied)")


def carried_out(parser: argparse.ArgumentParser, words: list[str]) -> int:
    """Do what the words ask for by the parser's `carry_out`; without a command, the help."""
    options = parser.parse_args(words)
    if "carry_out" not in options:
        parser.print_help()
        return 2
    code: int = options.carry_out(options)
    return code
