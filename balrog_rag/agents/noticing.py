"""What is new from one moment to the next: things in view, messages, falling hit points, hunger, ailments."""

import re
from collections.abc import Mapping

from balrog_rag.contracts.data import Observation

_NOUNS = (
    *("dark area", "vertical wall", "horizontal wall", "northwest room corner", "northeast room corner"),
    *("southwest corner", "southeast corner", "cross wall", "t up wall", "t down wall", "t west wall"),
    *("t east wall", "doorway", "vertical open door", "horizontal open door", "vertical closed door"),
    *("horizontal closed door", "tree", "air floor", "cloud floor", "water floor"),
)
TERRAIN = frozenset((*_NOUNS, *(f"{noun}s" for noun in _NOUNS), "bars"))
"""Walls, floors and doors, one or several: what a language observation names at every step, no news."""

PET = "tame "
"""How a pet's noun begins: no news either, and no danger."""

HUNGRY = 2
"""NetHack's hunger states from here on ask for food."""

_NOUN = re.compile(r"^(.+?) (?:very )?(?:far|near|adjacent)\b", re.MULTILINE)
_MOST = 4096


def things(observation: Observation) -> list[str]:
    """The nouns of a language observation that are neither mere terrain nor pets, in its order."""
    nouns = _NOUN.findall(observation.text("language observation"))
    return [noun for noun in nouns if noun not in TERRAIN and not noun.startswith(PET)]


def health(numbers: Mapping[str, int]) -> float:
    """Hit points as a share of their most."""
    return numbers["hp"] / numbers["max_hp"] if numbers["max_hp"] > 0 else 1.0


class Noticer:
    """Remembers what has been seen, and says what of a moment is new."""

    def __init__(self, forget: int, low: float) -> None:
        """Things unseen for `forget` steps are new again; hit points below the share `low` are noticed."""
        self._forget, self._low = forget, low
        self._last: dict[str, int] = {}
        self._numbers: Mapping[str, int] = {}
        self._step = 0

    def new(self, observation: Observation) -> list[str]:
        """What was not there lately; from now on it is known."""
        self._step += 1
        found = [f"{thing} came into view" for thing in things(observation) if self._unknown(thing)]
        message = re.sub(r"\d+", "#", observation.text("message").strip())
        if message and self._unknown(f"message: {message}"):
            found.append("a new message")
        found.extend(self._worse(observation.numbers))
        self._prune()
        return found

    def _unknown(self, name: str) -> bool:
        last = self._last.get(name)
        self._last[name] = self._step
        return last is None or self._step - last > self._forget

    def _worse(self, now: Mapping[str, int]) -> list[str]:
        before, self._numbers = self._numbers or now, now
        first = self._step == 1
        signs = [
            ("hit points are low", health(now) < self._low and (first or health(before) >= self._low)),
            ("hunger", now["hunger"] >= HUNGRY and (first or now["hunger"] > before["hunger"])),
            ("a new ailment", bool(now["condition"] & ~(0 if first else before["condition"]))),
        ]
        return [name for name, holds in signs if holds]

    def _prune(self) -> None:
        """Forget what would count as new anyway, so that long games do not fill the memory."""
        if len(self._last) > _MOST:
            oldest = self._step - self._forget
            self._last = {name: step for name, step in self._last.items() if step >= oldest}


def danger(before: Observation, now: Observation, low: float) -> str:
    """Why a plan made at one moment should not be followed blindly at the next; empty where nothing speaks
    against it."""
    if now.numbers["hp"] < before.numbers["hp"]:
        return "hit points fell"
    if health(now.numbers) < low:
        return "hit points are low"
    if now.notice:
        return "the last action was not valid"
    if now.text("message").strip():
        return "there is a message"
    known = set(things(before))
    if arrived := [thing for thing in things(now) if thing not in known]:
        return f"{arrived[-1]} came into view"
    if now.numbers["depth"] != before.numbers["depth"]:
        return "this is another level"
    return "" if now.digest != before.digest else "nothing changed"
