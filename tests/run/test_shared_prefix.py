"""Forked episodes with a common beginning replay it once; each then plays as if it had the game alone."""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from balrog_rag.banks import stored_bank
from balrog_rag.banks.bank_arms import arms_of, planned_arms
from balrog_rag.banks.expression import Expression
from balrog_rag.banks.state_search import made
from balrog_rag.contracts.errors import WorkerLost
from balrog_rag.episode import journal
from balrog_rag.models.budget import RunBudget
from balrog_rag.results.run_folder import journal_path, journals
from balrog_rag.run.backend import LocalBackend
from balrog_rag.run.episode_runner import EpisodePlayer
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.replay import verify
from balrog_rag.run.services import LiveServices
from balrog_rag.run.watchers import NullWatcher
from balrog_rag.workers.pool import WorkerPool
from tests.conftest import Specs

ARMS = ("delver", "random", "delver2")


@pytest.fixture
def bank(specs: Specs, player: Callable[..., EpisodePlayer], tmp_path: Path) -> stored_bank.StoredBank:
    """Two states of one game of a program, the second one at another level."""
    (spec,) = specs("agent=delver", "env=nethack", "run.seed=4", steps=700)
    asyncio.run(player()(spec))
    folder = tmp_path / "banks" / "b"
    found, _ = made([journal_path(tmp_path / "run", spec.episode)], Expression("turn > 20"), 400, folder)
    stored_bank.write(folder, found)
    return stored_bank.read_folder(folder)


def arms(bank: stored_bank.StoredBank, agents: Sequence[str], *words: str, steps: int) -> list[PlannedRun]:
    described = [f"{name}=agent={name.rstrip('2')}" for name in agents]
    return planned_arms(bank, arms_of("", described, ["model=scripted", "runner.workers=1", *words]), steps)


async def played(runs: Sequence[PlannedRun]) -> LocalBackend:
    """Play all episodes of the runs at once."""
    services = LiveServices()
    backend = LocalBackend(runs[0].config.runner, services)
    async with aclosing(_Closing(backend)), asyncio.timeout(600):
        await backend.start(runs)
        players = [
            (backend.player(run, RunBudget(run.config.limits), NullWatcher(), lambda: False), spec)
            for run in runs
            for spec in run.specs
        ]
        await asyncio.gather(*(play(spec) for play, spec in players))
        return backend


class _Closing:
    def __init__(self, backend: LocalBackend) -> None:
        self._backend = backend

    async def aclose(self) -> None:
        await self._backend.close()


def test_a_beginning_is_replayed_once_for_all_arms(bank: stored_bank.StoredBank) -> None:
    runs = arms(bank, ARMS, steps=120)
    backend = asyncio.run(played(runs))
    states = len(bank.bank.states)
    assert states >= 2
    assert (backend.shared.replayed, backend.shared.copied) == (states, states * (len(ARMS) - 1))
    levels = set()
    for run in runs:
        for path in journals(run.folder):
            # A replay has the game alone: every screen, message and number is compared.
            assert asyncio.run(verify(path)).complete
            levels |= {step.numbers.get("depth", 1) for step in journal.read(path).steps}
    assert len(levels) > 2
    # Twins play equal games: neither finds the levels that the other has left.
    twins = [[journal.read(path).steps for path in journals(run.folder)] for run in (runs[0], runs[2])]
    assert twins[0] == twins[1]


@pytest.mark.slow
def test_agents_with_a_model_share_a_beginning_of_steps(
    specs: Specs, player: Callable[..., EpisodePlayer], tmp_path: Path
) -> None:
    (spec,) = specs("agent=naive", "env=corridor", steps=100)
    asyncio.run(player()(spec))
    folder = tmp_path / "banks" / "b"
    found, _ = made([journal_path(tmp_path / "run", spec.episode)], Expression("step == 70"), 0, folder)
    stored_bank.write(folder, found)
    runs = arms(stored_bank.read_folder(folder), ("naive", "cot", "robust_naive"), steps=10)
    backend = asyncio.run(played(runs))
    assert (backend.shared.replayed, backend.shared.copied) == (1, 2)
    for run in runs:
        assert asyncio.run(verify(journals(run.folder)[0])).complete


def test_a_copy_dies_with_its_worker_and_its_death_ends_the_worker(specs: Specs) -> None:
    (spec,) = specs("agent=random", "env=nethack")

    async def killed() -> None:
        pool = WorkerPool(1)
        game = await pool.open(spec.game)
        copy = await game.copy()
        assert copy is not None
        children = Path(f"/proc/{pool.workers[0].pid}/task/{pool.workers[0].pid}/children").read_text()
        os.kill(int(children.split()[0]), signal.SIGKILL)
        with pytest.raises(WorkerLost):
            await copy.play(["wait"])
        await pool.close()

    asyncio.run(killed())
