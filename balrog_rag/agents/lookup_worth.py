"""Whether a look-up now is likely to be worth its cost, judged by what the last ones brought and took.

Without weights by a rule: where enough of what was found had not been shown lately, the next look-up comes
sooner, else later. With weights by a gate that was fitted to steps asked again without reference text.
What is enough follows from the cost: a look-up pays where the chance of what it is for, times what that is
worth, is at least what look-ups took so far; one half where nothing is said of worth.
"""

from collections.abc import Iterable, Mapping
from math import exp, log2

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest

FEATURES = ("bias", "new", "since", "health", "hurt")
"""What a gate weighs: always 1; the share of the last passages that were new; the steps since the last
look-up (as a logarithm); the share of hit points left; whether they have just fallen."""

WORTH = "worth"
"""Beside a gate's weights: the tokens that a changed action is worth."""

HALF = 0.5


class LookupWorth:
    """Keeps in mind what was shown and when."""

    def __init__(self, most: int, forget: int, gate: Mapping[str, float]) -> None:
        """At most `most` steps lie between look-ups; passages unseen for `forget` steps are new again."""
        self._most, self._forget, self._worth = most, forget, gate.get(WORTH)
        self._weights = {name: weight for name, weight in gate.items() if name != WORTH}
        self._shown: dict[str, int] = {}
        self._at: int | None = None
        self._gap, self._new = 1, 1.0
        self._health: float | None = None
        self._tokens, self._times = 0, 0

    def features(self, step: int, health: float) -> dict[str, float]:
        """What is known of the step before its look-up; from now on its hit points are those before."""
        before, self._health = self._health, health
        since = step - self._at if self._at is not None else self._most
        hurt = before is not None and health < before
        return {
            "bias": 1.0, "new": self._new, "since": log2(1 + since), "health": health, "hurt": float(hurt)
        }  # fmt: skip

    def due(self, step: int, health: float) -> bool:
        """Whether to look something up at this step."""
        known = self.features(step, health)
        if self._at is None or step - self._at >= self._most:
            return True
        if self._weights:
            return chance(self._weights, known) >= self.enough
        return step - self._at >= self._gap

    @property
    def enough(self) -> float:
        """The share or chance from which on a look-up pays, by what this episode's took on average."""
        return bar(self._tokens / self._times, self._worth) if self._times else HALF

    def took(self, step: int, ids: Iterable[str], tokens: int = 0) -> None:
        """A look-up was made, took so many tokens, and these passages were found."""
        self._tokens, self._times = self._tokens + tokens, self._times + 1
        found = list(ids)
        fresh = [each for each in found if step - self._shown.get(each, -self._forget - 1) > self._forget]
        self._new = len(fresh) / len(found) if found else 0.0
        self._gap = max(1, self._gap // 2) if self._new >= self.enough else min(self._gap * 2, self._most)
        self._at = step
        self._shown.update(dict.fromkeys(found, step))

    def kept(self, tokens: int) -> None:
        """The last look-up's text was shown once more, and took so many tokens again."""
        self._tokens += tokens


def bar(tokens: float, worth: float | None) -> float:
    """The chance of a change at which a look-up of so many tokens pays for itself."""
    return min(1.0, tokens / worth) if worth else HALF


def chance(gate: Mapping[str, float], known: Mapping[str, float]) -> float:
    """The logistic curve at the weighed features."""
    weighed = sum(gate.get(name, 0.0) * value for name, value in known.items())
    return 1 / (1 + exp(-max(-50.0, min(50.0, weighed))))


def check_gate(gate: Mapping[str, float]) -> None:
    """Refuse weights of nothing that a gate knows, and a worth that is none."""
    known = (*FEATURES, WORTH)
    for name in gate:
        if name not in known:
            raise ConfigError(f"agent.retrieval.gate.{name}: no such weight{nearest(name, known)}")
    if gate.get(WORTH, 1) <= 0:
        raise ConfigError(f"agent.retrieval.gate.{WORTH}={gate[WORTH]:g}: must be more than 0")
