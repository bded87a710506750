"""Sweeps: `-m key=a,b` plays one run for each combination, in one process, with shared services."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from balrog_rag.cli.command_line import note
from balrog_rag.cli.launch import check_launcher, launch
from balrog_rag.cli.session import played
from balrog_rag.cli.stopped import print_sweep_troubles
from balrog_rag.cli.sweep_results import print_and_write
from balrog_rag.cluster.choice import backend_of
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.display.display import display
from balrog_rag.run.attempt import attempt
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.run import RunOutcome, not_played
from balrog_rag.run.sweep_plan import arm_notes, new_sweep, resumed_sweep
from balrog_rag.run.sweep_play import play_sweep


def sweep(folder: Path | None, words: list[str], trust: bool = False) -> int:
    """Play a new sweep, or resume one; returns the exit code. `trust` accepts what somebody else made."""
    hydra = [word for word in words if word.startswith("hydra")]
    own = [word for word in words if word not in hydra]
    if hydra and not any(word.startswith("hydra/launcher=") for word in hydra):
        raise ConfigError(f"{hydra[0]}: needs hydra/launcher=...; see docs/how-to/run-on-a-cluster.md")
    if hydra and "limits.until=verdict" in own:
        raise ConfigError("limits.until=verdict: needs one process for all runs; leave hydra/launcher out")
    if hydra:
        check_launcher(hydra)
    if folder is None:
        print_arm_notes(own)
    runs = new_sweep(own) if folder is None else resumed_sweep(folder, own, trust)
    return launch(runs, hydra) if hydra else play_all(runs)


def print_arm_notes(words: list[str]) -> None:
    """Print in what way all runs differ from every arm of the experiment."""
    for sentence in arm_notes(words):
        note(sentence)


def play_all(runs: list[PlannedRun]) -> int:
    """Play the runs in this process and print their results; returns the exit code."""
    with ExitStack() as locks:
        for run in runs:
            locks.enter_context(attempt(run))
        return played(SeveralRuns(runs))


class SeveralRuns:
    """The session of a sweep."""

    def __init__(self, runs: Sequence[PlannedRun]) -> None:
        self._runs = runs
        self._outcomes: dict[str, RunOutcome] = {}

    async def play(self) -> None:
        """Play group after group; the outcomes of those that ended are kept on every way out."""
        await play_sweep(self._runs, self._outcomes, display, backend_of)

    def write_results(self) -> int:
        """Write every run's results and the sweep's table, and print it."""
        return print_and_write(self._runs, self._reached())

    def print_troubles(self, interrupted: bool) -> None:
        """Print them if there is anything to resume or to report."""
        if interrupted or self._outcomes:
            print_sweep_troubles(self._runs, self._reached(), interrupted)

    def _reached(self) -> list[RunOutcome]:
        return [self._outcomes.get(run.label) or not_played(run) for run in self._runs]
