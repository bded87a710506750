"""Marks that a reader may want to jump to, and the curves of the timeline, specific to the kind of game."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from balrog_rag.contracts.data import Decision, Observation
from balrog_rag.contracts.kinds import EnvironmentKind, Measure
from balrog_rag.contracts.outcome import RESUMABLE

Numbers = Mapping[str, int]

SEVERE = 0.2
"""Minimum share of all hit points lost at once for a mark."""
MOST_THINGS = 6
"""Maximum number of things that one mark lists."""

TITLES = {
    "place": "another level",
    "height": "new maximum",
    "hurt": "loss of hit points",
    "thing": "a new kind of thing",
    "ailment": "worse condition",
    "deed": "a rare action",
    "invalid": "invalid answer",
    "note": "notes and warnings",
    "cap": "cap reached",
    "end": "the end",
    "search": "a search",
    "retrieval": "different action without passages",
    "reader": "a reader's note",
    "match": "matches the expression",
}
"""Kinds of marks, with their names in the legend."""


class Mark(NamedTuple):
    """A notable position: where, of which kind, and a description."""

    at: int
    kind: str
    words: str


class Marker:
    """Finds what is notable about each of an episode's moments."""

    def __init__(self, kind: EnvironmentKind) -> None:
        self._kind = kind
        self._signals = self._kind.hints.signals
        self._before: Numbers = {}
        self._things: set[str] = set()
        self._highest: dict[str, int] = {}
        self._progress = 0.0

    def moment(self, at: int, numbers: Numbers, seen: Observation | None, progress: float) -> Iterator[Mark]:
        """Marks of a moment; `seen` is None between the key presses of a program."""
        if not self._kind.display.blank(numbers):
            yield from self._numbers(at, numbers)
            self._before = dict(numbers)
        if progress > self._progress:
            self._progress = progress
            yield Mark(at, "height", f"progression {100 * progress:.2f} %")
        new = [] if seen is None else self._new_things(seen)
        if new and at:
            more = "" if len(new) <= MOST_THINGS else f" and {len(new) - MOST_THINGS} more"
            yield Mark(at, "thing", ", ".join(new[:MOST_THINGS]) + more)

    def decision(self, at: int, decision: Decision, taken: str) -> Iterator[Mark]:
        """Marks of an answer and the action taken."""
        if decision.player is None and decision.action != taken:
            yield Mark(at, "invalid", f"{decision.action or 'an empty answer'}: {taken} was taken")
        if deed := self._signals.deed(taken):
            yield Mark(at, "deed", deed)
        if decision.notes.get("notes"):
            yield Mark(at, "note", "writes into its notebook")
        if decision.notes.get("loop") is True:
            yield Mark(at, "note", "is warned that it repeats itself")

    def press(self, at: int, press: str) -> Iterator[Mark]:
        """Marks of a key press by a program that plays the episode."""
        if deed := self._signals.deed(press):
            yield Mark(at, "deed", deed)

    def end(self, at: int, outcome: str, words: str) -> Mark:
        """The mark of how it ended."""
        return Mark(at, "cap" if outcome in RESUMABLE else "end", words)

    def _numbers(self, at: int, now: Numbers) -> Iterator[Mark]:
        signals, before = self._signals, self._before
        if not before:
            self._rises(now)
            return
        headline = self._kind.display.headline(now)
        if signals.moved(before, now):
            yield Mark(at, "place", headline or "another place")
        for measure, value in self._rises(now):
            yield Mark(at, "height", f"{measure.title}: {value}")
        lost = signals.health(before) - signals.health(now)
        if lost > 0 and (lost >= SEVERE or self._kind.display.danger(now)):
            yield Mark(at, "hurt", headline or f"health falls to {100 * signals.health(now):.0f} %")
        for ailment in signals.ailments(before, now):
            yield Mark(at, "ailment", ailment)

    def _rises(self, now: Numbers) -> list[tuple[Measure, int]]:
        found = []
        for measure in self._kind.scoring.measures:
            value = now.get(measure.number, 0)
            if measure.counted or value <= self._highest.get(measure.name, 0):
                continue
            if measure.name in self._highest:
                found.append((measure, value))
            self._highest[measure.name] = value
        return found

    def _new_things(self, seen: Observation) -> list[str]:
        new = [thing for thing in dict.fromkeys(self._signals.things(seen)) if thing not in self._things]
        self._things.update(new)
        return new


RANGES = {"health": {"range": [0, 100]}, "progression": {"range": [0, 100]}}
"""Measures drawn on a fixed scale, so that a small loss of health does not look like death."""


class Curves:
    """The curves of the timeline, one value per moment."""

    def __init__(self, kind: EnvironmentKind) -> None:
        self._kind = kind
        self.health: list[float] = []
        self._progress: list[float] = []
        self._measures: dict[str, list[int]] = {measure.name: [] for measure in self._kind.scoring.measures}
        self._clock: list[int] = []
        self._last: Numbers = {}

    def see(self, numbers: Numbers, progress: float) -> None:
        """Add a moment; a blank one repeats the previous values."""
        if not self._kind.display.blank(numbers):
            self._last = numbers
        now = self._last
        self.health.append(round(100 * self._kind.hints.signals.health(now)) if now else 100)
        self._progress.append(round(100 * progress, 3))
        time = self._kind.hints.signals.clock(now) if now else None
        self._clock.append(max(time or 0, self._clock[-1] if self._clock else 0))
        for measure in self._kind.scoring.measures:
            self._measures[measure.name].append(now.get(measure.number, 0))

    def last(self, progress: float) -> None:
        """Set the final progression, once the episode is over."""
        if self._progress:
            self._progress[-1] = round(100 * progress, 3)

    def clock(self) -> list[int] | None:
        """The game's own time at each moment; None if it has none."""
        return list(self._clock) if any(self._clock) else None

    @property
    def heights(self) -> dict[str, Sequence[float]]:
        """Progression, and the measures that are taken from a number and do not count events."""
        measures = [each for each in self._kind.scoring.measures if each.number and not each.counted]
        return {"progression": self._progress} | {each.name: self._measures[each.name] for each in measures}

    def constant(self) -> dict[str, float]:
        """The value of each curve that is constant and therefore not drawn."""
        named: dict[str, Sequence[float]] = {"health": self.health, **self._measures}
        return {name: values[0] for name, values in named.items() if values and len(set(values)) == 1}

    def document(self) -> list[dict[str, Any]]:
        """The curves that are not constant, progression first."""
        downwards = {measure.name for measure in self._kind.scoring.measures if measure.downwards}
        made = [("progression", "progression", "%", self._progress), ("health", "health", "%", self.health)]
        made += [
            (measure.name, measure.present or measure.title, measure.unit, list(self._measures[measure.name]))
            for measure in self._kind.scoring.measures
        ]
        return [
            {"name": name, "title": title, "unit": unit, "values": values, **RANGES.get(name, {})}
            | ({"down": True} if name in downwards else {})
            for name, title, unit, values in made
            if name == "progression" or len(set(values)) > 1
        ]
