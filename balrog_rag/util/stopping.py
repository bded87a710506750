"""Stopping at once: what is given back without waiting, and the threads that stay behind."""

import asyncio
import os
import sys
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import NoReturn, TypeVar

T = TypeVar("T")

_left_behind: list[Thread] = []


def being_cancelled() -> bool:
    """Whether the task that asks has been told to end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def leave_behind(thread: Thread) -> None:
    """Not wait for a thread, although it may be busy until the process ends."""
    _left_behind.append(thread)


async def in_thread(make: Callable[[], T]) -> T:
    """Have it made in a thread; a task that is cancelled meanwhile, e.g. by Ctrl-C, does not wait for it."""
    made: Future[T] = Future()

    def work() -> None:
        if not made.set_running_or_notify_cancel():
            return
        try:
            made.set_result(make())
        except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
            made.set_exception(error)

    thread = Thread(target=work, name="in_thread", daemon=True)
    thread.start()
    try:
        return await asyncio.wrap_future(made)
    except asyncio.CancelledError:
        leave_behind(thread)
        raise


def leave(code: int) -> NoReturn:
    """End the process; a library at work in a thread crashes where the interpreter is taken down round it."""
    if any(thread.is_alive() for thread in _left_behind):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
