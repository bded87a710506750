"""The document `traces`: what the page of a run draws of all episodes at once."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from balrog_rag.contracts.errors import BalrogError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.knowledge.saving import saving_passages
from balrog_rag.viewer.listing import JOURNAL, ListedEpisode
from balrog_rag.viewer.traces import EpisodeTrace, PassageSet, axes, read_trace

LAST = 20
"""Actions before the end that a death shows."""
MOST_PAIRS = 500
"""Pairs of episodes of the same game that are listed."""
PATIENCE = 1.0
"""Seconds of reading journals per request, before it is answered with what has been read."""

Stamp = tuple[int, int]


class TraceLibrary:
    """The traces of listed episodes by index, cached as long as the journal stays as it is."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._known: dict[Path, tuple[Stamp, EpisodeTrace | None]] = {}
        self._rebuilt: dict[Path, Stamp] = {}

    def put(self, path: Path, trace: Callable[[dict[str, int]], EpisodeTrace]) -> None:
        """Keep the trace of a rebuilt episode, which is finer than that of its journal."""
        stamp = _stamp(path)
        if self._rebuilt.get(path) != stamp:
            self._known[path], self._rebuilt[path] = (stamp, trace(self._names)), stamp

    def document(self, episodes: Sequence[ListedEpisode], patience: float = PATIENCE) -> dict[str, Any]:
        """The document, with as much as can be read in that many seconds, and at least one more episode."""
        end = time.monotonic() + patience
        found: dict[int, EpisodeTrace] = {}
        left, read = 0, False
        for place, episode in enumerate(episodes):
            if not episode.path.name.endswith(JOURNAL):
                continue
            stamp = _stamp(episode.path)
            known = self._known.get(episode.path)
            if known is None or known[0] != stamp:
                if read and time.monotonic() > end:
                    left += 1
                    continue
                read = True
                known = self._known[episode.path] = stamp, self._read(episode.path)
            if known[1] is not None:
                found[place] = known[1]
        return traces_document(episodes, found, list(self._names)) | {"left": left}

    def _read(self, path: Path) -> EpisodeTrace | None:
        try:
            return read_trace(path, self._names)
        except BalrogError:
            return None  # the list shows why it is damaged


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def traces_document(
    episodes: Sequence[ListedEpisode], traces: Mapping[int, EpisodeTrace], names: Sequence[str]
) -> dict[str, Any]:
    """Assemble the document from the traces by index."""
    kinds = {trace.game.env for trace in traces.values()}
    return {
        "axes": {env: axes(kind_of(env)) for env in sorted(kinds)},
        "of": {
            str(place): trace.points
            | {"env": trace.game.env, "last": [names[each] for each in trace.actions[-LAST:]]}
            for place, trace in traces.items()
        },
        "same": same_passages(episodes, traces),
        "pairs": partings(episodes, traces, names)[:MOST_PAIRS],
        "saving": saving(episodes),
    }


def saving(episodes: Sequence[ListedEpisode]) -> dict[str, list[list[str]]]:
    """For each class of preventable ends among the episodes: title and text of passages that prevent it."""
    causes = {str(each.row["cause"]) for each in episodes if each.row.get("preventable")}
    found = saving_passages(causes) if causes else {}
    return {cause: [[each.title, each.text] for each in passages] for cause, passages in found.items()}


def same_passages(
    episodes: Sequence[ListedEpisode], traces: Mapping[int, EpisodeTrace]
) -> list[dict[str, Any]]:
    """For each run with passages in its prompts: at how many steps they were the same ones."""
    runs: dict[str, list[EpisodeTrace]] = {}
    for place, trace in traces.items():
        runs.setdefault(str(episodes[place].row.get("run", "")), []).append(trace)
    made = []
    for run, mine in runs.items():
        total: Counter[PassageSet] = Counter()
        for trace in mine:
            total.update(trace.passages)
        if total:
            (passages, most), shown = total.most_common(1)[0], total.total()
            made.append(
                {
                    "run": run,
                    "most": most,
                    "shown": shown,
                    "sets": len(total),
                    "steps": sum(trace.decisions for trace in mine),
                    "titles": [title for _, title in passages],
                }
            )
    return made


def partings(
    episodes: Sequence[ListedEpisode], traces: Mapping[int, EpisodeTrace], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Where ended episodes of the same game in two runs part, the largest difference in progression first."""
    games: dict[tuple[str, str, str], list[int]] = {}
    for place, trace in traces.items():
        if episodes[place].row.get("state") == "ended":
            game = trace.game
            identity = kind_of(game.env).sampling.identity(game)
            games.setdefault((game.env, game.versioned(game.task), identity), []).append(place)
    made = [
        _parting(episodes, traces, names, *pair)
        for places in games.values()
        for pair in _pairs(episodes, places)
    ]
    return sorted(made, key=lambda each: -abs(each["cost"]))


def _pairs(episodes: Sequence[ListedEpisode], places: Sequence[int]) -> Iterator[tuple[int, int]]:
    for one, other in combinations(places, 2):
        if episodes[one].run != episodes[other].run:
            yield one, other


def _parting(
    episodes: Sequence[ListedEpisode],
    traces: Mapping[int, EpisodeTrace],
    names: Sequence[str],
    one: int,
    other: int,
) -> dict[str, Any]:
    first, second = traces[one].actions, traces[other].actions
    step = first_difference(first, second)
    parted = [each[step] if step is not None and step < len(each) else None for each in (first, second)]
    rows = episodes[one].row, episodes[other].row
    return {
        "episodes": [one, other],
        "step": step,
        "actions": ["" if each is None else names[each] for each in parted],
        "cost": round(rows[1]["progression"] - rows[0]["progression"], 3),
    }


def first_difference(first: Sequence[int], second: Sequence[int]) -> int | None:
    """The first position with different actions; one that has ended earlier differs at its end."""
    shorter = min(len(first), len(second))
    for step in range(shorter):
        if first[step] != second[step]:
            return step
    return None if len(first) == len(second) else shorter
