"""Experiments as data: eval/experiments/NAME.yaml has the arms, conf/experiment/NAME.yaml what they share.

What a run changed of the experiment that it is named after stands in its configuration (`run.departures`), so
that every output can say it.
"""

import re
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results import sweeps
from balrog_rag.util.paths import data

_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")


class ExperimentArm(msgspec.Struct, frozen=True):
    """One run of an experiment: its folder's name, and the words that make it."""

    name: str
    overrides: tuple[str, ...]


class Experiment(msgspec.Struct, frozen=True):
    """A question, and the arms that answer it."""

    name: str
    title: str
    question: str
    baseline: str = ""
    arms: tuple[ExperimentArm, ...] = ()
    """None: it is one run."""
    whose: str = ""
    """Whose experiment it is, as in "not the paper's"; empty: one of ours."""
    free: tuple[str, ...] = ()
    """Words that it leaves to whoever plays it; those that end in = . or @ are how such words begin."""
    passages: Mapping[str, int] = {}
    """How many passages each corpus had there."""
    needs: Mapping[str, str] = {}
    """Of arms that need an extra: the package by which it is known to be there."""

    @property
    def playable(self) -> tuple[ExperimentArm, ...]:
        """The arms that can be played here."""
        return tuple(arm for arm in self.arms if not self.lacks(arm.name))

    def lacks(self, arm: str) -> bool:
        """Whether an arm needs an extra that is not installed."""
        return arm in self.needs and find_spec(self.needs[arm]) is None

    def arm(self, name: str) -> ExperimentArm:
        """The arm of that name; one without words where it is none."""
        return next((arm for arm in self.arms if arm.name == name), ExperimentArm(name, ()))


class _File(msgspec.Struct, forbid_unknown_fields=True):
    title: str
    question: str
    baseline: str = ""
    arms: Mapping[str, list[str]] = {}
    whose: str = ""
    free: tuple[str, ...] = ()
    passages: Mapping[str, int] = {}
    needs: Mapping[str, str] = {}


def folder() -> Path:
    """Where experiments are described."""
    return data("eval") / "experiments"


def names() -> list[str]:
    """Every experiment that is described."""
    return sorted(path.stem for path in folder().glob("*.yaml"))


def find(name: str) -> Experiment | None:
    """The experiment of that name; None where it is not described (a plain preset of settings)."""
    if name not in names():
        return None
    path = folder() / f"{name}.yaml"
    try:
        read = msgspec.yaml.decode(path.read_bytes(), type=_File)
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError(f"{path}: is no description of an experiment ({error})") from error
    if wrong := [arm for arm in read.arms if not _NAME.fullmatch(arm)]:
        raise ConfigError(f"{path}: arm {wrong[0]!r}: a name is letters, digits and _ . + - only")
    if read.baseline not in (read.arms or [""]):
        raise ConfigError(f"{path}: baseline {read.baseline!r} is none of its arms: {', '.join(read.arms)}")
    arms = tuple(ExperimentArm(arm, tuple(words)) for arm, words in read.arms.items())
    return Experiment(
        name, read.title, read.question, read.baseline, arms, read.whose, read.free, read.passages, read.needs
    )


def departure(config: Mapping[str, Any]) -> str:
    """In what a run is not the experiment that it is named after; empty where it is that, or of none."""
    run = config.get("run") or {}
    name, departures = run.get("experiment"), run.get("departures")
    if not name or not departures:
        return ""
    described = find(str(name))
    whose = f"not {described.whose}: " if described and described.whose else ""
    return f"{whose}experiment {name} with {'; '.join(map(str, departures))}"


def grouped(told: Iterable[tuple[str, str]]) -> list[str]:
    """Sentences on things given by name, each said once, with the names of all whom it concerns."""
    names: dict[str, list[str]] = {}
    for name, sentence in told:
        if sentence:
            names.setdefault(sentence, []).append(name)
    return [f"{', '.join(dict.fromkeys(whom))}: {sentence}" for sentence, whom in names.items()]


def of_sweep(path: Path) -> Experiment | None:
    """The experiment that a sweep's folder was made by; None where it was none."""
    return find(sweeps.read(path).experiment)
