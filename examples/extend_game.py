"""A game: guess a number from 1 to 100 in ten tries.

python examples/extend_game.py [KEY=VALUE ...]       agent=naive model=openai model.name=... for a real model
"""

import sys
from collections.abc import Mapping
from random import Random

import balrog_rag
from balrog_rag.contracts.data import GameSpec, Observation, Part, TaskView, Transition, digest
from balrog_rag.contracts.kinds import EnvironmentKind, Measure, Numbers, Scoring, Share

HIGHEST, TRIES = 100, 10
ACTIONS = {str(number): f"guess {number}" for number in range(1, HIGHEST + 1)}


class Guess:
    """One game in play."""

    def __init__(self, spec: GameSpec) -> None:
        """Everything random comes from the game's seeds, so that the same spec is the same game."""
        dice = Random(f"guess {spec.seeds.core}")  # not the bare seed: agent=random is seeded with that
        self.secret = dice.randint(1, HIGHEST)
        self.tries, self.most = 0, spec.max_steps
        self.nearest, self.said = HIGHEST, f"I think of a number from 1 to {HIGHEST}."
        self.view = TaskView(
            env=spec.env,
            task=spec.task,
            goal=f"Find the number in {self.most} tries.",
            actions=ACTIONS,
            accepted=frozenset(ACTIONS),
            default_action="50",
        )

    def reset(self) -> Transition:
        """The first observation."""
        return Transition(self.seen(), keys=0)

    def step(self, action: str) -> Transition:
        """Take one guess; `ended` is empty while the game goes on."""
        guess = int(action)
        self.tries += 1
        self.nearest = min(self.nearest, abs(guess - self.secret))
        self.said = "Right!" if guess == self.secret else "Higher." if guess < self.secret else "Lower."
        ended = "solved" if guess == self.secret else "failed" if self.tries == self.most else ""
        return Transition(self.seen(), reward=float(ended == "solved"), ended=ended)

    def close(self) -> None:
        """There is nothing to release."""

    def seen(self) -> Observation:
        """Text for the agent, whole numbers for scores and displays, and a digest of the whole state."""
        numbers = {"tries": self.tries, "nearest": self.nearest}
        parts = (
            Part("message", self.said),
            Part("tries", f"{self.most - self.tries} tries are left.", "now"),
        )
        return Observation(parts, numbers, digest(f"{self.secret} {numbers} {self.said}"))


class Closeness(Share):
    """Progression: 1 when the number is found, else how near the best guess came."""

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        """Take in one observation's numbers."""
        self.value = max(self.value, 1.0 - numbers["nearest"] / HIGHEST)

    def milestones(self) -> Mapping[str, list[str]]:
        """None are named."""
        return {}


GUESS = EnvironmentKind(
    name="guess",
    title="Guess",
    tasks=lambda: ["to-100"],
    make=lambda spec, recording: Guess(spec),
    progress=lambda spec: Closeness(),
    max_steps=lambda task: TRIES,
    scoring=Scoring(measures=(Measure("tries", "tries used", "tries", number="tries", low=1.0),)),
)


def main(*overrides: str) -> None:
    """Play three games at random and print their scores."""
    words = {word.partition("=")[0]: word for word in ("agent=random", "env.episodes=3", *overrides)}
    run = balrog_rag.evaluate(*words.values(), env=GUESS)
    print(run)
    print(run.episodes[["episode", "outcome", "tries", "progression_percent"]].to_string())


if __name__ == "__main__":
    main(*sys.argv[1:])
