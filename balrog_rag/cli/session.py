"""Play in this process, and always report costs and how to resume, however play ended."""

import asyncio
import signal
import sys
import threading
from typing import Protocol

from balrog_rag.cli.command_line import INTERRUPTED, as_far_as_read
from balrog_rag.run.interrupts import ignoring_hangup


class Session(Protocol):
    """What a command plays in this process: one run, or a sweep. It keeps the outcomes that it reports."""

    async def play(self) -> None:
        """Play, and keep each outcome as soon as it is known."""
        ...

    def write_results(self) -> int:
        """Write and print the results; returns the exit code."""
        ...

    def print_troubles(self, interrupted: bool) -> None:
        """Print what kept episodes from ending; `interrupted`: Ctrl-C came after play had ended."""
        ...


def played(session: Session) -> int:
    """Play, write and print the results, print the troubles; returns the exit code.

    The troubles come last, on every way out.
    """
    code, interrupted = 1, False
    with ignoring_hangup():
        try:
            asyncio.run(session.play())
            code = session.write_results()
            return code
        except KeyboardInterrupt:  # not during play, where the run itself handles it
            code, interrupted = INTERRUPTED, True
            return code
        finally:  # also on a full disk: say what to do next
            if code == INTERRUPTED:
                _ignore_ctrl_c()
            as_far_as_read(sys.stderr, lambda: session.print_troubles(interrupted))


def _ignore_ctrl_c() -> None:
    """Ignore further Ctrl-C: only the last lines of a stopped command remain to be printed."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
