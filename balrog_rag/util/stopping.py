"""Stopping at once: what is given back without waiting, and the threads that stay behind."""

import asyncio
import os
import sys
from threading import Thread
from typing import NoReturn

_left_behind: list[Thread] = []


def being_cancelled() -> bool:
    """Whether the task that asks has been told to end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def leave_behind(thread: Thread) -> None:
    """Not wait for a thread, although it may be busy until the process ends."""
    _left_behind.append(thread)


def leave(code: int) -> NoReturn:
    """End the process; a library at work in a thread crashes where the interpreter is taken down round it."""
    if any(thread.is_alive() for thread in _left_behind):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
