"""One run, played in this process: its session, and the results that are printed of its folder."""

import sys

from balrog_rag.cli.command_line import as_far_as_read
from balrog_rag.cli.session import played
from balrog_rag.cli.stopped import print_troubles
from balrog_rag.cluster.choice import backend_of
from balrog_rag.display.display import display
from balrog_rag.run.attempt import attempt
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.run import RunOutcome, not_played, play_runs
from balrog_rag.run.services import LiveServices


def play_run(run: PlannedRun) -> int:
    """Play into a run folder that exists, print the results, and return the exit code."""
    from balrog_rag.cli.play_session import session_of

    session = session_of(run)
    with attempt(run):
        return played(session)


class OneRun:
    """The session of one run."""

    def __init__(self, run: PlannedRun) -> None:
        self._run = run
        self._outcome: RunOutcome | None = None

    async def play(self) -> None:
        """Keep the outcome before models and indexes are closed, which a second Ctrl-C may interrupt."""
        services = LiveServices()
        try:
            (self._outcome,) = await play_runs([self._run], services, display, backend_of)
        finally:
            await services.close()

    def write_results(self) -> int:
        """Write the summaries and print the results."""
        assert self._outcome is not None  # play has returned
        print_and_write(self._run, self._outcome)
        return self._outcome.exit_code

    def print_troubles(self, interrupted: bool) -> None:
        """Print them if there is anything to resume or to report."""
        if interrupted or self._outcome is not None:
            print_troubles(self._run.folder, self._outcome or not_played(self._run), interrupted)


def print_and_write(run: PlannedRun, outcome: RunOutcome) -> None:
    """Write the summaries and print the results; the needed modules are imported only now."""
    from balrog_rag.cli.final_report import print_finished, print_results
    from balrog_rag.cli.next_steps import next_steps
    from balrog_rag.results.summary import write_all

    def say() -> None:
        if run.config.runner.log == "json":
            print_finished(run.folder, outcome, summary)
            return
        print_results(run.folder, summary)
        if advice := next_steps([run], run.folder):
            print(advice)

    summary = write_all(run.folder)
    as_far_as_read(sys.stdout, say)
