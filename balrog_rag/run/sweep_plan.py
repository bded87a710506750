"""Sweeps: `-m key=a,b` plays one run per combination, in one process, with shared services.

SWEEP/sweep.json      the words of the sweep, and the names of its runs in order
SWEEP/<run>/          a run folder like any other
SWEEP/sweep.{csv,md}  the results of all runs as one table
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import plain
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.results import run_folder
from balrog_rag.results.experiments import Experiment
from balrog_rag.results.run_folder import CONFIG, SWEEP
from balrog_rag.results.run_seal import MARK, is_sealed_here, mark_new
from balrog_rag.results.stored_run import StoredRun, read_run, read_sealed
from balrog_rag.results.sweeps import LONGEST_TITLE
from balrog_rag.run.arms_of_words import experiment_of, meant
from balrog_rag.run.begin import composed, planned, ready, refuse_outside_player, resumed_run
from balrog_rag.run.grid import Combination, combinations, of_values
from balrog_rag.run.new_folder import create_run, folder_for
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.services import resolved
from balrog_rag.run.trust import refuse_untrusted_folder
from balrog_rag.run.verdict_design import check_design
from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.secrets import redact
from balrog_rag.util.terminal_safe import one_line


class PlannedSweep(msgspec.Struct, frozen=True):
    """sweep.json."""

    words: list[str]
    runs: list[Combination]
    title: str = ""
    """Title of the experiment; empty without one."""
    baseline: str = ""
    """Name of the run with which the experiment compares the others."""


def new_sweep(words: list[str]) -> list[PlannedRun]:
    """Plan a new sweep and create its folders, after checking that all runs are possible."""
    chosen, runs = checked_sweep(words)
    while not _made(top := runs[0].folder.parent, _record(words, chosen)):
        if compose(chosen[0].words).run.name:
            raise run_folder.taken(top)
        # The default name has the time in seconds: a sweep that began in the same second took it.
        chosen, runs = checked_sweep(words)
    mark_new(top, SWEEP)
    for run in runs:
        create_run(run.folder, run.config)
    return runs


def sweep_of(chosen: Sequence[Combination], what: str) -> list[PlannedRun]:
    """Plan these runs and create their folders; `what` names the sweep's folder."""
    top = folder_for(compose(chosen[0].words).run, what)
    runs = [planned(top / each.name, of_sweep(top, each), label=each.name) for each in chosen]
    if not _made(top, PlannedSweep([], list(chosen))):
        raise run_folder.taken(top)
    mark_new(top, SWEEP)
    for run in runs:
        create_run(run.folder, run.config)
    return runs


Prepare = Callable[[Config], Config]
"""Checks a configuration."""


def checked_sweep(words: list[str], prepare: Prepare = ready) -> tuple[list[Combination], list[PlannedRun]]:
    """Compose and check every run of a new sweep, without writing anything into its folder."""
    chosen = combinations(words)
    if swept := [word for word in ("run.name", "run.folder") if _swept(chosen, word)]:
        raise ConfigError(
            f"{swept[0]}: cannot be swept over, since it names the sweep; runs are named automatically"
        )
    top = folder_for(compose(chosen[0].words).run, "sweep")
    runs = []
    for each in chosen:
        config = of_sweep(top, each, prepare)
        runs.append(_marked(planned(top / each.name, config, label=each.name), each))
    check_design(runs)
    return chosen, runs


def _record(words: list[str], chosen: list[Combination]) -> PlannedSweep:
    """The sweep with what its results need of the experiment, whose description may not be found later."""
    experiment = experiment_of(words)
    if experiment is None:
        return PlannedSweep(words, chosen)
    return PlannedSweep(words, chosen, experiment.title[:LONGEST_TITLE], experiment.baseline)


def _marked(run: PlannedRun, combination: Combination) -> PlannedRun:
    return msgspec.structs.replace(run, optional=combination.optional)


def _made(top: Path, sweep: PlannedSweep) -> bool:
    """Create its folder, starting with its record, so that an incomplete sweep can be resumed.

    False where something is there, be it since a moment ago.
    """
    empty = not top.exists() or not any(top.iterdir())
    return empty and run_folder.write_new_json(top / SWEEP, sweep)


def _swept(chosen: Sequence[Combination], key: str) -> bool:
    return len({word for one in chosen for word in one.words if word.startswith(f"{key}=")}) > 1


def of_sweep(top: Path, combination: Combination, prepare: Prepare = ready) -> Config:
    """The configuration of one run of a sweep."""
    config = composed(combination.words, combination.arm)
    refuse_outside_player(config)
    config.run.folder, config.run.name = str(top), combination.name
    return prepare(config)


def resumed_sweep(top: Path, words: list[str], trust: bool = False) -> list[PlannedRun]:
    """The runs of an earlier sweep, with the changes that a resume allows."""
    files = read_sealed(top, SWEEP)
    try:
        recorded = decoded_json(files[SWEEP], PlannedSweep)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{top / SWEEP}: cannot be read ({error})") from error
    own = is_sealed_here(top, files, files.get(MARK, b""))
    runs = []
    for combination in recorded.runs:
        folder = top / combination.name
        if not run_folder.is_part(combination.name) or folder.is_symlink():
            raise RunFolderError(f"{top / SWEEP}: {combination.name!r} is not a folder of this sweep")
        if (folder / CONFIG).exists():
            stored = read_run(folder)
        else:  # the sweep was interrupted before it had created all folders
            stored = create_missing(top, own, combination, words, trust)
        runs.append(_marked(resumed_run(stored, words, trust, combination.name), combination))
    return runs


def create_missing(
    top: Path, own: bool, combination: Combination, words: list[str], trust: bool
) -> StoredRun:
    """Create a run's folder from the overrides in sweep.json; untrusted ones are not even composed."""
    if not own and not trust:
        said = one_line(redact(" ".join(combination.words)))
        raise RunFolderError(
            f"{top}: was not made by you on this machine, or was changed since; it would start "
            f"{combination.name} with: {said}; add --trust once to allow that"
        )
    config = of_sweep(top, combination)
    refuse_untrusted_folder(StoredRun(top, plain(config), own=own), config, words, trust)
    return create_run(top / combination.name, resolved(config))


def arm_notes(words: list[str]) -> list[str]:
    """Sentences on how all runs differ from every arm of the experiment."""
    notes: list[str] = []
    for run in of_values(words):
        experiment = experiment_of(run.words)
        if experiment and experiment.arms:
            arms, said = meant(experiment, run.words)
            notes += said
            notes += left_out(experiment) if len(arms) == len(experiment.playable) else ()
    return list(dict.fromkeys(notes))


def left_out(experiment: Experiment) -> Iterator[str]:
    """Messages about arms that are not played because an extra is not installed."""
    for arm in experiment.arms:
        if experiment.lacks(arm.name):
            need = f"pip install 'balrog_rag[{arm.name}]'"
            yield f"{arm.name} skipped: its extra is not installed; {need}"
