"""The documents that a page reads before any episode: the list, and the effects of retrieval."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import BalrogError, RunFolderError
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Lookup
from balrog_rag.results import asked_again, run_folder
from balrog_rag.viewer.listing import ListedEpisode, runs_of
from balrog_rag.viewer.marks import TITLES
from balrog_rag.viewer.notes import kept_notes
from balrog_rag.viewer.run_heads import RunHeads

FORMAT = 1


def overview(episodes: Sequence[ListedEpisode], heads: RunHeads | None = None) -> dict[str, Any]:
    """The document `run`."""
    folders = runs_of(episodes)
    return {
        "format": FORMAT,
        **rows(episodes, heads or RunHeads()),
        "titles": TITLES,
        "retrieval": [found for run in folders if (found := retrieval(run, episodes)) is not None],
        "notes": [note for run in folders for note in notes(run, episodes)],
    }


def rows(episodes: Sequence[ListedEpisode], heads: RunHeads) -> dict[str, Any]:
    """The document `rows`: the part of `run` that grows while runs are played."""
    folders = runs_of(episodes)
    return {
        "title": ", ".join(run.name for run in folders) or episodes[0].path.name,
        "episodes": [episode.row for episode in episodes],
        "heads": heads.document(episodes),
    }


def notes(run: Path, episodes: Sequence[ListedEpisode]) -> list[dict[str, Any]]:
    """The notes beside a run, on the listed episodes."""
    keys = {episode.row["name"]: episode.key for episode in episodes if episode.run == run}
    try:
        kept = kept_notes(run)
    except RunFolderError:
        return []  # the error is shown when somebody writes a note
    return [
        {"key": keys[note.episode], "step": note.step, "text": note.text, "at": note.at, "label": note.label}
        for note in kept
        if note.episode in keys
    ]


def retrieval(run: Path, episodes: Sequence[ListedEpisode]) -> dict[str, Any] | None:
    """Results of asking steps again without passages; None if that was not done."""
    found = asked_again.kept(run)
    if found is None:
        return None
    keys = {episode.row["name"]: episode.key for episode in episodes if episode.run == run}
    return {
        "run": run.name,
        "sentence": found.sentence,
        "asked": [
            {
                "key": keys[one.episode],
                "step": one.step,
                "action": one.action,
                "without": one.without,
                "again": one.again,
                "passages": passages_at(run, one.episode, one.step) if one.without != one.action else [],
            }
            for one in found.asked
            if one.episode in keys
        ],
    }


def passages_at(run: Path, episode: str, step: int) -> list[list[Any]]:
    """Title, address and score of the passages of the last search up to a step, best first."""
    last: tuple[Passage, ...] = ()
    try:
        for entry in journal.entries_of(run_folder.journal_path(run, episode)):
            if isinstance(entry, Lookup) and entry.step <= step:
                last = entry.passages
    except BalrogError:
        return []
    return [[passage.title, passage.url, round(passage.score, 4), passage.id] for passage in last]
