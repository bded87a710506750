"""What overrides ask for, before anything is composed: which folder to resume, one run or several."""

from collections.abc import Sequence
from pathlib import Path

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.run_folder import SWEEP
from balrog_rag.run.arms_of_words import experiment_of


def resumed_folder(words: Sequence[str]) -> tuple[Path | None, list[str]]:
    """Return the run folder named by `resume=`, if any, and the other overrides."""
    named = [word.partition("=")[2].strip("'\"") for word in words if word.startswith("resume=")]
    others = [word for word in words if not word.startswith("resume=")]
    if named and not named[-1]:
        raise ConfigError("resume= needs a run folder; pass resume=FOLDER")
    return (Path(named[-1]) if named and named[-1] != "null" else None), others


def is_sweep(folder: Path | None, words: Sequence[str]) -> bool:
    """Whether these overrides mean several runs: a sweep to resume, or an experiment with arms."""
    if folder is not None:
        return (folder / SWEEP).is_file()
    experiment = experiment_of(words)
    return experiment is not None and bool(experiment.arms)
