"""A watcher: counts invalid answers while the run plays, and prints the total of every episode.

python examples/extend_watcher.py [KEY=VALUE ...]
"""

import sys
from collections import Counter

import balrog_rag
from balrog_rag.contracts.events import Ended, Event, Started, Stepped


@balrog_rag.register.watcher("invalid_answers")
class InvalidAnswers:
    """Made once for each run; `see` gets every event, in order within an episode."""

    def __init__(self) -> None:
        self.invalid: Counter[str] = Counter()

    def see(self, event: Event) -> None:
        """Take in one event; those that are of no interest are ignored."""
        match event:
            case Started():
                self.invalid[event.episode] = 0  # also where an episode starts again on another worker
            case Stepped() if event.taken != event.decision.action:  # the default was taken
                self.invalid[event.episode] += 1
            case Ended():
                count = self.invalid[event.episode]
                print(f"{event.episode}: {count} of {event.steps} answers were invalid")

    def close(self) -> None:
        """Called after the last event."""
        print(f"invalid answers in all: {self.invalid.total()}")


def main(*overrides: str) -> None:
    """Watch a model whose every second answer is nonsense."""
    answers = 'model.options.answers=["east", "dance"]'
    short = ("env.episodes=2", "limits.steps=6", "model=scripted", answers, "run.watch=[invalid_answers]")
    words = {word.partition("=")[0]: word for word in (*short, *overrides)}
    balrog_rag.evaluate(*words.values(), agent="naive", env="corridor")


if __name__ == "__main__":
    main(*sys.argv[1:])
