"""Detect what is new from one moment to the next: things in view, messages, falling health, ailments."""

import re

from balrog_rag.contracts.data import Observation
from balrog_rag.contracts.kinds import EnvironmentSignals, Numbers

_MOST = 4096


class Noticer:
    """Remembers what has been seen and returns what is new."""

    def __init__(self, signals: EnvironmentSignals, forget: int, low: float, states: bool = False) -> None:
        """Things not seen for `forget` steps are new again; hit points below the share `low` are reported.

        With `states` the kind's lasting states are reported too, but everyday messages are not.
        """
        self._states = states
        self._signals, self._forget, self._low = signals, forget, low
        self._last: dict[str, int] = {}
        self._numbers: Numbers = {}
        self._step = 0

    def new(self, observation: Observation) -> list[str]:
        """Return what was not there lately, and remember it."""
        self._step += 1
        things = self._signals.things(observation)
        found = [f"{thing} came into view" for thing in things if self._unknown(thing)]
        said = (self._signals.news if self._states else self._signals.message)(observation)
        # Digits are masked, or a message that counts something would be new every time.
        message = re.sub(r"\d+", "#", said.strip())
        if message and self._unknown(f"message: {message}"):
            found.append("a new message")
        found.extend(self._worse(observation.numbers))
        lasting = self._signals.states(observation) if self._states else []
        found.extend(state for state in lasting if self._due(state))
        self._prune()
        return found

    def _due(self, state: str) -> bool:
        """Whether to report a lasting state: the first time, and again every `forget` steps."""
        last = self._last.get(f"state: {state}")
        due = last is None or self._step - last > self._forget
        if due:
            self._last[f"state: {state}"] = self._step
        return due

    def _unknown(self, name: str) -> bool:
        last = self._last.get(name)
        self._last[name] = self._step
        return last is None or self._step - last > self._forget

    def _worse(self, now: Numbers) -> list[str]:
        before, self._numbers = self._numbers, now
        signals, first = self._signals, self._step == 1
        low = signals.health(now) < self._low and (first or signals.health(before) >= self._low)
        return [*(["hit points are low"] if low else []), *signals.ailments(before, now)]

    def _prune(self) -> None:
        """Forget what would count as new anyway, so that long games do not fill the memory."""
        if len(self._last) > _MOST:
            oldest = self._step - self._forget
            self._last = {name: step for name, step in self._last.items() if step >= oldest}


def danger(signals: EnvironmentSignals, before: Observation, now: Observation, low: float) -> str:
    """Return why a plan made at one moment should not be followed blindly at the next; "" if nothing speaks
    against it."""
    if signals.hurt(before.numbers, now.numbers):
        return "hit points fell"
    if signals.health(now.numbers) < low:
        return "hit points are low"
    if now.notice:
        return "the last action was not valid"
    if signals.message(now).strip():
        return "there is a message"
    known = set(signals.things(before))
    if arrived := [thing for thing in signals.things(now) if thing not in known]:
        return f"{arrived[-1]} came into view"
    if signals.moved(before.numbers, now.numbers):
        return "this is another level"
    return "" if now.digest != before.digest else "nothing changed"
