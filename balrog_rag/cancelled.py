"""Stopping at once: who gives something back asks here whether there is time to wait for it."""

import asyncio


def being_cancelled() -> bool:
    """Whether the task that asks has been told to end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
