"""Sweeps: `-m key=a,b` plays one run per combination, in one process, with shared services.

SWEEP/sweep.json      the words of the sweep, and the names of its runs in order
SWEEP/<run>/          a run folder like any other
SWEEP/sweep.{csv,md}  the results of all runs as one table
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from balrog_rag.cli.grid import Combination, combinations, of_values
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import plain
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.results import run_folder
from balrog_rag.results.experiments import Experiment
from balrog_rag.results.run_seal import is_local_run, mark_new
from balrog_rag.run.arms_of_words import experiment_of, meant, named
from balrog_rag.run.backend import PlannedRun
from balrog_rag.run.begin import SWEEP, continued, planned, ready
from balrog_rag.run.new_folder import folder_for
from balrog_rag.run.trust import refuse_stranger
from balrog_rag.util.files import read_file
from balrog_rag.util.secrets import redact
from balrog_rag.util.terminal_safe import one_line


class PlannedSweep(msgspec.Struct, frozen=True):
    """sweep.json."""

    words: list[str]
    runs: list[Combination]


Prepare = Callable[[Config], Config]
"""Checks a configuration, and adds the content of the files that it names."""


def checked(words: list[str], prepare: Prepare = ready) -> tuple[list[Combination], list[PlannedRun]]:
    """Compose and check every run of a new sweep, without writing anything into its folder."""
    chosen = combinations(words)
    tell_arms(words)
    if swept := [word for word in ("run.name", "run.folder") if _swept(chosen, word)]:
        raise ConfigError(
            f"{swept[0]}: cannot be swept over, since it names the sweep; runs are named automatically"
        )
    top = folder_for(compose(chosen[0].words).run, "sweep")
    runs = []
    for combination in chosen:
        config = of_sweep(top, combination, prepare)
        runs.append(_marked(planned(top / combination.name, config, combination.name), combination))
    return chosen, runs


def _marked(run: PlannedRun, combination: Combination) -> PlannedRun:
    """Mark a run as optional if its experiment says so of its arm."""
    experiment = experiment_of(combination.words)
    run.optional = experiment is not None and combination.arm in experiment.optional
    return run


def begun(words: list[str]) -> list[PlannedRun]:
    """Plan a new sweep and create its folders, after checking that all runs are possible."""
    chosen, runs = checked(words)
    while not _made(top := runs[0].folder.parent, PlannedSweep(words, chosen)):
        if compose(chosen[0].words).run.name:
            raise run_folder.taken(top)
        chosen, runs = checked(words)  # another sweep was started in the same second
    mark_new(top, SWEEP)
    for run in runs:
        run_folder.create(run.folder, plain(run.config))
        mark_new(run.folder, "config.json")
    return runs


def _made(top: Path, sweep: PlannedSweep) -> bool:
    """Create its folder, starting with its record, so that an incomplete sweep can be resumed.

    False where something is there, be it since a moment ago.
    """
    empty = not top.exists() or not any(top.iterdir())
    return empty and run_folder.write_new_json(top / SWEEP, sweep)


def tell_arms(words: list[str]) -> None:
    """Print in what way all runs differ from every arm of the experiment."""
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
    """Messages about arms that are not played because an extra is not installed."""
    for arm in experiment.arms:
        if experiment.lacks(arm.name):
            need = f"pip install 'balrog_rag[{arm.name}]'"
            yield f"{arm.name} skipped: its extra is not installed; {need}"


def _swept(chosen: Sequence[Combination], key: str) -> bool:
    return len({word for one in chosen for word in one.words if word.startswith(f"{key}=")}) > 1


def reopened(top: Path, words: list[str], trust: bool = False) -> list[PlannedRun]:
    """The runs of an earlier sweep, with the changes that a resume allows."""
    try:
        record = msgspec.json.decode(read_file(top / SWEEP), type=PlannedSweep)
    except OSError as error:
        raise RunFolderError(f"{top}: not a sweep ({SWEEP}: {error.strerror})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{top / SWEEP}: cannot be read ({error})") from error
    runs = []
    for combination in record.runs:
        run = top / combination.name
        if not run_folder.is_part(combination.name) or run.is_symlink():
            raise RunFolderError(f"{top / SWEEP}: {combination.name!r} is not a folder of this sweep")
        if not (run / "config.json").exists():  # the sweep was interrupted before it had created all folders
            make_missing(top, combination, words, trust)
        runs.append(_marked(continued(run, words, trust, combination.name), combination))
    return runs


def make_missing(top: Path, combination: Combination, words: list[str], trust: bool) -> None:
    """Create a run's folder from the overrides in sweep.json; untrusted ones are not even composed."""
    if not is_local_run(top) and not trust:
        said = one_line(redact(" ".join(combination.words)))
        raise RunFolderError(
            f"{top}: was not made by you on this machine, or was changed since; it would start "
            f"{combination.name} with: {said}; add --trust once to allow that"
        )
    config = of_sweep(top, combination)
    refuse_stranger(top, config, words, trust)
    run_folder.create(top / combination.name, plain(config))
    mark_new(top / combination.name, "config.json")


def of_sweep(top: Path, combination: Combination, prepare: Prepare = ready) -> Config:
    """The configuration of one run of a sweep."""
    config = named(compose(combination.words), combination.words, combination.arm)
    config.run.folder, config.run.name = str(top), combination.name
    return prepare(config)
