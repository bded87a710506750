"""Search journals for the moments at which a condition holds."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from balrog_rag.banks.expression import Expression
from balrog_rag.banks.moments import Replay, ReplayableJournal
from balrog_rag.banks.stored_bank import MOST_STATES, VERSION, Bank, BankState, prefix_digest
from balrog_rag.contracts.errors import BalrogError, ConfigError, JournalError, RunFolderError
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Step, changed_numbers
from balrog_rag.results import run_folder
from balrog_rag.results.arms import run_folders
from balrog_rag.util.child_processes import available_cores, child_processes
from balrog_rag.util.files import LARGE, read_file

IN_PARALLEL_FROM = 4
"""Journals from which on several processes search them."""


class Found(msgspec.Struct):
    """What one journal contains."""

    states: list[BankState]
    names: set[str]
    """Every name that an expression could have used."""
    problem: str = ""
    """Why it was left out."""


def journals_in(places: Sequence[Path]) -> list[Path]:
    """Return the journals of run folders, sweeps and single files, each once."""
    found: dict[Path, None] = {}
    for place in places:
        if not place.is_dir():
            found[run_folder.one_journal(place)] = None
            continue
        for folder in run_folders(place):
            found |= dict.fromkeys(run_folder.journals(folder))
    if not found:
        raise RunFolderError(f"{places[0]}: contains no journal; pass run folders or *.journal.jsonl files")
    return list(found)


def made(paths: Sequence[Path], expression: Expression, every: int, folder: Path) -> tuple[Bank, list[str]]:
    """Search journals; return the bank, and why some journals were left out."""
    states: list[BankState] = []
    problems: list[str] = []
    known: set[str] = set()
    for found in _all(paths, expression, every, folder):
        states += found.states
        known |= found.names
        problems += [found.problem] if found.problem else []
    if len(problems) == len(paths):
        raise JournalError(problems[0])
    expression.refuse_unknown(known)
    if not states:
        raise ConfigError(f"--where {expression.text!r:.200}: holds at no moment of {len(paths)} episodes")
    if len(states) > MOST_STATES:
        raise ConfigError(f"{len(states):,} states; a bank can have at most {MOST_STATES:,}: raise --every")
    return Bank(VERSION, expression.text, every, len(paths) - len(problems), tuple(states)), problems


def _all(paths: Sequence[Path], expression: Expression, every: int, folder: Path) -> Iterator[Found]:
    words = [(str(path), expression.text, every, str(folder)) for path in paths]
    processes = min(len(paths), available_cores())
    if len(paths) < IN_PARALLEL_FROM or processes < 2:
        yield from map(_searched, words)
        return
    with child_processes(processes) as pool:
        yield from pool.map(_searched, words)


def _searched(words: tuple[str, str, int, str]) -> Found:
    """Search one journal; also the entry point of a process of its own."""
    import balrog_rag  # noqa: F401 - registers the built-in games, also in a new process

    path, text, every, folder = Path(words[0]), words[1], words[2], Path(words[3])
    try:
        return search(path, Expression(text), every, folder)
    except BalrogError as error:
        return Found([], set(), str(error))


def search(path: Path, expression: Expression, every: int, folder: Path) -> Found:
    """Return the states of one journal, for a bank in `folder`."""
    try:
        data = read_file(path, LARGE)
    except OSError as error:
        raise JournalError(f"{path}: cannot be read ({error.strerror})") from error
    episode = ReplayableJournal(path, journal.parse(data, path))
    search = _Search(expression, every, episode)
    played = episode.replay(see=search.see, done=search.done)
    names = search.names | played.names()
    played.close()
    where, name = os.path.relpath(path.resolve(), folder.resolve()), episode.spec.episode
    states = [
        BankState(
            where, name, each.at, prefix_digest(data, episode.recording, each.at), each.numbers, each.cut
        )
        for each in search.found
    ]
    return Found(states, names)


class FoundState(NamedTuple):
    """A moment that was found."""

    at: int
    numbers: dict[str, int]
    cut: Step | None


class _Search:
    """Collects the moments at which a condition holds."""

    def __init__(self, expression: Expression, every: int, episode: ReplayableJournal) -> None:
        self._expression, self._every, self._last = expression, every, episode.last
        self._steps = iter(episode.recording.steps)
        self._step: Step | None = None
        self._before: dict[str, int] = {}
        """The numbers before that step."""
        self.found: list[FoundState] = []
        self.names: set[str] = set()

    def done(self) -> bool:
        """Whether nothing is left to find: one state is enough, and every name in the condition is known."""
        return bool(self.found) and not self._every and self._expression.names <= self.names

    def see(self, at: int, moment: Replay) -> None:
        """Evaluate the condition at a moment."""
        if at == 0:
            self.names, self._before = moment.names(), dict(moment.numbers)
        while at and (self._step is None or at > self._step.n + self._step.count):
            self._before |= self._step.numbers if self._step is not None else {}
            self._step = next(self._steps)
        if at > self._last or (self.found and (not self._every or at < self.found[-1].at + self._every)):
            return
        if self._expression.holds(moment):
            self.found.append(FoundState(at, dict(moment.numbers), self._cut(at, moment)))
            self.names |= moment.names()

    def _cut(self, at: int, moment: Replay) -> Step | None:
        """Return the burst that contains a moment, cut there, without its keys; None between two steps."""
        inside = self._step
        if inside is None or at == inside.n + inside.count:
            return None
        shown = moment.so_far()
        return Step(
            inside.n,
            inside.action,
            inside.taken,
            shown.observation.digest,
            inside.valid,
            shown.reward,
            shown.keys,
            changed_numbers(self._before, shown.observation.numbers),
            inside.notes,
            rises=shown.rises,
            by_press=shown.by_press,
        )
