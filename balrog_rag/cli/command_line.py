"""Shared by all commands: exit codes, error output, and checks of options before any work is done."""

import argparse
import errno
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.util.files import FileNotWritten, file_in_the_way
from balrog_rag.util.option_parser import Parser as Parser
from balrog_rag.util.secrets import redact
from balrog_rag.util.terminal_safe import one_line, terminal_safe

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 plus the signal's number."""
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of writing to a full disk or to a closed terminal."""
MOST_PORT = 65535


prefix = "python -m balrog_rag."
"""How the command was called, for usage lines."""


NOT_IN_LIGHT = frozenset(
    ("matplotlib", "pandas", "openvino", "faiss", "tokenizers", "bm25s", "Stemmer", "litellm")
)
"""Modules of the required packages that requirements-light.txt leaves out."""


def called(name: str) -> str:
    """Return a command's name as the user typed it."""
    return f"{prefix}{name}"


def flags_and_overrides(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None
) -> tuple[argparse.Namespace, list[str]]:
    """Parse flags, and return the KEY=VALUE overrides beside them; anything else is an error."""
    options, words = parser.parse_known_args(arguments)
    for word in words:
        if "=" not in word or word.startswith("-"):
            parser.error(f"unrecognized argument: {word}")
    return options, words


def note(line: str) -> None:
    """Print a note on stderr: stdout has only what was asked for."""
    print(f"note: {one_line(redact(line))}", file=sys.stderr)


def ended(command: Callable[[], int], stopped: str = "stopped") -> int:
    """Run a command: errors and Ctrl-C print one line; a reader that closed the pipe is not an error."""
    code = 0
    open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # for encodings without characters such as ±
    try:
        code = command()
        sys.stdout.flush()  # flush here, where a closed pipe can still be recognized
        return code
    except BalrogError as error:
        print(f"error: {terminal_safe(redact(str(error)))}", file=sys.stderr)
        return error.exit_code
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NOT_IN_LIGHT:
            raise
        print(
            f"error: {error.name}: not installed, since the light install leaves it out; run: "
            "pip install balrog_rag (docs/how-to/install.md)",
            file=sys.stderr,
        )
        return ConfigError.exit_code
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
        if error.errno == errno.ENAMETOOLONG:  # as typed: names that this program makes are short
            name = str(error.filename or "")
            print(f"error: {terminal_safe(name[:60])}...: {error.strerror}", file=sys.stderr)
            return ConfigError.exit_code
        if error.filename is not None or error.errno not in UNWRITABLE:
            raise
        give_up(sys.stdout)
        print(f"error: stdout: cannot be written ({error.strerror})", file=sys.stderr)
        return code or 1


def open_closed_streams() -> None:
    """Redirect standard streams that the caller has closed (as `>&-` does) to os.devnull.

    Python has None for such a stream, and its descriptor would be reused for the next file that is opened.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nowhere, nowhere == number)
            setattr(sys, name, os.fdopen(nowhere, "w" if number else "r"))


def as_far_as_read(stream: TextIO, say: Callable[[], None]) -> None:
    """Print text that is also stored in a folder; if the reader is gone, end the command as usual."""
    try:
        say()
        stream.flush()
    except OSError:
        give_up(stream)


def give_up(stream: TextIO) -> None:
    """Discard what is still to be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def within(option: str, value: float | None, least: float, most: float | None = None) -> None:
    """Reject a number outside its range; None means that the option was not given."""
    if value is None or (value >= least and (most is None or value <= most)):
        return
    bounds = f"at least {least:g}" if most is None else f"{least:g} to {most:g}"
    raise ConfigError(f"{option} {value:g}: must be {bounds}")


def chosen_port(given: int | None, needs: str, served: bool) -> int:
    """Return the port to serve on, 0 for a free one; reject one that is given without the option it needs."""
    if given is not None and not served:
        raise ConfigError(f"--port {given}: needs {needs}")
    within("--port", given, 0, MOST_PORT)
    return given or 0


def folder_to_write(option: str, path: Path) -> None:
    """Reject a folder that cannot be created because a file is in its way, and the folder of a run."""
    if part := file_in_the_way(path):
        raise ConfigError(f"{option} {path}: {part} is a file; name a folder")
    if (path / "config.json").is_file():
        from balrog_rag.results.run_folder import is_run_folder

        if is_run_folder(path):
            raise ConfigError(f"{option} {path}: is a run folder, whose files could be lost; name another")


def made_folder(option: str, path: Path) -> None:
    """Create a folder to write into; reject one that cannot be created."""
    folder_to_write(option, path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{option} {path}: cannot be created ({error.strerror})") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise ConfigError(f"{option} {path}: cannot be written (permission denied)")


def file_to_write(option: str, path: Path, endings: tuple[str, ...] = ()) -> None:
    """Reject a file that cannot be written or has an unknown extension."""
    if endings and path.suffix not in endings:
        raise ConfigError(f"{option} {path}: unknown file type; use {' or '.join(endings)}")
    if path.is_dir():
        raise ConfigError(f"{option} {path}: is a folder; name a file")
    if _is_of_run(path):
        raise ConfigError(f"{option} {path}: is a file of a run, which would be lost; name another")
    if not path.parent.is_dir():
        raise ConfigError(f"{option} {path}: no folder {path.parent}; make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ConfigError(f"{option} {path}: cannot be written (permission denied)")


def _is_of_run(path: Path) -> bool:
    """Whether a file belongs to a run folder: a journal, or one of those beside config.json."""
    from balrog_rag.results import run_folder

    if not path.is_file():
        return False
    beside = (path.parent / run_folder.CONFIG).is_file() and path.name in run_folder.FILES
    return beside or run_folder.is_journal(path)


def carried_out(parser: argparse.ArgumentParser, words: list[str]) -> int:
    """Run the command selected by the arguments; without one, print the help."""
    options = parser.parse_args(words)
    if "carry_out" not in options:
        return without_command(parser)
    code: int = options.carry_out(options)
    return code


def without_command(parser: argparse.ArgumentParser) -> int:
    """Print the help, then say in one line what is missing; return the exit code."""
    parser.print_help()
    sys.stdout.flush()
    print(f"error: {parser.prog}: COMMAND missing; choose one of those above", file=sys.stderr)
    return ConfigError.exit_code
