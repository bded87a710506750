"""Sweeps: `-m key=a,b` plays one run for each combination, in one process, with shared services.

SWEEP/sweep.json      the words of the sweep, and the names of its runs in order
SWEEP/<run>/          a run folder like any other
SWEEP/sweep.{csv,md}  the results of all runs as one table
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from balrog_rag.cli.command_line import as_far_as_read
from balrog_rag.cli.grid import Combination, combinations, of_values
from balrog_rag.cli.playing import played
from balrog_rag.cli.stopped import print_sweep_troubles
from balrog_rag.cluster.choice import backend_of
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import plain
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.display.display import display
from balrog_rag.results import run_folder
from balrog_rag.results.experiments import Experiment
from balrog_rag.results.run_seal import made_here, mark_new
from balrog_rag.run.arms_of_words import experiment_of, meant, named
from balrog_rag.run.backend import PlannedRun
from balrog_rag.run.begin import SWEEP, attempt, check_new, folder_for, planned, resumed_config
from balrog_rag.run.run import RunOutcome, not_played, play_runs
from balrog_rag.run.scheduler import Tally
from balrog_rag.run.services import LiveServices, resolved
from balrog_rag.run.trust import refuse_stranger
from balrog_rag.util.files import read_file
from balrog_rag.util.secrets import redact
from balrog_rag.util.terminal_safe import one_line

if TYPE_CHECKING:
    from balrog_rag.cli.sweep_table import SweepRow


class PlannedSweep(msgspec.Struct, frozen=True):
    """sweep.json."""

    words: list[str]
    runs: list[Combination]


def sweep(words: list[str], trust: bool = False) -> int:
    """Play a new sweep, or go on with one; returns the exit code. `trust`: though somebody else made it."""
    resumed = [word.partition("=")[2].strip("'\"") for word in words if word.startswith("resume=")]
    hydra = [word for word in words if word.startswith("hydra")]
    own = [word for word in words if word not in hydra and not word.startswith("resume=")]
    if hydra and not any(word.startswith("hydra/launcher=") for word in hydra):
        raise ConfigError(f"{hydra[0]}: needs hydra/launcher=...; see docs/how-to/run-on-a-cluster.md")
    if hydra:
        from balrog_rag.cli.launch import check_launcher

        check_launcher(hydra)
    runs = reopened(Path(resumed[-1]), own, trust) if resumed else begun(own)
    if hydra:
        from balrog_rag.cli.launch import launch

        return launch(runs, hydra)
    return play_all(runs)


def checked(words: list[str]) -> tuple[list[Combination], list[PlannedRun]]:
    """The runs of a new sweep, every one composed and checked, and nothing written."""
    chosen = combinations(words)
    tell_arms(words)
    if swept := [word for word in ("run.name", "run.folder") if _swept(chosen, word)]:
        raise ConfigError(
            f"{swept[0]}: names the sweep, and so cannot be swept over; each run has its own name"
        )
    top = folder_for(compose(chosen[0].words).run, "sweep")
    runs = []
    for combination in chosen:
        config = of_sweep(top, combination)
        runs.append(PlannedRun(top / combination.name, config, planned(config), combination.name))
    return chosen, runs


def begun(words: list[str]) -> list[PlannedRun]:
    """The runs of a new sweep, their folders made once all of them are known to be possible."""
    chosen, runs = checked(words)
    while not _made(top := runs[0].folder.parent, PlannedSweep(words, chosen)):
        if compose(chosen[0].words).run.name:
            raise run_folder.taken(top)
        chosen, runs = checked(words)  # another sweep was begun in the same second
    mark_new(top, SWEEP)
    for run in runs:
        run_folder.create(run.folder, plain(run.config))
        mark_new(run.folder, "config.json")
    return runs


def _made(top: Path, sweep: PlannedSweep) -> bool:
    """Make its folder, with its record first, so that half a sweep can be gone on with.

    False where something is there, be it since a moment ago.
    """
    empty = not top.exists() or not any(top.iterdir())
    return empty and run_folder.write_new_json(top / SWEEP, sweep)


def tell_arms(words: list[str]) -> None:
    """Say what is played otherwise than every arm of the experiment with all the words."""
    told: list[str] = []
    for run in of_values(words):
        experiment = experiment_of(run.words)
        if experiment and experiment.arms:
            arms, said = meant(experiment, run.words)
            told += said
            told += left_out(experiment) if len(arms) == len(experiment.playable) else ()
    for sentence in dict.fromkeys(told):
        print(f"note: {one_line(redact(sentence))}", file=sys.stderr)


def left_out(experiment: Experiment) -> Iterator[str]:
    """Which arms are not played, for want of an extra."""
    for arm in experiment.arms:
        if experiment.lacks(arm.name):
            need = f"pip install 'balrog_rag[{arm.name}]'"
            yield f"{arm.name} is left out, since it needs an extra: {need}"


def _swept(chosen: Sequence[Combination], key: str) -> bool:
    return len({word for one in chosen for word in one.words if word.startswith(f"{key}=")}) > 1


def reopened(top: Path, words: list[str], trust: bool = False) -> list[PlannedRun]:
    """The runs of an earlier sweep, with the changes that a resume allows."""
    try:
        record = msgspec.json.decode(read_file(top / SWEEP), type=PlannedSweep)
    except OSError as error:
        raise RunFolderError(f"{top}: no sweep here ({SWEEP}: {error.strerror})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{top / SWEEP}: cannot be read ({error})") from error
    runs = []
    for combination in record.runs:
        run = top / combination.name
        if not run_folder.is_part(combination.name) or run.is_symlink():
            raise RunFolderError(f"{top / SWEEP}: {combination.name!r} is no folder of this sweep")
        if not (run / "config.json").exists():  # the sweep was cut before it had made them all
            make_missing(top, combination, words, trust)
        config = resumed_config(run, words)
        refuse_stranger(run, config, words, trust)
        runs.append(PlannedRun(run, config, planned(config), combination.name))
    return runs


def make_missing(top: Path, combination: Combination, words: list[str], trust: bool) -> None:
    """Make a run's folder by the words in the sweep's own file; a stranger's are not even composed."""
    if not made_here(top) and not trust:
        said = one_line(redact(" ".join(combination.words)))
        raise RunFolderError(
            f"{top}: was not made by you on this machine, or was changed since; it would begin "
            f"{combination.name} with: {said}; add --trust once to go on with that"
        )
    config = of_sweep(top, combination)
    refuse_stranger(top, config, words, trust)
    run_folder.create(top / combination.name, plain(config))
    mark_new(top / combination.name, "config.json")


def of_sweep(top: Path, combination: Combination) -> Config:
    """The configuration of one run of a sweep."""
    config = named(compose(combination.words), combination.words, combination.arm)
    config.run.folder, config.run.name = str(top), combination.name
    check_new(config)
    return resolved(config)


def play_all(runs: list[PlannedRun]) -> int:
    """Play the runs in this process, tell what came of them; returns the exit code."""
    with ExitStack() as locks:
        for run in runs:
            locks.enter_context(attempt(run))
        outcomes: dict[str, RunOutcome] = {}

        def reached() -> list[RunOutcome]:
            return [outcomes.get(run.label) or not_played(run) for run in runs]

        def troubles(interrupted: bool) -> None:
            if interrupted or outcomes:
                print_sweep_troubles(runs, reached(), interrupted)

        return played(
            lambda: _play_groups(alike(runs), outcomes), lambda: print_and_write(runs, reached()), troubles
        )


def alike(runs: Sequence[PlannedRun]) -> list[list[PlannedRun]]:
    """The runs that can share workers and a gate: those of equal runner settings."""
    groups: dict[bytes, list[PlannedRun]] = {}
    for run in runs:
        groups.setdefault(msgspec.json.encode(plain(run.config.runner)), []).append(run)
    return list(groups.values())


async def _play_groups(groups: Sequence[list[PlannedRun]], outcomes: dict[str, RunOutcome]) -> None:
    """One group after the other, all with the same models and indexes; a stop leaves the rest open."""
    services = LiveServices()
    stopped: RunOutcome | None = None
    try:
        for group in groups:
            if stopped is None:
                ended = await play_runs(group, services, display, backend_of)
            else:
                ended = [not_played(run, stopped.signal, stopped.stopped_by) for run in group]
            outcomes |= {run.label: outcome for run, outcome in zip(group, ended, strict=True)}
            stopped = ended[0] if ended[0].signal is not None else None
    finally:
        await services.close()


def print_and_write(runs: Sequence[PlannedRun], outcomes: Sequence[RunOutcome]) -> int:
    """Write every run's results and the sweep's table; print the table; the exit code."""
    from balrog_rag.cli.sweep_table import rows, write_tables

    top = runs[0].folder.parent
    code = max(outcome.exit_code for outcome in outcomes)
    table = rows([(run.label, run.folder, len(run.specs)) for run in runs])
    write_tables(top, table)
    as_far_as_read(sys.stdout, lambda: _print_results(top, table, code, runs[0].config.runner.log))
    return code


def _print_results(top: Path, table: "Sequence[SweepRow]", code: int, log: str) -> None:
    from balrog_rag.cli.sweep_table import print_table

    if log == "json":
        facts = {"event": "finished", "folder": str(top), "exit_code": code, "runs": table}
        print(msgspec.json.encode(facts).decode())
        return
    print_table(top.name, table)
    print(f"sweep folder: {top}")


def outcomes_on_disk(runs: Sequence[PlannedRun]) -> list[RunOutcome]:
    """What became of runs that other processes have played: an episode whose journal has no end is open."""
    from balrog_rag.results.runs import load

    found = []
    for run in runs:
        ended = {episode.name for episode in load(run.folder).episodes}
        found.append(
            RunOutcome(
                Tally(open=[spec.episode for spec in run.specs if spec.episode not in ended]), spent=None
            )
        )
    return found
