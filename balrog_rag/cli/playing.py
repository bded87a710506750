"""Play in this process and report: what was spent and how to resume is printed, however it was stopped."""

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from balrog_rag.cli.command_line import INTERRUPTED, as_far_as_read
from balrog_rag.run.interrupts import outliving_the_terminal


def played(
    play: Callable[[], Coroutine[Any, Any, None]],
    results: Callable[[], int],
    troubles: Callable[[bool], None],
) -> int:
    """Play, write and print the results, print the troubles; returns the exit code.

    `troubles` is called last, on every way out. Its argument: whether Ctrl-C came after play had ended, so
    that results may be missing.
    """
    code, interrupted = 1, False
    with outliving_the_terminal():
        try:
            asyncio.run(play())
            code = results()
            return code
        except KeyboardInterrupt:  # not during play, where the run itself handles it
            code, interrupted = INTERRUPTED, True
            return code
        finally:  # on a full disk, too, it is said what to do next
            if code == INTERRUPTED:
                _ignore_ctrl_c()
            as_far_as_read(sys.stderr, lambda: troubles(interrupted))


def _ignore_ctrl_c() -> None:
    """Users press it again and again; only the last lines of a stopped command are left to print."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
