"""What `balrog-rag run`, `sweep` and `resume` do: find out what the overrides mean, prepare it, play it."""

from balrog_rag.cli.one_run import play_run
from balrog_rag.cli.play_session import refuse_absent_person
from balrog_rag.cli.sweep import sweep
from balrog_rag.results.stored_run import read_run
from balrog_rag.run.begin import new_run, resumed_run
from balrog_rag.run.request import is_sweep, resumed_folder


def evaluate(overrides: list[str], trust: bool = False, several: bool = False) -> int:
    """Play a new run or sweep, or resume one; returns the exit code.

    `trust` accepts a folder that somebody else made; `several`: the command is for sweeps.
    """
    folder, words = resumed_folder(overrides)
    if several or is_sweep(folder, words):
        return sweep(folder, words, trust)
    if folder is None:
        return play_run(new_run(words, refuse_absent_person))
    return play_run(resumed_run(read_run(folder), words, trust))
