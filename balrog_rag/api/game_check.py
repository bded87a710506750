"""Play a kind of game as its users will, and list what breaks its contract."""

import os
import random
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

from balrog_rag.api.findings import CheckFindings
from balrog_rag.contracts.data import GameSpec, Seeds, TaskView, Transition
from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.contracts.kinds import EnvironmentKind, Numbers, Progress, check_game, follow
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.contracts.validation import shown
from balrog_rag.workers.host import HostedGame

SEEDS = (0, 1, 2)
STEPS = 150
"""Steps of each game that is played."""
LEAKS = 3
"""Games that are opened and closed to find what they leave behind."""


def check_kind(kind: EnvironmentKind, report: CheckFindings) -> None:
    """Play a registered kind of game; call `report` with a line for each finding."""
    with _reported(report):
        tasks = list(kind.tasks())
        _check_tasks(kind, tasks, report)
        chosen = playable(kind, tasks)
        for task in chosen:
            for seed in SEEDS:
                with _reported(report):
                    _check_game(kind, _spec(kind, task, seed), report)
        if chosen:
            _check_closing(_spec(kind, chosen[0], SEEDS[0]), report)


@contextmanager
def _reported(report: CheckFindings) -> Iterator[None]:
    try:
        yield
    except BalrogError as error:
        report(str(error))


def playable(kind: EnvironmentKind, tasks: Sequence[str]) -> list[str]:
    """Return the first, the middle and the last task, without those that this machine lacks files for."""
    found, refused = [], list[ConfigError]()
    for task in dict.fromkeys(tasks[place] for place in (0, len(tasks) // 2, -1) if tasks):
        try:
            _spec(kind, task, SEEDS[0])
        except ConfigError as error:
            refused.append(error)
        else:
            found.append(task)
    if refused and not found:
        raise refused[0]
    return found


def _check_tasks(kind: EnvironmentKind, tasks: Sequence[str], report: CheckFindings) -> None:
    if not tasks:
        report("tasks() returns none; return every task's name")
    for task in {task for task in tasks if tasks.count(task) > 1}:
        report(f"tasks() returns {task!r} twice; return each task once")
    for task in kind.sampling.listed:
        if task not in tasks:
            report(f"sampling.listed has {task!r}, which tasks() lacks; correct one of them")


def _spec(kind: EnvironmentKind, task: str, seed: int) -> GameSpec:
    spec = GameSpec(
        env=kind.name,
        task=task,
        seeds=Seeds(core=seed, disp=seed),
        max_steps=kind.max_steps(task),
        options=resolved_options(kind, {}, [kind]),
    )
    check_game(spec)
    return spec


def _check_game(kind: EnvironmentKind, spec: GameSpec, report: CheckFindings) -> None:
    """Play one game twice, the second time beside another one and with another state of Python's RNG."""
    state = random.getstate()
    try:
        random.seed(1)
        with _no_side_effects(report):
            played = list(_played(spec))
        random.seed(2)
        beside = HostedGame(_spec(kind, spec.task, spec.seeds.core + 1))
        try:
            again = list(_played(spec, lambda action: _pressed_once(beside, action)))
        finally:
            beside.close()
    finally:
        random.setstate(state)
    _compare(spec, played, again, report)
    _check_observations(kind, spec, [transition for _, transition in played], report)
    _check_progress(kind, spec, [transition for _, transition in played], report)


def _played(
    spec: GameSpec, after: Callable[[str], None] = lambda action: None
) -> Iterator[tuple[str, Transition]]:
    """Yield every action with its transition, the first with an empty action."""
    game, rng = HostedGame(spec), Random(f"check {spec.task} {spec.seeds.core}")
    try:
        yield "", game.start
        for action in _actions(game.view, rng):
            after(action)
            transition = game.step(action)
            yield action, transition
            if transition.ended:
                return
    finally:
        game.close()


def _actions(view: TaskView, rng: Random) -> Iterator[str]:
    """Each advertised action once, in random order, then random accepted ones."""
    advertised = [action for action in view.plain if action in view.accepted or view.anything]
    rng.shuffle(advertised)
    accepted = sorted(view.accepted) or advertised or [view.default_action]
    for number in range(STEPS):
        yield advertised[number] if number < len(advertised) else rng.choice(advertised or accepted)


def _pressed_once(game: HostedGame, action: str) -> None:
    if not game.ended:
        game.step(action)


def _compare(spec: GameSpec, played: Sequence[Any], again: Sequence[Any], report: CheckFindings) -> None:
    """Report the first difference between two games of one seed."""
    why = "draw only from Random seeded from spec.seeds, and keep nothing in modules or classes"
    for step, ((action, first), (_, second)) in enumerate(zip(played, again, strict=False)):
        if first != second:
            name = _differing(first, second)
            where = f"{spec.task}, seed {spec.seeds.core}, step {step} (action {shown(action)})"
            report(f"{name} differs when the same game is played again; {why}", where)
            return
    if len(played) != len(again):
        where = f"{spec.task}, seed {spec.seeds.core}"
        report(f"ends at another step when the same game is played again; {why}", where)


def _differing(first: Transition, second: Transition) -> str:
    for name in Transition.__struct_fields__:
        if name != "observation" and getattr(first, name) != getattr(second, name):
            return name
    seen, other = first.observation, second.observation
    names = (name for name in seen.__struct_fields__ if getattr(seen, name) != getattr(other, name))
    return f"observation.{next(names, 'parts')}"


def _check_observations(
    kind: EnvironmentKind, spec: GameSpec, transitions: Sequence[Transition], report: CheckFindings
) -> None:
    seen = [transition.observation for transition in transitions]
    names, pictures = set(seen[0].numbers), kind.hints.pictures(spec.options)
    digests: dict[str, Any] = {}
    for step, each in enumerate(seen):
        where = f"{spec.task}, observation {step}"
        parts = [part.name for part in each.parts]
        if len({*parts}) < len(parts):
            report(f"two parts have one name ({', '.join(parts)}); name them apart", where)
        if not each.digest:
            report("no digest; use digest(text) of everything that it was made from", where)
        contents = each.parts, each.numbers, each.pictures
        if each.digest and digests.setdefault(each.digest, contents) != contents:
            report("has the digest of another observation; include everything that it shows", where)
        if missing := names - {*each.numbers}:
            report(f"lacks numbers {', '.join(sorted(missing))}; return all of them every time", where)
        if added := {*each.numbers} - names:
            report(f"adds numbers {', '.join(sorted(added))}; return them from the first one on", where)
        if each.pictures and not pictures:
            report("has a picture, but hints.pictures() says that there is none; correct one", where)
        if not kind.display.blank(each.numbers):
            _check_shown(kind, each.numbers, report)
            _check_bounds(kind, each.numbers, report)
    _check_limits(spec, transitions, report)


def _check_shown(kind: EnvironmentKind, numbers: Numbers, report: CheckFindings) -> None:
    kind.display.headline(numbers)
    kind.display.danger(numbers)
    for column in kind.display.columns:
        if len(text := column.text(numbers)) > column.width:
            report(f"display column {column.title!r} has width {column.width}, {text!r} is longer; widen it")


def _check_bounds(kind: EnvironmentKind, numbers: Numbers, report: CheckFindings) -> None:
    for measure in kind.scoring.measures:
        value = numbers.get(measure.number)
        if value is not None and measure.taken == "highest" and value > measure.high:
            where = f"measure {measure.name!r}"
            report(f"{measure.number} goes above high={measure.high:g}; raise it", f"{where}, value {value}")


def _check_limits(spec: GameSpec, transitions: Sequence[Transition], report: CheckFindings) -> None:
    keys = sum(transition.keys for transition in transitions)
    if not transitions[-1].ended and keys >= spec.max_steps:
        report(f"goes on after its max_steps ({spec.max_steps}); end it there with 'steps'", spec.task)
    if transitions[-1].ended == "steps" and keys < min(spec.max_steps, STEPS):
        report(f"ended 'steps' after {keys} keys, max_steps is {spec.max_steps}; count the same", spec.task)


def _check_progress(
    kind: EnvironmentKind, spec: GameSpec, transitions: Sequence[Transition], report: CheckFindings
) -> None:
    progress: Progress = kind.progress(spec)
    progress.see(transitions[0].observation.numbers, 0.0, "")
    before = progress.value
    for step, transition in enumerate(transitions[1:], 1):
        numbers = transition.observation.numbers
        if kind.display.blank(numbers):
            continue
        follow(progress, transition, numbers, transition.ended)
        if progress.value < before and not transition.ended:
            fell = f"{spec.task}, step {step} (from {before:g} to {progress.value:g})"
            report("progress.value falls before the end; keep the highest", fell)
        before = max(before, progress.value)
    if kind.scoring.solved_or_not and progress.value not in (0.0, 1.0):
        report(
            f"{spec.task}: progress.value is {progress.value:g}, but scoring.solved_or_not is set; use 0 or 1"
        )
    progress.milestones()
    last = transitions[-1]
    if last.ended:
        kind.retrospect.cause(last.ended, last.end)
        kind.retrospect.comparable(last.end)
        kind.display.ending(last.end)
    signals = kind.hints.signals
    for transition in transitions:
        seen = transition.observation
        for signal in (signals.news, signals.states, signals.questions, signals.deeds, signals.things):
            signal(seen)
        for measured in (signals.health, signals.place, signals.time, signals.clock):
            measured(seen.numbers)
        for view in (signals.screen, signals.trimmed, signals.map):
            view(seen)
    if kind.sampling.identity(spec) != kind.sampling.identity(_spec(kind, spec.task, spec.seeds.core)):
        report("sampling.identity() differs for two equal specs; derive it from the spec alone")
    if kind.sampling.world is not None:
        kind.sampling.world(spec)


# --- side effects ---

_FORBIDDEN = {
    "pickle.find_class": "unpickles an object, which can run code; keep data as JSON or as arrays",
    "socket.connect": "connects to the network, so that a replay may differ; keep its data in the package",
}
_watching: list[CheckFindings] = []


def _hook(event: str, arguments: Any) -> None:
    if _watching and event in _FORBIDDEN:
        what = ".".join(map(str, arguments[-2:])) if event.startswith("pickle") else shown(arguments[-1])
        _watching[-1](f"the game {_FORBIDDEN[event]} ({what})")


_hooked: list[bool] = []


@contextmanager
def _no_side_effects(report: CheckFindings) -> Iterator[None]:
    """Report what a game must not do while it is played."""
    if not _hooked:
        sys.addaudithook(_hook)  # it can never be removed, so one is added and switched
        _hooked.append(True)
    _watching.append(report)
    try:
        yield
    finally:
        _watching.pop()


def _check_closing(spec: GameSpec, report: CheckFindings) -> None:
    """Open and close games; report what stays behind."""
    HostedGame(spec).close()  # what the first one loads stays for all
    before = _held()
    for _ in range(LEAKS):
        HostedGame(spec).close()
    for what, count in _held().items():
        if count >= before[what] + LEAKS:
            report(
                f"close() leaves {what} behind: {count - before[what]} after {LEAKS} games; close them there"
            )
    game = HostedGame(spec)
    game.close()
    try:
        game.close()
    except Exception as error:  # noqa: BLE001 - the code is a plug-in's
        report(
            f"close() fails when called twice ({type(error).__name__}: {error}); make the second do nothing"
        )


def _held() -> Mapping[str, int]:
    files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    return {"open files": files, "threads": threading.active_count()}
