"""Estimate whether a look-up now is worth its cost, from what the last ones found and cost.

Without weights a rule decides: if enough of the passages found had not been shown lately, the next look-up
comes sooner, otherwise later. With weights a gate decides that was fitted to steps asked again without
reference text. How much is enough follows from the cost: a look-up pays if the chance of a changed action,
times what that is worth, is at least the mean cost so far; one half if `worth` is not set.
"""

from collections.abc import Iterable, Mapping
from math import exp, log2

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest

FEATURES = ("bias", "new", "since", "health", "hurt")
"""The gate's inputs: always 1; the share of the last passages that were new; the steps since the last
look-up (as a logarithm); the share of hit points left; whether they have just fallen."""

WORTH = "worth"
"""Key beside a gate's weights: the tokens that a changed action is worth."""

HALF = 0.5


class LookupWorth:
    """Remembers what was shown, and when."""

    def __init__(self, most: int, forget: int, gate: Mapping[str, float]) -> None:
        """At most `most` steps lie between look-ups; passages not shown for `forget` steps are new again."""
        self._most, self._forget, self._worth = most, forget, gate.get(WORTH)
        self._weights = {name: weight for name, weight in gate.items() if name != WORTH}
        self._shown: dict[str, int] = {}
        self._at: int | None = None
        self._gap, self._new = 1, 1.0
        self._health: float | None = None
        self._tokens, self._times = 0, 0

    def features(self, step: int, health: float) -> dict[str, float]:
        """Return what is known before this step's look-up, and remember the hit points for the next step."""
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
        """The share or chance from which a look-up pays, given this episode's mean cost."""
        return bar(self._tokens / self._times, self._worth) if self._times else HALF

    def took(self, step: int, ids: Iterable[str], tokens: int = 0) -> None:
        """Record a look-up: the passages found and the tokens it cost."""
        self._tokens, self._times = self._tokens + tokens, self._times + 1
        found = list(ids)
        fresh = [each for each in found if step - self._shown.get(each, -self._forget - 1) > self._forget]
        self._new = len(fresh) / len(found) if found else 0.0
        self._gap = max(1, self._gap // 2) if self._new >= self.enough else min(self._gap * 2, self._most)
        self._at = step
        self._shown.update(dict.fromkeys(found, step))

    def kept(self, tokens: int) -> None:
        """Record that the last look-up's text was shown again, which costs its tokens again."""
        self._tokens += tokens


def bar(tokens: float, worth: float | None) -> float:
    """Return the chance of a change at which a look-up of that many tokens pays for itself."""
    return min(1.0, tokens / worth) if worth else HALF


def chance(gate: Mapping[str, float], known: Mapping[str, float]) -> float:
    """Return the logistic function of the weighted features."""
    weighed = sum(gate.get(name, 0.0) * value for name, value in known.items())
    return 1 / (1 + exp(-max(-50.0, min(50.0, weighed))))


def check_gate(gate: Mapping[str, float]) -> None:
    """Reject unknown weights and a non-positive worth."""
    known = (*FEATURES, WORTH)
    for name in gate:
        if name not in known:
            raise ConfigError(f"agent.retrieval.gate.{name}: no such weight{nearest(name, known)}")
    if gate.get(WORTH, 1) <= 0:
        raise ConfigError(f"agent.retrieval.gate.{WORTH}={gate[WORTH]:g}: must be more than 0")
