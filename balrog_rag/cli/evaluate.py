"""What `balrog-rag run` and `resume` do: find out what the overrides mean, prepare it, play it."""

from balrog_rag.cli.one_run import play_run
from balrog_rag.cli.sweep import sweep
from balrog_rag.run.begin import continued, is_sweep, new_run
from balrog_rag.run.resume import resumed_folder


def evaluate(overrides: list[str], trust: bool = False) -> int:
    """Play a new run or sweep, or resume one; returns the exit code.

    `trust` accepts a folder that somebody else made.
    """
    earlier, words = resumed_folder(overrides)
    if is_sweep(earlier, words):
        return sweep(words, earlier, trust)
    if earlier is None:
        return play_run(new_run(words))
    return play_run(continued(earlier, words, trust))
