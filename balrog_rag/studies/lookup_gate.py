"""A gate for look-ups, learned from steps that were asked again without reference text.

A step counts as changed if the answer without reference text differed, and the answer asked again with it was
the same: a change that the model makes by chance is not credited to the look-up. A logistic regression with
shrinkage is fitted on features that an agent knows before a look-up. The gate opens if the probability of a
change, times the worth of a change, is at least the cost of a look-up, which the same record contains. The
data cannot show what a change is worth; the default is twice a look-up.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from balrog_rag.agents.lookup_worth import FEATURES, HALF, WORTH, LookupWorth, bar, chance
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.episode import journal
from balrog_rag.results import run_folder
from balrog_rag.results.asked_again import AskedAgain, StepCost, kept
from balrog_rag.util.shell_commands import command

LEAST = 20
"""Minimum number of steps asked again for a fit."""
_SHRUNK = 1.0
_ROUNDS = 50
Floats = NDArray[np.float64]


class FittedGate(msgspec.Struct, frozen=True):
    """The fitted gate, and the data that it was fitted on."""

    weights: dict[str, float]
    steps: int
    changed: int
    opened: int
    """At how many of the steps the gate would look something up."""
    kept_changes: int
    """How many of the changed steps are among those."""
    cost: StepCost | None
    """Mean cost of reference text at such a step; None if the record lacks it."""
    worth: float | None
    """The worth of a changed action in tokens."""
    enough: float
    """The probability of a change above which it opened at these steps."""

    @property
    def override(self) -> str:
        """The overrides that play with it."""
        known = {**self.weights, **({WORTH: self.worth} if self.worth else {})}
        inner = ",".join(f"{name}:{weight:.4g}" for name, weight in known.items())
        return f"agent.retrieval.when=adaptive agent.retrieval.gate={{{inner}}}"

    @property
    def summary(self) -> str:
        """Describe the fit, the cost of look-ups, and how to play with the gate."""
        lines = [
            f"fitted on {self.steps} steps, of which reference text changed the action at {self.changed};",
            *self._cost(),
            f"on these steps the gate opens at {self.opened} and keeps {self.kept_changes} of the changes",
            f"play with it: {self.override}",
        ]
        if self.changed in (0, self.steps):
            lines.insert(
                -1, "the result is the same at all of these steps, so the gate learned nothing; sample more"
            )
        return "\n".join(lines)

    def _cost(self) -> list[str]:
        if self.cost is None or self.worth is None:
            return ["the record lacks the cost of look-ups, so the gate opens at a probability of one half;"]
        dollars = "" if self.cost.dollars is None else f", {self.cost.dollars:.2g} dollars"
        return [
            f"with it a step took {self.cost.tokens} tokens{dollars} and {self.cost.seconds:.2g} s more;",
            f"if a change is worth {self.worth:.4g} tokens, its probability must be {self.enough:.2f};",
        ]


def fit(run: Path, worth: float | None = None) -> FittedGate:
    """Fit the gate to a run's counterfactual record; `worth` is the worth of a changed action in tokens."""
    found = kept(run)
    if found is None or len(found.asked) < LEAST:
        count = len(found.asked) if found else 0
        raise ConfigError(
            f"{run}: {count} steps were asked again, and a gate needs {LEAST}; "
            f"run {command('counterfactual', run, '--sample', 200)}"
        )
    rows = [(known, _changed(one)) for one in found.asked if (known := _known(run, one)) is not None]
    x = np.array([[known[name] for name in FEATURES] for known, _ in rows])
    y = np.array([float(changed) for _, changed in rows])
    weights = dict(zip(FEATURES, map(float, logistic(x, y)), strict=True))
    cost = _mean(found.asked)
    worth = worth or (2.0 * cost.tokens if cost else None)
    enough = bar(cost.tokens, worth) if cost else HALF
    opened = [chance(weights, known) >= enough for known, _ in rows]
    both = sum(bool(changed and open_) for (_, changed), open_ in zip(rows, opened, strict=True))
    return FittedGate(weights, len(rows), int(y.sum()), sum(opened), both, cost, worth, enough)


def _mean(asked: Sequence[AskedAgain]) -> StepCost | None:
    """The mean cost of reference text at a step; None if it is unknown or zero."""
    took = [one.more for one in asked if one.more is not None]
    tokens = round(sum(each.tokens for each in took) / len(took)) if took else 0
    if tokens <= 0:
        return None
    prices = [each.dollars for each in took if each.dollars is not None]
    dollars = sum(prices) / len(took) if len(prices) == len(took) else None
    return StepCost(tokens, dollars, sum(each.seconds for each in took) / len(took))


def _changed(one: AskedAgain) -> bool:
    return one.without != one.action and one.again == one.action


def _known(run: Path, one: AskedAgain) -> dict[str, float] | None:
    """The features that the agent knew at that step before its look-up."""
    recording = journal.read(run_folder.journal_path(run, one.episode))
    if recording.header is None:
        return None
    spec = recording.header.spec
    retrieval = spec.last_player.agent["retrieval"]
    worth = LookupWorth(int(retrieval["every"]), int(retrieval["forget"]), {})
    signals = kind_of(spec.game.env).hints.signals
    for step, numbers, ids in _moments(recording):
        known = worth.features(step, signals.health(numbers))
        if step == one.step:
            return known
        if ids is not None:
            worth.took(step, ids)
    return None


def _moments(recording: journal.Recording) -> Iterator[tuple[int, Mapping[str, int], list[str] | None]]:
    """Each step with the numbers that the agent saw, and the found passages; None without a look-up."""
    numbers: dict[str, int] = {}
    ids: list[str] | None = None
    for entry in recording.entries:
        if isinstance(entry, journal.Start):
            numbers = dict(entry.numbers)
        elif isinstance(entry, journal.Lookup):
            ids = [*(ids or []), *(each.id for each in entry.passages)]
        elif isinstance(entry, journal.Step):
            yield entry.n, dict(numbers), ids
            numbers.update(entry.numbers)
            ids = None


def logistic(x: Floats, y: Floats) -> Floats:
    """Newton's method on the penalized likelihood; the first column is the constant, which is not shrunk."""
    weights = np.zeros(x.shape[1])
    shrink = np.diag([1e-6, *[_SHRUNK] * (x.shape[1] - 1)])
    for _ in range(_ROUNDS):
        expected = 1 / (1 + np.exp(-np.clip(x @ weights, -50, 50)))
        slope = x.T @ (y - expected) - shrink @ weights
        curve = (x * (expected * (1 - expected))[:, None]).T @ x + shrink
        step = np.clip(np.linalg.solve(curve + 1e-9 * np.eye(len(curve)), slope), -4, 4)
        weights = weights + step
        if np.abs(step).max() < 1e-8:
            break
    return np.asarray(np.clip(weights, -25, 25))
