"""A run as its folder shows it, for a terminal other than the run's own. Nothing is written or locked."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import JournalError, RunFolderError
from balrog_rag.contracts.outcome import in_words
from balrog_rag.episode.journal import Completion, End, Step
from balrog_rag.results import run_folder, sweeps
from balrog_rag.results.episodes import Episode
from balrog_rag.results.runs import LoadedRun
from balrog_rag.results.tally import read_episode
from balrog_rag.util.wording import money

TAIL = 1 << 18
"""Bytes at the end of a journal in which its last whole lines are looked for."""
LONGEST = 200
"""Characters of an action or answer that are kept."""


class EpisodeProgress(msgspec.Struct):
    """An episode with a journal."""

    name: str
    label: str
    """The run of a sweep that it belongs to; empty for a single run."""
    steps: int = 0
    doing: str = ""
    """The last action, or how the episode ended."""
    answer: str = ""
    """The model's last answer."""
    changed: float = 0.0
    """When its journal last grew, in seconds since 1970."""
    ended: Episode | None = None

    @property
    def task(self) -> str:
        """Its environment and task."""
        return self.name.rpartition("/")[0]


class RunFiles:
    """The folders of a run or of a sweep; each call of `look` reads only journals that have grown."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        labels = [run.name for run in sweeps.read(folder).runs]
        if unsafe := [label for label in labels if not run_folder.is_part(label)]:
            raise RunFolderError(f"{folder}: {unsafe[0]!r} is not a folder of this sweep")
        self._runs = [(label, folder / label) for label in labels] or [("", folder)]
        self._planned: dict[str, list[str]] = {}
        self._known: dict[Path, tuple[int, EpisodeProgress]] = {}

    @property
    def planned(self) -> list[tuple[str, str]]:
        """The label and name of every planned episode, as far as the folders exist."""
        return [(label, name) for label, names in self._planned.items() for name in names]

    def look(self) -> list[EpisodeProgress]:
        """Return the episodes that have begun, in the order in which they were planned."""
        found = []
        for label, run in self._runs:
            if label and not (run / "config.json").exists():
                continue  # a sweep makes its folders one by one
            if label not in self._planned:
                self._planned[label] = _planned(run)
            found += [self._read(label, run, name) for name in self._planned[label]]
        return [one for one in found if one is not None]

    def _read(self, label: str, run: Path, name: str) -> EpisodeProgress | None:
        path = run_folder.journal_path(run, name)
        try:
            state = path.stat()
        except OSError:
            return None
        size, known = self._known.get(path, (-1, None))
        if known is None or size != state.st_size:
            known = EpisodeProgress(name, label, changed=state.st_mtime)
            _take_tail(path, known)
            self._known[path] = state.st_size, known
        return known


def _planned(run: Path) -> list[str]:
    frozen = run_folder.frozen_config(run)
    forked = run_folder.forked_specs(run)
    return LoadedRun(run, frozen.digest, frozen.config, [], [], [], forked=forked).asked_for


def _take_tail(path: Path, episode: EpisodeProgress) -> None:
    """Read what the last lines of a journal say; a line that is still being written is left for later."""
    for entry in _last_entries(path):
        match entry:
            case Step():
                episode.steps = entry.n + max(1, len(entry.pressed))
                episode.doing = entry.taken[:LONGEST]
            case Completion() if entry.purpose == "act":
                episode.answer = entry.reply.text[:LONGEST]
            case End():
                try:
                    episode.ended = read_episode(path)
                except JournalError as error:
                    episode.doing = f"journal cannot be read: {error}"[:LONGEST]
    if episode.ended is not None:
        episode.steps = episode.ended.steps
        episode.doing = in_words(episode.ended.outcome)


_shown = msgspec.json.Decoder(Step | Completion | End)


def _last_entries(path: Path) -> Iterator[Step | Completion | End]:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL))
        lines = file.read(TAIL).split(b"\n")
    for line in lines[1 if size > TAIL else 0 : -1]:
        with suppress(msgspec.DecodeError, UnicodeDecodeError):  # other entries, and damaged ones
            yield _shown.decode(line)


def task_rows(files: RunFiles, played: Sequence[EpisodeProgress]) -> list[list[str]]:
    """One row per run and task: ended of planned, in play, mean progression, steps and dollars."""
    rows = []
    for label, task in dict.fromkeys((label, name.rpartition("/")[0]) for label, name in files.planned):
        own = [one for one in played if (one.label, one.task) == (label, task)]
        ended = [one.ended for one in own if one.ended is not None]
        planned = sum((label, task) == (other, name.rpartition("/")[0]) for other, name in files.planned)
        mean = sum(one.percent for one in ended) / len(ended) if ended else None
        rows.append(
            [
                f"{label}:{task}" if label else task,
                f"{len(ended)}/{planned}",
                str(len(own) - len(ended)),
                "–" if mean is None else f"{mean:.2f}",
                f"{sum(one.steps for one in own):,}",
                money(sum(one.total.dollars for one in ended), sum(one.total.unpriced for one in ended)),
            ]
        )
    return rows


TASK_HEADINGS = ("task", "ended", "in play", "progression %", "steps", "dollars of ended")
EPISODE_HEADINGS = ("episode", "step", "last change", "doing")


def episode_rows(played: Sequence[EpisodeProgress], most: int) -> list[list[str]]:
    """The episodes in play, those that changed last first, then those that ended last."""
    chosen = sorted(played, key=lambda one: (one.ended is not None, -one.changed))
    return [
        [
            f"{one.label}:{one.name}" if one.label else one.name,
            f"{one.steps:,}",
            f"{max(0, time.time() - one.changed):.0f} s ago",
            f"{one.doing} ({one.ended.percent:.2f} %)" if one.ended is not None else _doing(one),
        ]
        for one in chosen[:most]
    ]


def _doing(one: EpisodeProgress) -> str:
    answer = " ".join(one.answer.split())
    return one.doing if answer in ("", one.doing) else f"{one.doing}   answer: {answer}"
