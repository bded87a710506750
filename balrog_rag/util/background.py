"""Work in the background of other work, in the same event loop."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None], *ignored: type[Exception]) -> AsyncIterator[None]:
    """Run a coroutine while the body runs, then cancel it; its errors of types `ignored` are dropped."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, *ignored):
            await task
