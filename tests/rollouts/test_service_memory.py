"""What rollouts leave behind in the memory of a service is bounded."""

import asyncio
import gc
import tracemalloc
from pathlib import Path

import pytest

from balrog_rag.models.serving.testserver import TestServer
from balrog_rag.rollouts import rollout_service
from balrog_rag.rollouts.rollout_request import read_request
from balrog_rag.rollouts.rollout_service import RolloutService
from tests.rollouts.support import body

KEPT, GROUP = 16, 16
LEFT_BY_ONE = 400
"""Bytes; the result of one that is kept takes about 2,000."""


async def play(service: RolloutService, model: TestServer, seeds: range) -> None:
    """Play rollouts, and forget what the model server recorded of them."""
    for first in seeds[::GROUP]:
        jobs = [
            service.start(read_request(body(model.url, seed=seed, max_steps=1)))
            for seed in range(first, first + GROUP)
        ]
        assert [(await job.done()).error for job in jobs] == [None] * GROUP
    model.calls.clear()


def in_use() -> int:
    """Bytes that Python objects use."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.slow
def test_older_rollouts_leave_nothing_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollout_service, "MOST_FINISHED", KEPT)

    async def growth() -> int:
        async with TestServer() as model:
            service = RolloutService(tmp_path, workers=0)
            await play(service, model, range(8 * GROUP))  # whatever is loaded and cached once
            before = in_use()
            await play(service, model, range(1000, 1000 + 16 * GROUP))
            grown = in_use() - before
            await service.close()
            return grown

    tracemalloc.start()
    try:
        assert asyncio.run(growth()) < 16 * GROUP * LEFT_BY_ONE
    finally:
        tracemalloc.stop()
