"""Stop immediately: release resources without waiting, and leave busy threads behind."""

import os
import sys
from collections.abc import Callable
from threading import Thread
from typing import NoReturn, TypeVar

T = TypeVar("T")

_left_behind: list[Thread] = []


def being_cancelled() -> bool:
    """Whether the current task is being cancelled."""
    import asyncio  # here, because every command imports this module, and `--help` should not wait for it

    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def leave_behind(thread: Thread) -> None:
    """Exclude a thread from those that Python waits for on exit, as it may be busy until then."""
    _left_behind.append(thread)


async def in_thread(make: Callable[[], T]) -> T:
    """Call `make` in a thread; if the task is cancelled, e.g. by Ctrl-C, do not wait for the thread."""
    import asyncio
    from concurrent.futures import Future

    made: Future[T] = Future()

    def work() -> None:
        if not made.set_running_or_notify_cancel():
            return
        try:
            made.set_result(make())
        except BaseException as error:  # noqa: BLE001 - re-raised where it is awaited
            made.set_exception(error)

    thread = Thread(target=work, name="in_thread", daemon=True)
    thread.start()
    try:
        return await asyncio.wrap_future(made)
    except asyncio.CancelledError:
        leave_behind(thread)
        raise


def leave(code: int) -> NoReturn:
    """Exit without tearing down the interpreter: a library that is busy in a thread would crash."""
    if any(thread.is_alive() for thread in _left_behind):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
