"""Runs as pandas data frames, for notebooks and custom analyses.

from balrog_rag.results.frames import episodes, steps
episodes("results/A", "results/SWEEP").groupby("agent").progression_percent.describe()
steps("results/A/ENV/TASK/TASK_run_00.journal.jsonl").plot("n", "hp")
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from balrog_rag.episode import journal
from balrog_rag.episode.journal import Completion, Lookup, Start, Step
from balrog_rag.results.arms import run_folders
from balrog_rag.results.episode_table import kinds_of, plain, tables_of
from balrog_rag.results.runs import load
from balrog_rag.results.stored_sequence import together

if TYPE_CHECKING:
    from pandas import DataFrame


def episodes(*runs: str | Path) -> "DataFrame":
    """Return one row per finished episode: the columns of episodes.csv, and the run's name.

    Each of `runs` is a run folder, or a folder of run folders such as a sweep.
    """
    from pandas import DataFrame, concat

    folders = [folder for run in runs for folder in run_folders(Path(run))]
    loaded = [(run.name, load(run).episodes) for run in folders]
    kinds = kinds_of(together([episodes for _, episodes in loaded]))
    parts = [
        DataFrame({"run": run, **{name: plain(column) for name, column in table.items()}}).convert_dtypes()
        for run, episodes in loaded
        for table in tables_of(episodes, kinds)
    ]
    whole = concat(parts, ignore_index=True) if len(parts) > 1 else parts[0] if parts else DataFrame()
    return whole.convert_dtypes()


def steps(path: str | Path) -> "DataFrame":
    """Return one row per step of a journal: the action, every number of the game, and the cost."""
    from pandas import DataFrame

    rows: list[dict[str, Any]] = []
    numbers: dict[str, int] = {}
    spent = {"calls": 0, "searches": 0, "tokens": 0, "dollars": 0.0}
    for entry in journal.read(Path(path)).entries:
        if isinstance(entry, Start):
            numbers = dict(entry.numbers)
        elif isinstance(entry, Completion):
            used = entry.reply.usage
            spent["calls"] += 1
            spent["tokens"] += used.input + used.output
            spent["dollars"] += entry.reply.cost or 0.0
        elif isinstance(entry, Lookup):
            spent["searches"] += 1
        elif isinstance(entry, Step):
            numbers = {**numbers, **entry.numbers}
            did = {name: getattr(entry, name) for name in ("n", "action", "taken", "valid", "reward", "keys")}
            rows.append({**did, **numbers, **spent})
    return DataFrame(rows).convert_dtypes()
