"""A provider that fails in the middle of a run: nothing that it did becomes an action."""

import asyncio
from pathlib import Path

import pytest

import balrog_rag
from balrog_rag.episode.journal import Completion, Step, read
from balrog_rag.models.serving.testserver import TestServer

GAME = ("env=corridor", "env.actions=plan", "agent=naive", "env.episodes=1", "limits.steps=6", "run.seed=3")
REFUSED = 4
"""The request that is refused."""


def words(url: str, folder: Path) -> tuple[str, ...]:
    model = ("model=vllm", f"model.base_url={url}", "model.retry.attempts=2", "model.retry.first_wait=0.01")
    return (*GAME, *model, f"run.folder={folder}", "run.name=r", "runner.log=none", "runner.workers=1")


async def played(folder: Path, script: tuple[str, ...], resume: bool = False) -> None:
    async with TestServer(script=script, answer=lambda messages: "rest 2") as server:
        again = (f"resume={folder}/r", f"model.base_url={server.url}")
        await balrog_rag.aevaluate(*(again if resume else words(server.url, folder)))


def journal(folder: Path) -> Path:
    return next(folder.rglob("*.journal.jsonl"))


def steps(folder: Path) -> list[Step]:
    return [entry for entry in read(journal(folder)).entries if isinstance(entry, Step)]


@pytest.mark.parametrize("fault", ["402", "403"])
def test_a_refusal_in_mid_run_is_no_action_and_no_score(fault: str, tmp_path: Path) -> None:
    answered = ("",) * (REFUSED - 1)
    with pytest.warns(UserWarning, match=f"HTTP {fault}"):
        asyncio.run(played(tmp_path, (*answered, *(fault,) * 20)))
    assert len(steps(tmp_path)) == REFUSED - 1
    assert {step.action for step in steps(tmp_path)} == {"rest 2"}
    assert not list(tmp_path.rglob("*_run_00.json"))  # a game that nobody finished has no score
    asyncio.run(played(tmp_path, (), resume=True))
    assert len(steps(tmp_path)) == 6
    completions = [entry for entry in read(journal(tmp_path)).entries if isinstance(entry, Completion)]
    assert len(completions) == 6  # nothing that had been answered was paid for again


def test_a_call_that_was_cut_short_is_no_action(tmp_path: Path) -> None:
    """Half of `rest 24` is `rest`, a call with another meaning."""

    async def run() -> None:
        async with TestServer(script=("length",), answer=lambda messages: "rest 240 ") as server:
            await balrog_rag.aevaluate(*words(server.url, tmp_path))

    asyncio.run(run())
    first, second, *_ = steps(tmp_path)
    assert (first.action, first.taken) == ("", "nothing")
    assert second.action == "rest 240"
