"""A corridor of five fields whose tasks each break another rule of the contract."""

import math
from collections.abc import Mapping
from typing import Any

from balrog_rag.contracts.data import GameSpec, Observation, Part, TaskView, Transition, digest
from balrog_rag.contracts.kinds import (
    AgentHints,
    Column,
    DisplayHints,
    EnvironmentKind,
    EnvironmentSignals,
    Measure,
    Numbers,
    Scoring,
    Share,
)

ACTIONS = {"east": "walk east", "west": "walk west"}
LAST = 4


class Corridor:
    """One game: the hero walks."""

    def __init__(self, spec: GameSpec) -> None:
        self.task, self.at, self.steps = spec.task, 0, 0
        default = "rest" if self.task == "default" else "east"
        self.view = TaskView(spec.env, spec.task, "Go east.", ACTIONS, frozenset(ACTIONS), default)

    def reset(self) -> Transition:
        return Transition(self.seen(), keys=0)

    def step(self, action: str) -> Transition:
        self.steps += 1
        self.at = max(self.at + (1 if action == "east" else -1), 0)
        faulty = self.task if self.steps == 3 else ""
        ended = "solved" if self.at == LAST else "won" if faulty == "won" else ""
        facts = {"seen": {"door"}} if ended and self.task == "facts" else {"fields": self.at}
        reward = math.nan if faulty == "nan" else float(ended == "solved")
        return Transition(self.seen(faulty), reward=reward, ended=ended, end=facts if ended else {})

    def seen(self, faulty: str = "") -> Observation:
        numbers: dict[str, Any] = {"at": self.at + 0.5 if faulty == "float" else self.at}
        said: Any = None if faulty == "text" else f"You are on field {self.at}."
        return Observation((Part("message", said),), numbers, digest(f"{numbers}"))

    def close(self) -> None:
        pass


class Walked(Share):
    """The share of the way."""

    def __init__(self, task: str) -> None:
        super().__init__()
        self.task = task

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        far = numbers["at"] / LAST
        if self.task == "see" and numbers["at"] == 3:
            far = numbers["heigth"] / LAST
        if self.task == "end" and ended:
            far = numbers["end"]
        self.value = 1.5 if self.task == "progress" and numbers["at"] == 3 else max(self.value, far)


class Signals(EnvironmentSignals):
    """Nothing but the message."""

    def message(self, seen: Observation) -> str:
        return seen.text("message")


def made(name: str, measured: str = "at", **kept: Any) -> EnvironmentKind:
    return EnvironmentKind(
        name=name,
        title=name.title(),
        tasks=lambda: TASKS,
        make=lambda spec, recording: Corridor(spec),
        progress=lambda spec: Walked(spec.task),
        max_steps=lambda task: 20,
        scoring=Scoring(measures=(Measure("far", "farthest field", "fields", number=measured),)),
        **kept,
    )


def headline(numbers: Numbers) -> str:
    return f"field {numbers['field']}"


TASKS = ("sound", "float", "see", "end", "won", "text", "nan", "facts", "progress", "default")
FAULTY = made("faulty", hints=AgentHints(signals=Signals()))
UNMEASURED = made("unmeasured", measured="nope")
UNSHOWN = made("unshown", display=DisplayHints(columns=(Column("at", 4, headline),)))

EXPECTED: Mapping[str, tuple[str, int]] = {
    "faulty/float": (
        "environment 'faulty': step('east').observation.numbers['at'] is 3.5; use an integer: round it, or "
        "choose a smaller unit",
        3,
    ),
    "faulty/see": ("environment 'faulty': progress.see() raised ", 3),
    "faulty/end": ("environment 'faulty': progress.see() raised ", 4),
    "faulty/won": ("environment 'faulty': step('east').ended is 'won'; use one of ascended, died, ", 3),
    "faulty/text": ("environment 'faulty': step('east').observation.parts[0].text is None; use a str", 3),
    "faulty/nan": ("environment 'faulty': step('east').reward is nan; use a finite number", 3),
    "faulty/facts": ("environment 'faulty': step('east').end['seen'] is {'door'}; use plain data: ", 4),
    "faulty/progress": ("environment 'faulty': progress.value is 1.5; it must be from 0 to 1", 3),
    "faulty/default": (
        "environment 'faulty': view.default_action is 'rest'; use one that view.accepted contains",
        0,
    ),
    "unmeasured/sound": (
        "environment 'unmeasured': measure 'far' is taken from number 'nope', which the first observation "
        "lacks; its numbers are at",
        0,
    ),
    "unshown/sound": ("environment 'unshown': display column 'at' raised ", 0),
}
"""For every task the beginning of its error, and how many answers had been paid for by then."""
