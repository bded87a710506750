"""The slow work of a server, in threads of low priority: a run that is being played comes first.

The thread that answers pages keeps its priority, or a page would wait for its turn beside a run at each seek.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

YIELDING = 10
"""Niceness of slow work."""
BY_THREAD = sys.platform == "linux"
"""Whether a thread has a niceness of its own; elsewhere it is the process's."""


def yield_process() -> None:
    """Lower the priority of the process where its threads cannot have their own."""
    if not BY_THREAD:
        os.nice(YIELDING)


def yield_thread() -> None:
    """Lower the priority of the calling thread, once."""
    if BY_THREAD:
        os.nice(YIELDING)


_slow = ThreadPoolExecutor(thread_name_prefix="viewer", initializer=yield_thread)


async def in_slow_thread(work: Callable[[], T]) -> T:
    """Return the result of slow work."""
    return await asyncio.get_running_loop().run_in_executor(_slow, work)
