"""What `python -m balrog_rag.eval` does once its words are known to be a run or a resume."""

import sys
from pathlib import Path

from balrog_rag import agents
from balrog_rag.cli.command_line import as_far_as_read
from balrog_rag.cli.playing import played
from balrog_rag.cli.stopped import print_troubles
from balrog_rag.cluster.choice import backend_of
from balrog_rag.config.compose import compose
from balrog_rag.config.schema import Config
from balrog_rag.display.display import display
from balrog_rag.run.arms_of_words import named
from balrog_rag.run.backend import PlannedRun
from balrog_rag.run.begin import attempt, continued, is_sweep, new_run, resumed_folder
from balrog_rag.run.run import RunOutcome, not_played, play_runs
from balrog_rag.run.services import LiveServices


def evaluate(overrides: list[str], trust: bool = False) -> int:
    """Play a new run, or go on with one; returns the exit code. `trust`: though somebody else made it."""
    earlier, words = resumed_folder(overrides)
    if is_sweep(earlier, words):
        from balrog_rag.cli.sweep import sweep

        return sweep(overrides, trust) if earlier else sweep(words)
    if earlier is not None:
        return resume(earlier, words, trust)
    return play_in(new_run(named(compose(words), words)))


def resume(run: Path, overrides: list[str], trust: bool = False) -> int:
    """Go on with a run: its frozen configuration, with the changes that are allowed."""
    return play_in(continued(run, overrides, trust))


def play_in(run: PlannedRun) -> int:
    """Play into a run folder that exists, print what came of it, and return the exit code."""
    outcomes: list[RunOutcome] = []

    def results() -> int:
        print_and_write(run.folder, outcomes[0], run.config)
        return outcomes[0].exit_code

    def troubles(interrupted: bool) -> None:
        if interrupted or outcomes:
            print_troubles(run.folder, outcomes[0] if outcomes else not_played(run), interrupted)

    with attempt(run):
        return played(lambda: play_into(outcomes, run), results, troubles)


async def play_into(outcomes: list[RunOutcome], run: PlannedRun) -> None:
    """Play, and keep what came of it before models and indexes are closed, which a second Ctrl-C may cut."""
    services = LiveServices()
    try:
        outcomes += await play_runs([run], services, display, backend_of)
    finally:
        await services.close()


REAL_MODEL = """\
The embedded model only shows that everything runs. For a real one, set its key and name it:
  OPENAI_API_KEY=... python -m balrog_rag.eval model=openai model.name=openai/<model> limits.run.dollars=5
  (or model=anthropic, gemini, vllm, ollama, ...: docs/reference/models.md)"""


def print_and_write(run: Path, outcome: RunOutcome, config: Config) -> None:
    """Write the summaries and print the results; what this needs is imported only now."""
    from balrog_rag.cli.final_report import print_finished, print_results
    from balrog_rag.results.summary import write_all

    def say() -> None:
        if config.runner.log == "json":
            print_finished(run, outcome, summary)
            return
        print_results(run, summary)
        if config.model.backend == "local" and agents.asks_model(config.agent):
            print(REAL_MODEL)

    summary = write_all(run)
    as_far_as_read(sys.stdout, say)
