"""Work in the background ends with the body, and its errors are raised unless they are named."""

import asyncio

import pytest

from balrog_rag.util.background import in_background


def test_it_runs_while_the_body_runs() -> None:
    done: list[str] = []

    async def work() -> None:
        try:
            while True:
                done.append("work")
                await asyncio.sleep(0)
        finally:
            done.append("ended")

    async def main() -> None:
        async with in_background(work()):
            await asyncio.sleep(0.01)
            done.append("body")

    asyncio.run(main())
    assert done[0] == "work"
    assert done.index("body") < done.index("ended") == len(done) - 1


async def failing() -> None:
    raise OSError("full")


async def beside_failing(*ignored: type[Exception]) -> str:
    async with in_background(failing(), *ignored):
        await asyncio.sleep(0.01)
    return "done"


def test_its_error_is_raised_unless_it_is_ignored() -> None:
    assert asyncio.run(beside_failing(OSError)) == "done"
    with pytest.raises(OSError, match="full"):
        asyncio.run(beside_failing(ValueError))
