"""What `python -m balrog_rag.eval` does once its words are known to be a run or a resume."""

import asyncio
import sys
from pathlib import Path

from balrog_rag import agents
from balrog_rag.cli.command_line import as_far_as_read
from balrog_rag.cluster.choice import backend_of
from balrog_rag.config.compose import compose
from balrog_rag.config.schema import Config
from balrog_rag.display.display import display
from balrog_rag.run.backend import PlannedRun
from balrog_rag.run.begin import attempt, continued, is_sweep, new_run, play_together, resumed_folder
from balrog_rag.run.named import named
from balrog_rag.run.run import RunOutcome


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
    """Play into a run folder that exists, tell what came of it, and return the exit code."""
    with attempt(run):
        outcome = asyncio.run(play_together([run], display, backend_of))[0]
        tell(run.folder, outcome, run.config)
    return outcome.exit_code


REAL_MODEL = """\
The embedded model only shows that everything runs. For a real one, set its key and name it:
  OPENAI_API_KEY=... python -m balrog_rag.eval model=openai model.name=openai/<model> limits.run.dollars=5
  (or model=anthropic, gemini, vllm, ollama, ...: docs/models.md)"""


def tell(run: Path, outcome: RunOutcome, config: Config) -> None:
    """Write the summaries and print what came of the run; what this needs is imported only now."""
    from balrog_rag.cli.ending import print_finished, print_results, print_troubles
    from balrog_rag.results.summary import write_all

    def say() -> None:
        if config.runner.log == "json":
            print_finished(run, outcome, summary)
            return
        print_results(run, summary)
        if config.model.backend == "local" and agents.asks_model(config.agent):
            print(REAL_MODEL)

    try:
        summary = write_all(run)
        as_far_as_read(sys.stdout, say)
    finally:  # on a full disk, too, it is said what to do next
        as_far_as_read(sys.stderr, lambda: print_troubles(run, outcome))
