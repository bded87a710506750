"""The moments of a recorded episode: the start, after every step, and after every key press of a burst.

They are read by replaying the journal's actions and key presses. No player runs, so journals of programs that
have changed since, or that must not run here, can be read too.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from balrog_rag.contracts.data import Burst, Decision, ProgramPlayer, TaskView, Transition
from balrog_rag.contracts.errors import JournalError, ReplayError
from balrog_rag.contracts.kinds import EnvironmentKind, kind_of
from balrog_rag.contracts.outcome import PLAYER_LOST, RESUMABLE
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Recording, Step
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.episode.taken_actions import as_text
from balrog_rag.workers.host import HostedGame

OWN_NAMES = ("step", "health")
"""Names that every moment has: the number of steps so far, and hit points as a share of their maximum."""
_NOBODY = ProgramPlayer("recorded keys", {}, 0)


class ReplayableJournal:
    """A journal that can be replayed to any of its moments."""

    def __init__(self, path: Path, recording: Recording | None = None) -> None:
        """Read it; raise JournalError if it cannot be replayed."""
        self.path = path
        self.recording = journal.read(path) if recording is None else recording
        header = self.recording.header
        if header is None:
            raise journal.without_header(path)
        if header.spec.digest != header.spec_digest:
            raise JournalError(f"{path}: the spec was changed (its digest does not match); restore the file")
        self.header = header

    @property
    def spec(self) -> EpisodeSpec:
        """What determined the episode."""
        return self.header.spec

    @property
    def last(self) -> int:
        """The last moment from which somebody can play on."""
        end = self.recording.end
        over = end is not None and end.outcome not in RESUMABLE
        return self.recording.count - over

    def replay(
        self,
        until: int | None = None,
        see: "Callable[[int, Replay], None] | None" = None,
        done: Callable[[], bool] = lambda: False,
    ) -> "Replay":
        """Replay to a moment, or to the end; `see` is called with every moment on the way.

        The replay ends after the step in which `done` comes true. The caller closes the returned replay.
        """
        made = Replay(self.spec)
        try:
            if see is not None:
                see(0, made)
            for step in self.recording.steps:
                if done() or (until is not None and step.n >= until):
                    break
                keys = len(step.pressed) if until is None else min(len(step.pressed), until - step.n)
                self._take(made, step, keys, see)
                if step.pressed and keys < len(step.pressed):
                    break
        except BaseException:
            made.close()
            raise
        return made

    def _take(
        self, made: "Replay", step: Step, keys: int, see: "Callable[[int, Replay], None] | None"
    ) -> None:
        """Repeat a step, or the first key presses of a burst; refuse a replay that shows something else."""
        whole = keys == len(step.pressed)
        if step.pressed:
            end = self.recording.end
            lost = end.outcome if whole and end is not None and end.outcome in PLAYER_LOST else ""
            lost = lost if lost and end is not None and end.steps == step.n + keys else ""
            made.press(step, keys, lost, see)
        else:
            made.step(step, see)
        if whole and made.last.observation.digest != step.obs:
            raise ReplayError(
                f"{self.path}: step {step.n}: the replay shows something else than the journal; "
                "the game's version or its data files differ from those that wrote it"
            )


class Replay:
    """A game that is being replayed, as expressions read it."""

    def __init__(self, spec: EpisodeSpec) -> None:
        """Open the game."""
        self.game = HostedGame(spec.game)
        self.kind: EnvironmentKind = kind_of(spec.game.env)
        self.view: TaskView = self.game.view
        self.last: Transition = self.game.start
        self.steps = 0
        self._current: Transition | None = self.last
        self._numbers: Mapping[str, int] = self.last.observation.numbers
        self._actions: Counter[str] = Counter()

    def step(self, step: Step, see: "Callable[[int, Replay], None] | None") -> None:
        """Take a recorded action."""
        decision = Decision(step.action)
        read = self.view.read(decision.action)
        action = self.view.default_action if read is None else read
        self.last = self.game.step(action)
        self._passed(self.last.instead or as_text(action), self.last)
        if see is not None:
            see(self.steps, self)

    def press(self, step: Step, keys: int, lost: str, see: "Callable[[int, Replay], None] | None") -> None:
        """Press the first recorded keys of a burst."""
        pressed = iter(step.pressed)
        name = self.kind.hints.signals.press

        def moment() -> None:
            self._passed(name(next(pressed)), None)
            if see is not None:
                see(self.steps, self)

        burst = Burst(keys, step.pressed[:keys], lost, step.stopped)
        self.last = self.game.run(_NOBODY, keys, moment, burst)
        self._current = self.last

    def so_far(self) -> Transition:
        """Return the last step; within a burst, what its presses have led to until now."""
        if self._current is None:
            self._current = self.game.so_far()
        return self._current

    def close(self) -> None:
        """End the game."""
        self.game.close()

    def _passed(self, action: str, seen: Transition | None) -> None:
        self.steps += 1
        self._actions[action] += 1
        self._current = seen
        numbers = self.game.numbers
        if not self.kind.display.blank(numbers):
            self._numbers = numbers

    # --- what an expression reads ---

    @property
    def numbers(self) -> Mapping[str, int]:
        """The game's numbers."""
        return self._numbers

    def value(self, name: str) -> float:
        """Return the number of that name; for an event whether it has happened."""
        if name in self._numbers:
            return self._numbers[name]
        if name == "step":
            return self.steps
        if name == "health":
            return self.kind.hints.signals.health(self._numbers)
        return name in self._reached()

    def names(self) -> set[str]:
        """Return every name that this moment knows."""
        return {*self._numbers, *OWN_NAMES, *self._reached()}

    def _reached(self) -> set[str]:
        return {event_name(each) for listed in self.game.milestones().values() for each in listed}

    def shows(self, text: str) -> bool:
        """Whether the observation contains a text, whatever its case."""
        wanted = text.casefold()
        return any(wanted in part.text.casefold() for part in self.so_far().observation.parts)

    def did(self, action: str) -> int:
        """Return how often an action was taken, or a key pressed, so far."""
        return self._actions[action]


def event_name(milestone: str) -> str:
    """Return a milestone as a name in expressions: `Xp:2` as `xp_2`."""
    return re.sub(r"\W+", "_", milestone).strip("_").lower()
