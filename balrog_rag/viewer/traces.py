"""Traces: how each episode went, in at most some hundred points, for the page of a run.

A trace is read from a journal in one pass, or taken from a rebuilt episode, which also knows the moments
between a program's presses.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from balrog_rag.contracts.data import GameSpec, Passage
from balrog_rag.contracts.kinds import EnvironmentKind, follow, kind_of, value_of
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Header, Lookup, Start, Step
from balrog_rag.results.episodes import IN_THE_PROMPT
from balrog_rag.viewer.marks import Curves

MOST_POINTS = 240
"""Points per trace."""
PassageSet = tuple[tuple[str, str], ...]
"""Ids and titles of the passages in one prompt."""


class Actions:
    """The actions of one episode, as numbers of a table that all episodes share."""

    def __init__(self, names: dict[str, int]) -> None:
        self._names = names
        self.of = array("L")

    def add(self, action: str) -> None:
        """Append an action."""
        self.of.append(self._names.setdefault(action, len(self._names)))


class PassageSets:
    """At how many steps each set of passages was in the prompt."""

    def __init__(self) -> None:
        self.steps: Counter[PassageSet] = Counter()
        self._found: dict[tuple[str, str], None] = {}
        self._now: PassageSet = ()

    def searched(self, passages: Iterable[Passage]) -> None:
        """Add the result of a search; several searches of one step are one set."""
        self._found.update(dict.fromkeys((passage.id, passage.title) for passage in passages))

    def stepped(self, notes: Mapping[str, Any]) -> None:
        """Count a step of the agent."""
        if self._found:
            self._now, self._found = tuple(self._found), {}
        elif notes.get("lookup") not in IN_THE_PROMPT:
            return
        if self._now:
            self.steps[self._now] += 1


class EpisodeTrace(NamedTuple):
    """How one episode went."""

    game: GameSpec
    points: dict[str, Any]
    """What the page draws."""
    actions: Sequence[int]
    """Every action, as its number in the table of names."""
    passages: Mapping[PassageSet, int]
    """Steps by the set of passages in the prompt."""
    decisions: int
    """Steps decided by the agent: a program's presses count once."""


def read_trace(path: Path, names: dict[str, int]) -> EpisodeTrace:
    """Read the trace of a journal; `names` is the table of actions and grows."""
    reader: _Reader | None = None
    for entry in journal.entries_of(path):
        if isinstance(entry, Header):
            reader = _Reader(entry, names)
        elif reader is not None:
            reader.take(entry)
    if reader is None:
        raise journal.without_header(path)
    return reader.trace()


class _Reader:
    """Follows one journal."""

    def __init__(self, header: Header, names: dict[str, int]) -> None:
        self._game = header.spec.game
        self._kind = kind_of(self._game.env)
        self._progress = self._kind.progress(self._game)
        self._curves, self._actions, self._passages = Curves(self._kind), Actions(names), PassageSets()
        self._numbers: dict[str, int] = {}
        self._at: list[int] = []
        self._decisions = 0

    def take(self, entry: journal.Event) -> None:
        """Process an entry."""
        if isinstance(entry, Start):
            self._moment(entry.numbers)
        elif isinstance(entry, Lookup):
            self._passages.searched(entry.passages)
        elif isinstance(entry, Step):
            self._step(entry)

    def _step(self, step: Step) -> None:
        self._decisions += 1
        self._passages.stepped(step.notes)
        for press in step.pressed:
            self._actions.add(self._kind.hints.signals.press(press))
        if not step.pressed:
            self._actions.add(step.taken)
        self._moment(step.numbers, step)

    def _moment(self, changed: Mapping[str, int], step: Step | None = None) -> None:
        if not self._kind.display.blank(changed):
            self._numbers |= changed
            if step is None:
                self._progress.see(self._numbers, 0.0, "")
            else:
                follow(self._progress, step, self._numbers)
        self._curves.see(self._numbers, value_of(self._progress, self._kind))
        self._at.append(len(self._actions.of))

    def trace(self) -> EpisodeTrace:
        points = drawn_points(self._curves, self._at)
        return EpisodeTrace(self._game, points, self._actions.of, self._passages.steps, self._decisions)


def drawn_points(curves: Curves, at: Sequence[int]) -> dict[str, Any]:
    """The points that a page draws; `at` is the position of each moment."""
    heights, clock = curves.heights, curves.clock()
    kept = _chosen(list(heights.values()), curves.health)
    return {
        "at": [at[each] for each in kept],
        "clock": None if clock is None else [clock[each] for each in kept],
        "health": [curves.health[each] for each in kept],
        "heights": {name: [values[each] for each in kept] for name, values in heights.items()},
    }


def _chosen(heights: Sequence[Sequence[float]], health: Sequence[float]) -> list[int]:
    """Which moments to draw: the first and last, changes of height, and the worst health of each stretch."""
    count = len(health)
    if count <= MOST_POINTS:
        return list(range(count))
    share = MOST_POINTS // 2
    rises = [each for each in range(1, count) if any(line[each] != line[each - 1] for line in heights)]
    kept = {0, count - 1, *_spread(rises, share - 2)}
    for place in range(share):
        stretch = range(place * count // share, (place + 1) * count // share)
        kept.add(min(stretch, key=health.__getitem__))
    return sorted(kept)


def _spread(places: Sequence[int], most: int) -> list[int]:
    """At most so many of these, evenly spread."""
    if len(places) <= most:
        return list(places)
    return [places[each * len(places) // most] for each in range(most)]


def axes(kind: EnvironmentKind) -> dict[str, Any]:
    """What the kind declares to draw: its own time, and progression or a measure as the height."""
    timeline = kind.display.timeline
    heights: list[dict[str, Any]] = [{"name": "progression", "title": "progression", "unit": "%"}]
    heights += [
        {"name": each.name, "title": each.present or each.title, "unit": each.unit}
        | ({"down": True, "low": each.low} if each.downwards else {})
        for each in kind.scoring.measures
        if each.number and not each.counted
    ]
    first = next((m.name for m in kind.scoring.measures if timeline and m.number == timeline.height), None)
    return {
        "title": kind.title,
        "clock": timeline.clock_title if timeline else "step",
        "heights": heights,
        "first": first or "progression",
    }
