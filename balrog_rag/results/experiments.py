"""Experiments as data: eval/experiments/NAME.yaml has the arms, conf/experiment/NAME.yaml what they share."""

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results import sweeps
from balrog_rag.util.paths import data

_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")


class Arm(msgspec.Struct, frozen=True):
    """One run of an experiment: its folder's name, and the words that make it."""

    name: str
    overrides: tuple[str, ...]


class Experiment(msgspec.Struct, frozen=True):
    """A question, and the arms that answer it."""

    name: str
    title: str
    question: str
    baseline: str
    arms: tuple[Arm, ...]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    title: str
    question: str
    baseline: str
    arms: Mapping[str, list[str]]


def folder() -> Path:
    """Where experiments are described."""
    return data("eval") / "experiments"


def names() -> list[str]:
    """Every experiment with arms."""
    return sorted(path.stem for path in folder().glob("*.yaml"))


def find(name: str) -> Experiment | None:
    """The experiment of that name; None where it has no arms (a plain preset of settings)."""
    if name not in names():
        return None
    path = folder() / f"{name}.yaml"
    try:
        read = msgspec.yaml.decode(path.read_bytes(), type=_File)
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError(f"{path}: is no description of an experiment ({error})") from error
    if wrong := [arm for arm in read.arms if not _NAME.fullmatch(arm)]:
        raise ConfigError(f"{path}: arm {wrong[0]!r}: a name is letters, digits and _ . + - only")
    if read.baseline not in read.arms:
        raise ConfigError(f"{path}: baseline {read.baseline!r} is none of its arms: {', '.join(read.arms)}")
    arms = tuple(Arm(arm, tuple(words)) for arm, words in read.arms.items())
    return Experiment(name, read.title, read.question, read.baseline, arms)


def of_sweep(path: Path) -> Experiment | None:
    """The experiment that a sweep's folder was made by; None where it was none."""
    return find(sweeps.read(path).experiment)
