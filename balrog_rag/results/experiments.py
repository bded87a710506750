"""Experiments as data: eval/experiments/NAME.yaml has the arms, conf/experiment/NAME.yaml common settings.

How a run departs from the experiment it is named after is stored in its configuration (`run.departures`), so
that every output can report it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.programs import plays, program_of
from balrog_rag.results import sweeps
from balrog_rag.util.paths import data

_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")


class ExperimentArm(msgspec.Struct, frozen=True):
    """One run of an experiment: its folder's name, and its overrides."""

    name: str
    overrides: tuple[str, ...]


class Experiment(msgspec.Struct, frozen=True):
    """A question, and the arms that answer it."""

    name: str
    title: str
    question: str
    baseline: str = ""
    arms: tuple[ExperimentArm, ...] = ()
    """None: a single run."""
    whose: str = ""
    """The authors, as in "not the paper's"; empty: one of ours."""
    free: tuple[str, ...] = ()
    """Overrides that are left to the user; an entry that ends in = . or @ is a prefix."""
    passages: Mapping[str, int] = {}
    """Number of passages in each corpus at that time."""
    needs: Mapping[str, str] = {}
    """For arms that need an extra: the package whose presence is checked."""
    optional: tuple[str, ...] = ()
    """Arms without which the experiment is complete: played last, and an unfinished one is not an error."""
    floors: Mapping[str, Sequence[str]] = {}
    """By column of arms, those that have its actions but no model. A column's arms begin with its name."""
    contrasts: Mapping[str, "ExperimentContrast"] = {}
    """What its question is about, the headline first."""

    def column(self, name: str) -> list[str]:
        """Return the arms of a column that ask a model."""
        floors = self.floors.get(name, ())
        of_it = [arm.name for arm in self.arms if arm.name == name or arm.name.startswith(f"{name}_")]
        return [arm for arm in of_it if arm not in floors]

    @property
    def playable(self) -> tuple[ExperimentArm, ...]:
        """The arms whose extras are installed."""
        return tuple(arm for arm in self.arms if not self.lacks(arm.name))

    def lacks(self, arm: str) -> bool:
        """Whether an arm needs an extra that is not installed."""
        return arm in self.needs and find_spec(self.needs[arm]) is None

    def arm(self, name: str) -> ExperimentArm:
        """Return the arm of that name; one without overrides if there is none."""
        return next((arm for arm in self.arms if arm.name == name), ExperimentArm(name, ()))


class ExperimentContrast(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sum of some arms minus the sum of others, game by game."""

    says: str
    plus: tuple[str, ...]
    minus: tuple[str, ...]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    title: str
    question: str
    baseline: str = ""
    arms: Mapping[str, list[str]] = {}
    whose: str = ""
    free: tuple[str, ...] = ()
    passages: Mapping[str, int] = {}
    needs: Mapping[str, str] = {}
    optional: tuple[str, ...] = ()
    floors: Mapping[str, list[str]] = {}
    contrasts: Mapping[str, ExperimentContrast] = {}


class _Alias(msgspec.Struct, forbid_unknown_fields=True):
    """An experiment that has another name now."""

    alias: str


def folder() -> Path:
    """The folder of experiment descriptions."""
    return data("eval") / "experiments"


def names() -> list[str]:
    """Names of all built-in experiments."""
    return sorted(path.stem for path in folder().glob("*.yaml"))


def find(name: str, theirs: Path | None = None) -> Experiment | None:
    """Return the experiment of that name; None if it is not described (a plain preset of settings).

    `theirs`: a folder of the user's with further descriptions.
    """
    own = theirs / f"{name}.yaml" if theirs is not None and _NAME.fullmatch(name) else None
    if name in names():
        path = folder() / f"{name}.yaml"
    elif own is not None and own.is_file():
        path = own
    else:
        return None
    try:
        renamed = msgspec.yaml.decode(path.read_bytes())
        if isinstance(renamed, dict) and "alias" in renamed:
            return find(msgspec.convert(renamed, _Alias).alias)
        read = msgspec.yaml.decode(path.read_bytes(), type=_File)
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError(f"{path}: not a valid experiment ({error})") from error
    if wrong := [arm for arm in read.arms if not _NAME.fullmatch(arm)]:
        raise ConfigError(f"{path}: arm {wrong[0]!r}: invalid name; use only letters, digits and _ . + -")
    if read.baseline not in (read.arms or [""]):
        raise ConfigError(
            f"{path}: baseline {read.baseline!r} is not an arm; use one of {', '.join(read.arms)}"
        )
    if unknown := [arm for arm in read.optional if arm not in read.arms]:
        raise ConfigError(f"{path}: optional {unknown[0]!r} is not an arm; use one of {', '.join(read.arms)}")
    if unknown := [arm for floor in read.floors.values() for arm in floor if arm not in read.arms]:
        raise ConfigError(f"{path}: floor {unknown[0]!r} is not an arm; use one of {', '.join(read.arms)}")
    for label, contrast in read.contrasts.items():
        if unknown := [arm for arm in (*contrast.plus, *contrast.minus) if arm not in read.arms]:
            known = ", ".join(read.arms)
            raise ConfigError(f"{path}: contrast {label}: {unknown[0]!r} is not an arm; use one of {known}")
    arms = tuple(ExperimentArm(arm, tuple(words)) for arm, words in read.arms.items())
    return Experiment(
        name,
        read.title,
        read.question,
        read.baseline,
        arms,
        read.whose,
        read.free,
        read.passages,
        read.needs,
        read.optional,
        read.floors,
        read.contrasts,
    )


def departure(config: Mapping[str, Any]) -> str:
    """Describe how a run departs from the experiment it is named after, or from BALROG's keys; else empty."""
    run = config.get("run") or {}
    name, departures = run.get("experiment"), run.get("departures")
    keys = _unlisted_keys(config)
    if not name or not departures:
        return keys
    described = find(str(name))
    whose = f"not {described.whose}: " if described and described.whose else ""
    found = f"{whose}experiment {name} with {'; '.join(map(str, departures))}"
    return f"{found}; {keys}" if keys else found


def _unlisted_keys(config: Mapping[str, Any]) -> str:
    """Say so if a program plays that may press keys which `env.actions=balrog` does not take."""
    name = str((config.get("agent") or {}).get("name"))
    options = (config.get("env") or {}).get("options") or {}
    kinds = (each for each in options.values() if isinstance(each, Mapping))
    chosen = {each.get("actions") for each in (options, *kinds)}
    if "balrog" not in chosen or not plays(name) or not program_of(name).unlisted_keys:
        return ""
    return f"agent={name} may press keys that env.actions=balrog does not take"


def grouped(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Merge equal sentences, each prefixed with all the names that it applies to."""
    names: dict[str, list[str]] = {}
    for name, sentence in pairs:
        if sentence:
            names.setdefault(sentence, []).append(name)
    return [f"{', '.join(dict.fromkeys(whom))}: {sentence}" for sentence, whom in names.items()]


def of_sweep(path: Path) -> Experiment | None:
    """The experiment that a sweep's folder was created from, or None.

    Of a description that is not built in, the folder has the title and the baseline.
    """
    sweep = sweeps.read(path)
    built_in = find(sweep.experiment)
    if built_in is not None or not sweep.title:
        return built_in
    arms = tuple(ExperimentArm(run.name, ()) for run in sweep.runs)
    return Experiment(sweep.experiment, sweep.title, "", sweep.baseline, arms)
