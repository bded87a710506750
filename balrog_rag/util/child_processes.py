"""Processes that compute for this one."""

import gc
import multiprocessing.context
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from balrog_rag.util.garbage_collection import MIDDLE, OLD, YOUNG


def available_cores() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Process(multiprocessing.context.SpawnProcess):
    """A new process that does not import the main module of this one."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        # It would run a script without `if __name__ == "__main__"` again, up to the call that started it.
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            return multiprocessing.context.SpawnProcess._Popen(process_obj)
        finally:
            sys.modules["__main__"] = main


class _Context(multiprocessing.context.SpawnContext):
    Process = _Process


@contextmanager
def child_processes(most: int) -> Iterator[ProcessPoolExecutor]:
    """Start processes for functions of this package, at most one a core.

    They do not know what the main module defines.
    """
    with ProcessPoolExecutor(
        min(most, available_cores()), mp_context=_Context(), initializer=_prepare
    ) as pool:
        yield pool


def _prepare() -> None:
    gc.set_threshold(YOUNG, MIDDLE, OLD)
