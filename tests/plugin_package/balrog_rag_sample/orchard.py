"""A small game for balrog_rag: an orchard, a goose, and four achievements."""

from collections.abc import Mapping
from random import Random
from typing import Annotated

import msgspec

from balrog_rag.contracts.data import GameSpec, Observation, Part, TaskView, Transition, digest
from balrog_rag.contracts.kinds import (
    AgentHints,
    Column,
    DisplayHints,
    EnvironmentKind,
    Measure,
    Numbers,
    Sampling,
    Scoring,
)

WAYS = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
ACTIONS = {**{way: f"walk {way}" for way in WAYS}, "pick": "pick an apple here", "eat": "eat an apple"}
ACHIEVEMENTS = ("picked", "ate", "full basket", "met the goose")
BASKET = 3


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of an orchard."""

    size: Annotated[int, msgspec.Meta(ge=3, le=20, description="cells along each side")] = 5
    goose: Annotated[bool, msgspec.Meta(description="whether a goose walks about")] = True


class Orchard:
    """One game."""

    def __init__(self, spec: GameSpec) -> None:
        self.options = msgspec.convert(spec.options, Options)
        self.view = TaskView(
            spec.env, spec.task, "Your goal is to do everything once.", ACTIONS, frozenset(ACTIONS), "pick"
        )
        self.limit, self.dice = spec.max_steps, Random(spec.seeds.core)
        size = self.options.size
        self.trees = {(x, y) for x in range(size) for y in range(size) if self.dice.random() < 0.5}
        self.at, self.goose = (0, 0), (size - 1, size - 1)
        self.apples = self.steps = 0
        self.done: set[str] = set()
        self.said = ""

    def reset(self) -> Transition:
        return Transition(self.seen(), keys=0)

    def step(self, action: str) -> Transition:
        self.steps, self.said, before = self.steps + 1, "", len(self.done)
        if action in WAYS:
            self.at = self.moved(self.at, WAYS[action])
        elif action == "pick" and self.at in self.trees:
            self.trees.discard(self.at)
            self.apples += 1
            self.done |= {"picked"} | ({"full basket"} if self.apples >= BASKET else set())
        elif action == "eat" and self.apples:
            self.apples -= 1
            self.done.add("ate")
        self.walk_the_goose()
        ended = (
            "solved" if len(self.done) == len(ACHIEVEMENTS) else "steps" if self.steps >= self.limit else ""
        )
        return Transition(self.seen(), reward=float(len(self.done) - before), ended=ended)

    def event(self) -> str:
        """Return what interrupts a program."""
        return self.said

    def close(self) -> None:
        """Release nothing."""

    def walk_the_goose(self) -> None:
        if self.options.goose:
            self.goose = self.moved(self.goose, self.dice.choice([*WAYS.values()]))
            if self.goose == self.at:
                self.said = "the goose hisses at you"
                self.done.add("met the goose")

    def moved(self, at: tuple[int, int], way: tuple[int, int]) -> tuple[int, int]:
        last = self.options.size - 1
        return min(max(at[0] + way[0], 0), last), min(max(at[1] + way[1], 0), last)

    def seen(self) -> Observation:
        here = "an apple tree" if self.at in self.trees else "grass"
        numbers = {"apples": self.apples, "done": len(self.done), "x": self.at[0], "y": self.at[1]}
        parts = (
            Part("message", self.said),
            Part("place", f"You stand on {here} at {self.at[0]}, {self.at[1]}."),
            Part("basket", f"{self.apples} apples", "now"),
        )
        state = f"{numbers} {self.goose} {sorted(self.trees)} {self.said}"
        return Observation(parts, numbers, digest(state))


class Achieved:
    """Progression: the share of the achievements reached."""

    def __init__(self) -> None:
        self.value, self.reached = 0.0, ""

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        self.value = max(self.value, numbers["done"] / len(ACHIEVEMENTS))
        self.reached = f"{round(self.value * len(ACHIEVEMENTS))} of {len(ACHIEVEMENTS)}"

    def milestones(self) -> Mapping[str, list[str]]:
        return {}


ORCHARD = EnvironmentKind(
    name="orchard",
    title="Orchard",
    tasks=lambda: ("small-v0",),
    make=lambda spec, ttyrec: Orchard(spec),
    progress=lambda game: Achieved(),
    options=Options,
    max_steps=lambda task: 60,
    sampling=Sampling(
        episodes=2,
        packages=("balrog-rag-sample-plugin",),
    ),
    scoring=Scoring(
        measures=(
            Measure("achievements", "things done", "things", "done", high=4.0),
            Measure("apples", "apples left", "apples", "apples", "last", counted=True),
        ),
    ),
    display=DisplayHints(
        columns=(Column("apples", 6, lambda numbers: str(numbers["apples"])),),
        headline=lambda numbers: f"{numbers['apples']} apples, {numbers['done']} of {len(ACHIEVEMENTS)} done",
    ),
    hints=AgentHints(
        prompts=lambda: {"instruction": "You are in an orchard.\n{{ actions | join(', ') }}\n{{ goal }}"},
        guide="orchard",
    ),
)
