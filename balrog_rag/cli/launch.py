"""Run a sweep through a Hydra launcher, e.g. for SLURM: each run is a job that plays in its run folder."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from balrog_rag.cli.command_line import as_far_as_read
from balrog_rag.cli.one_run import play_run
from balrog_rag.cli.stopped import print_sweep_troubles
from balrog_rag.cli.sweep_results import outcomes_on_disk, print_and_write
from balrog_rag.config.groups import register_schema
from balrog_rag.config.mistakes import one_line_errors
from balrog_rag.config.own_files import quoted
from balrog_rag.contracts.errors import BalrogError, RunFolderError
from balrog_rag.results.stored_run import read_run
from balrog_rag.run.begin import resumed_run
from balrog_rag.run.plan import PlannedRun
from balrog_rag.util.extras import require
from balrog_rag.util.paths import data

JOBS = ".jobs"
"""The launcher's own files, in the sweep's folder."""


def check_launcher(hydra_words: list[str]) -> None:
    """Report errors in Hydra's own overrides before a folder is created for them."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir

    for word in hydra_words:
        if word.startswith("hydra/launcher=submitit"):
            require("submitit", "slurm", word)
    register_schema()
    with one_line_errors(hydra_words), initialize_config_dir(str(data("conf")), version_base="1.3"):
        hydra_compose("config", overrides=hydra_words, return_hydra_config=True)


def launch(runs: Sequence[PlannedRun], hydra_words: Sequence[str]) -> int:
    """Pass the runs, whose folders exist, to Hydra's multirun; return the exit code."""
    import hydra

    register_schema()
    top = runs[0].folder.parent.resolve()
    if (top / JOBS).is_symlink():
        raise RunFolderError(f"{top / JOBS}: is a link; remove it")
    sys.argv = [
        "python -m balrog_rag.eval",
        "--multirun",
        *hydra_words,
        f"hydra.sweep.dir={quoted(str(top / JOBS))}",
        "hydra.sweep.subdir=${hydra:job.num}",
        "resume=" + ",".join(quoted(str(run.folder.resolve())) for run in runs),
    ]
    try:
        hydra.main(config_path=str(data("conf")), config_name="config", version_base="1.3")(job)()
    except SystemExit as ending:  # Hydra has printed why a job or the launcher failed
        if ending.code in (None, 0):
            raise
    outcomes = outcomes_on_disk(runs)
    try:
        return print_and_write(runs, outcomes)
    finally:  # print how to continue even if the disk is full
        as_far_as_read(sys.stderr, lambda: print_sweep_troubles(runs, outcomes))


def job(config: Any) -> int:
    """Play one run, wherever the launcher starts it; an error is one line and affects only this job."""
    from hydra.core.global_hydra import GlobalHydra

    GlobalHydra.instance().clear()  # the run composes its own configuration
    try:
        return play_run(resumed_run(read_run(Path(config.resume)), []))
    except BalrogError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
