"""Fork an episode: replay it to a step, and continue from there with another agent or model."""

from pathlib import Path

from balrog_rag.cli.one_run import play_run
from balrog_rag.run.fork_plan import check_presses, planned_fork


def fork(path: Path, at: int, out: Path, overrides: list[str], trust: bool = False) -> int:
    """Create the new run folder and play; return the exit code."""
    run = planned_fork(path, at, out, overrides, trust)
    code = play_run(run)
    check_presses(path, run)
    return code
