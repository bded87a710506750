"""How a run begins, from top to bottom: compose, check, plan, and a folder to play into.

The commands and `import balrog_rag` both begin runs here. What they get is a `PlannedRun`: whatever plays
it or reports on it needs nothing else.
"""

from collections.abc import Sequence
from pathlib import Path

from balrog_rag.config.compose import compose
from balrog_rag.config.schema import Config
from balrog_rag.run.arms_of_words import experiment_of, named
from balrog_rag.run.backend import PlannedRun
from balrog_rag.run.needs import check_new
from balrog_rag.run.new_folder import folder_for, make_folder, who_plays
from balrog_rag.run.preflight import check_config, check_episodes, check_settings
from balrog_rag.run.resume import resumed_config, specs_of
from balrog_rag.run.services import resolved, unread
from balrog_rag.run.trust import refuse_stranger

SWEEP = "sweep.json"
"""The file that marks a folder as a sweep's."""


def is_sweep(earlier: Path | None, words: Sequence[str]) -> bool:
    """Whether these overrides mean several runs: a sweep to resume, or an experiment with arms."""
    if earlier is not None:
        return (earlier / SWEEP).is_file()
    experiment = experiment_of(words)
    return experiment is not None and bool(experiment.arms)


def new_run(overrides: list[str]) -> PlannedRun:
    """Check a new run completely, then create its folder."""
    return make_folder(checked_run(composed(overrides)))


def composed(overrides: list[str]) -> Config:
    """Return the configuration of these overrides, with the experiment that they name."""
    return named(compose(overrides), overrides)


def checked_run(config: Config) -> PlannedRun:
    """Check and plan a new run without writing anything."""
    return _planned_new(ready(config))


def previewed_run(config: Config) -> PlannedRun:
    """Plan a run that will not be played: without keys, extras and texts, and without reading a corpus."""
    return _planned_new(previewed(config))


def ready(config: Config) -> Config:
    """Check what a new run needs, and add the content of the files that it names."""
    check_new(config)
    return resolved(config)


def previewed(config: Config) -> Config:
    """Do the same for a run that will not be played."""
    check_settings(config)
    return unread(config)


def _planned_new(config: Config) -> PlannedRun:
    return planned(folder_for(config.run, who_plays(config)), config)


def planned(folder: Path, config: Config, label: str = "") -> PlannedRun:
    """Plan and check the run of a complete configuration; a fork's episodes are in its folder."""
    check_config(config)
    specs = specs_of(folder, config)
    check_episodes(specs)
    return PlannedRun(folder, config, specs, label)


def continued(folder: Path, overrides: list[str], trust: bool = False, label: str = "") -> PlannedRun:
    """Prepare a run to resume: its frozen configuration with the allowed changes.

    `trust` accepts a folder that somebody else made.
    """
    config = resumed_config(folder, overrides)
    # A stranger's folder is refused before the programs that it names are looked up and checked.
    refuse_stranger(folder, config, overrides, trust)
    return planned(folder, config, label)
