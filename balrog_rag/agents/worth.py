"""Whether a look-up now is likely to be worth its cost, judged by what the last ones brought.

Without weights by a rule: where at least half of what was found had not been shown lately, the next look-up
comes sooner, else later. With weights by a gate that was fitted to steps asked again without reference text.
"""

from collections.abc import Iterable, Mapping
from math import exp, log2

FEATURES = ("bias", "new", "since", "health", "hurt")
"""What a gate weighs: always 1; the share of the last passages that were new; the steps since the last
look-up (as a logarithm); the share of hit points left; whether they have just fallen."""


class Worth:
    """Keeps in mind what was shown and when."""

    def __init__(self, most: int, forget: int, gate: Mapping[str, float]) -> None:
        """At most `most` steps lie between look-ups; passages unseen for `forget` steps are new again."""
        self._most, self._forget, self._gate = most, forget, gate
        self._shown: dict[str, int] = {}
        self._at: int | None = None
        self._gap, self._new = 1, 1.0
        self._health: float | None = None

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
        if self._gate:
            return chance(self._gate, known) >= 0.5
        return step - self._at >= self._gap

    def took(self, step: int, ids: Iterable[str]) -> None:
        """A look-up was made and these passages were found."""
        found = list(ids)
        fresh = [each for each in found if step - self._shown.get(each, -self._forget - 1) > self._forget]
        self._new = len(fresh) / len(found) if found else 0.0
        self._gap = max(1, self._gap // 2) if self._new >= 0.5 else min(self._gap * 2, self._most)
        self._at = step
        self._shown.update(dict.fromkeys(found, step))


def chance(gate: Mapping[str, float], known: Mapping[str, float]) -> float:
    """The logistic curve at the weighed features."""
    weighed = sum(gate.get(name, 0.0) * value for name, value in known.items())
    return 1 / (1 + exp(-max(-50.0, min(50.0, weighed))))
