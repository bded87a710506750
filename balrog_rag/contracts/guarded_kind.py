"""A kind of game whose functions validate what they return: what `kind_of` gives to the harness."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from balrog_rag.contracts import validation
from balrog_rag.contracts.data import GameSpec, Observation
from balrog_rag.contracts.errors import BalrogError, PluginError
from balrog_rag.contracts.guarded_game import GuardedEnvironment, GuardedProgress
from balrog_rag.contracts.kinds import (
    AgentHints,
    DisplayHints,
    EnvironmentKind,
    Retrospect,
    Sampling,
    Scoring,
)
from balrog_rag.contracts.measures import Column, EpisodeCounter, Measure, Numbers, Progress, Rules
from balrog_rag.contracts.programs import ProgramKind
from balrog_rag.contracts.renaming import Renaming
from balrog_rag.contracts.signals import Concern, EnvironmentSignals

T = TypeVar("T")
Check = Callable[[Any, str, str], T]
"""Converts a value; takes the value, the plug-in and what of it was called."""

RECORDS: dict[str, type] = {
    "scoring": Scoring,
    "display": DisplayHints,
    "retrospect": Retrospect,
    "hints": AgentHints,
    "sampling": Sampling,
}


def guarded(kind: EnvironmentKind) -> EnvironmentKind:
    """Return the kind with every function guarded; raise PluginError for a wrong definition."""
    who = f"environment {kind.name!r}"
    for name, record in RECORDS.items():
        if not isinstance(given := getattr(kind, name), record):
            raise validation.fault(who, name, given, f"use a {record.__name__}")
    guard = _Guard(who)
    return replace(
        kind,
        title=validation.text(kind.title, who, "title"),
        tasks=guard(kind.tasks, "tasks()", validation.texts),
        make=guard(kind.make, "make()", _environment, reraise=True),
        progress=guard(kind.progress, "progress()", _progress),
        check=guard(kind.check, "check()", _anything),
        max_steps=guard(kind.max_steps, "max_steps()", validation.integer),
        scoring=_scoring(kind.scoring, guard),
        display=_display(kind.display, guard),
        retrospect=_retrospect(kind.retrospect, guard),
        hints=_hints(kind.hints, guard),
        sampling=_sampling(kind.sampling, guard),
    )


class _Guard:
    """Wraps the functions of one kind."""

    def __init__(self, who: str) -> None:
        self.who = who

    def __call__(
        self, function: Callable[..., Any], what: str, check: Check[T], reraise: bool = False
    ) -> Callable[..., T]:
        """Return the function with its result checked; with `reraise` the caller handles what it raises."""
        who = self.who
        if not callable(function):
            raise validation.fault(who, what.removesuffix("()"), function, "use a function")

        def called(*arguments: Any) -> T:
            try:
                found = function(*arguments)
            except BalrogError:
                raise
            except Exception as error:  # the code is a plug-in's
                if reraise:
                    raise
                raise validation.raised(who, what, error) from error
            return check(found, who, what)

        return called


def _anything(value: T, who: str, what: str) -> T:
    return value


def _environment(value: Any, who: str, what: str) -> GuardedEnvironment:
    # A kind made of another guarded kind, as by dataclasses.replace, is guarded already.
    return value if isinstance(value, GuardedEnvironment) else GuardedEnvironment(value, who)


def _progress(value: Any, who: str, what: str) -> Progress:
    return GuardedProgress(value, who)


def _scoring(scoring: Scoring, guard: _Guard) -> Scoring:
    return replace(
        scoring,
        rise=validation.number(scoring.rise, guard.who, "scoring.rise"),
        detect=validation.number(scoring.detect, guard.who, "scoring.detect"),
        measures=tuple(
            _measure(each, guard) for each in _several(scoring.measures, Measure, guard, "measures")
        ),
        rules=tuple(_rules(each, guard) for each in _several(scoring.rules, Rules, guard, "rules")),
        worth=guard(scoring.worth, "scoring.worth()", validation.share),
        oracles=tuple(validation.texts(scoring.oracles, guard.who, "scoring.oracles")),
    )


def _several(given: Any, wanted: type, guard: _Guard, what: str) -> tuple[Any, ...]:
    if not isinstance(given, tuple | list):
        raise validation.fault(guard.who, what, given, f"use a tuple of {wanted.__name__}")
    for place, each in enumerate(given):
        if not isinstance(each, wanted):
            raise validation.fault(guard.who, f"{what}[{place}]", each, f"use a {wanted.__name__}")
    return tuple(given)


def _measure(measure: Measure, guard: _Guard) -> Measure:
    name = validation.text(measure.name, guard.who, "a measure's name")
    who = f"{guard.who}, measure {name!r}"
    for field in ("title", "unit", "number", "needs"):
        validation.text(getattr(measure, field), who, field)
    if bool(measure.number) == (measure.follow is not None):
        raise PluginError(f"{who}: give either number=NAME or follow=FUNCTION")
    if measure.taken not in ("last", "highest"):
        raise validation.fault(who, "taken", measure.taken, "use 'last' or 'highest'")
    if not measure.low < measure.high:
        raise PluginError(f"{who}: low={measure.low!r} is not below high={measure.high!r}; correct one")
    if measure.follow is None:
        return measure
    return replace(measure, follow=_Guard(who)(measure.follow, "follow()", _counter))


def _counter(value: Any, who: str, what: str) -> EpisodeCounter:
    return _GuardedCounter(value, _Guard(who))


class _GuardedCounter:
    """An episode counter whose result is a finite number or None."""

    def __init__(self, inner: EpisodeCounter, guard: _Guard) -> None:
        self.see: Callable[[Numbers, bool], None] = guard(inner.see, "follow().see()", _anything)
        self.result: Callable[[Mapping[str, Any]], float | None] = guard(
            inner.result, "follow().result()", optional(validation.number)
        )


def optional(check: Check[T]) -> Callable[[Any, str, str], T | None]:
    """Return a check that also admits None."""
    return lambda value, who, what: None if value is None else check(value, who, what)


def _rules(rules: Rules, guard: _Guard) -> Rules:
    headings = tuple(validation.texts(rules.headings, guard.who, "rules.headings"))

    def row(value: Any, who: str, what: str) -> list[str]:
        cells = validation.texts(value, who, what)
        if cells and len(cells) != len(headings):
            raise PluginError(
                f"{who}: {what} has {len(cells)} cells; return one per heading ({len(headings)})"
            )
        return cells

    what = f"rules {rules.title!r}.figures()"
    return replace(rules, headings=headings, figures=guard(rules.figures, what, row))


def _display(display: DisplayHints, guard: _Guard) -> DisplayHints:
    columns = _several(display.columns, Column, guard, "display.columns")
    return replace(
        display,
        columns=tuple(
            replace(each, text=guard(each.text, f"display column {each.title!r}", validation.text))
            for each in columns
        ),
        headline=guard(display.headline, "display.headline()", validation.text),
        danger=guard(display.danger, "display.danger()", validation.flag),
        blank=guard(display.blank, "display.blank()", validation.flag),
        ending=guard(display.ending, "display.ending()", validation.text),
        tiles=display.tiles and guard(display.tiles, "display.tiles()", _picture),
    )


def _picture(value: Any, who: str, what: str) -> bytes:
    if not isinstance(value, bytes):
        raise validation.fault(who, what, value, "return PNG bytes")
    return value


def _retrospect(retrospect: Retrospect, guard: _Guard) -> Retrospect:
    read: Callable[[str], Observation | None] | None = retrospect.read_logged
    return replace(
        retrospect,
        read_logged=read and guard(read, "retrospect.read_logged()", optional(_observation)),
        record=guard(retrospect.record, "retrospect.record()", validation.plain),
        cause=guard(retrospect.cause, "retrospect.cause()", validation.text),
        decision=guard(retrospect.decision, "retrospect.decision()", optional(validation.integer)),
        right_answer=guard(retrospect.right_answer, "retrospect.right_answer()", _yes_or_no),
        comparable=guard(retrospect.comparable, "retrospect.comparable()", validation.plain),
    )


def _yes_or_no(value: Any, who: str, what: str) -> str:
    if value not in ("y", "n", ""):
        raise validation.fault(who, what, value, 'return "y", "n" or ""')
    return str(value)


def _observation(value: Any, who: str, what: str) -> Observation:
    return validation.converted(value, Observation, who, what)


def _hints(hints: AgentHints, guard: _Guard) -> AgentHints:
    return replace(
        hints,
        prompts=guard(hints.prompts, "hints.prompts()", validation.text_mapping),
        guide=validation.text(hints.guide, guard.who, "hints.guide"),
        reading=validation.text(hints.reading, guard.who, "hints.reading"),
        signals=GuardedSignals(hints.signals, guard),
        pictures=guard(hints.pictures, "hints.pictures()", validation.flag),
        renaming=guard(hints.renaming, "hints.renaming()", _renaming),
        programs=guard(hints.programs, "hints.programs()", _programs),
    )


def _renaming(value: Any, who: str, what: str) -> Renaming | None:
    """Return a renaming, or None."""
    if value is None or isinstance(value, Renaming):
        return value
    raise validation.fault(who, what, value, "return a Renaming or None")


def _programs(value: Any, who: str, what: str) -> tuple[ProgramKind, ...]:
    return _several(value, ProgramKind, _Guard(who), what)


def _sampling(sampling: Sampling, guard: _Guard) -> Sampling:
    world: Callable[[GameSpec], str] | None = sampling.world
    available: Callable[[str], int] | None = sampling.available
    most: Callable[[GameSpec], int] | None = sampling.most_actions
    return replace(
        sampling,
        listed=tuple(validation.texts(sampling.listed, guard.who, "sampling.listed")),
        episodes=validation.integer(sampling.episodes, guard.who, "sampling.episodes"),
        identity=guard(sampling.identity, "sampling.identity()", validation.text),
        world=world and guard(world, "sampling.world()", validation.text),
        versions=validation.numbers(sampling.versions, guard.who, "sampling.versions"),
        available=available and guard(available, "sampling.available()", validation.integer),
        most_actions=most and guard(most, "sampling.most_actions()", validation.integer),
    )


def _hashable(value: T, who: str, what: str) -> T:
    try:
        hash(value)
    except TypeError as error:
        raise validation.fault(who, what, value, "return something hashable, such as a tuple") from error
    return value


def _an_observation(value: Any, who: str, what: str) -> Observation:
    """Check the class alone: histories ask for every moment again and again."""
    if not isinstance(value, Observation):
        raise validation.fault(who, what, value, "return an Observation")
    return value


def _concerns(value: Any, who: str, what: str) -> list[Concern]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, Concern) for each in value):
        raise validation.fault(who, what, value, "return a list of Concern")
    return [
        Concern(
            validation.text(each.query, who, f"{what}.query"),
            validation.flag(each.asked, who, f"{what}.asked"),
            validation.flag(each.lasting, who, f"{what}.lasting"),
        )
        for each in value
    ]


def _square(value: Any, who: str, what: str) -> tuple[str, int, int]:
    if not isinstance(value, tuple) or len(value) != 3:
        raise validation.fault(who, what, value, "return (level, row, column) or None")
    row, column = (validation.integer(each, who, what) for each in value[1:])
    return validation.text(value[0], who, what), row, column


SIGNALS: dict[str, Check[Any]] = {
    **dict.fromkeys(("message", "news", "deed", "press", "time", "map"), validation.text),
    **dict.fromkeys(("states", "questions", "truth", "things", "ailments"), validation.texts),
    **dict.fromkeys(("hurt", "moved"), validation.flag),
    **dict.fromkeys(("place", "screen"), _hashable),
    **dict.fromkeys(("trimmed", "without_map"), _an_observation),
    "concerns": _concerns,
    "deeds": validation.numbers,
    "health": validation.number,
    "clock": optional(validation.integer),
    "square": optional(_square),
    "answer": optional(validation.text),
}
"""What each signal returns."""


class GuardedSignals(EnvironmentSignals):
    """Signals whose results are checked; each method is replaced by a guarded one of the kind's own."""

    def __init__(self, signals: Any, guard: _Guard) -> None:
        if not isinstance(signals, EnvironmentSignals):
            raise validation.fault(
                guard.who, "hints.signals", signals, "derive its class from EnvironmentSignals"
            )
        for name, check in SIGNALS.items():
            setattr(self, name, guard(getattr(signals, name), f"hints.signals.{name}()", check))


def check_start(kind: EnvironmentKind, start: Observation) -> None:
    """Raise PluginError if the first observation lacks a declared number, or a display cannot show it."""
    who, known = f"environment {kind.name!r}", ", ".join(sorted(start.numbers)) or "none"
    needed = {f"measure {each.name!r}": each.number for each in kind.scoring.measures if each.number}
    if line := kind.display.timeline:
        needed |= {"display.timeline.clock": line.clock, "display.timeline.height": line.height}
    for what, number in needed.items():
        if number not in start.numbers:
            raise PluginError(
                f"{who}: {what} is taken from number {number!r}, which the first observation lacks; "
                f"its numbers are {known}"
            )
    shown = [kind.display.headline, kind.display.danger, *(each.text for each in kind.display.columns)]
    if not kind.display.blank(start.numbers):
        for show in shown:
            show(start.numbers)
    kind.hints.signals.message(start)
