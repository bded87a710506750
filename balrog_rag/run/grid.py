"""The combinations of a sweep in Hydra's grammar: `a,b`, `choice(...)`, `range(...)`, `glob(...)`."""

import re
from itertools import product
from typing import TYPE_CHECKING

import msgspec

from balrog_rag.config import user_presets
from balrog_rag.config.mistakes import one_line_errors
from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.run.arms_of_words import experiment_of, meant, separate_arm, varied
from balrog_rag.util.paths import data

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

LONGEST_NAME = 120


class Combination(msgspec.Struct, frozen=True):
    """One run of a sweep: its name and its overrides."""

    name: str
    words: list[str]
    arm: str = ""
    """The arm of the experiment; its overrides come last."""
    optional: bool = False
    """Whether the experiment is complete without it."""


def combinations(words: list[str]) -> list[Combination]:
    """Every run of a sweep: each combination of swept values in each selected arm."""
    runs = of_values(words)
    return [arm for run in runs for arm in _arms(run, alone=len(runs) == 1)]


def of_values(words: list[str]) -> list[Combination]:
    """Every combination of the swept values; the last key varies fastest."""
    # Split off first: Hydra's grammar rejects some characters that a path may contain.
    folder, words = user_presets.split(words)
    fixed: dict[str, list[str]] = {user_presets.KEY: [f"{user_presets.KEY}={folder}"]} if folder else {}
    swept: dict[str, list[str]] = {}
    for override in _parsed(words):
        key = override.get_key_element()
        if not override.is_sweep_override():
            fixed[key] = [str(override.input_line)]
        elif override.is_discrete_sweep():
            swept[key] = [f"{key}={value}" for value in override.sweep_string_iterator()]
        else:
            raise ConfigError(f"{override.input_line}: unbounded; list the values, e.g. {key}=1,2,3")
    if empty := [key for key, values in swept.items() if not values]:
        raise ConfigError(f"{empty[0]}: no option matches; the sweep would be empty")
    always = [word for values in fixed.values() for word in values]
    chosen = [list(choice) for choice in product(*swept.values())]
    return [
        Combination(name, [*always, *choice]) for name, choice in zip(_names(chosen), chosen, strict=True)
    ]


def _arms(run: Combination, alone: bool) -> list[Combination]:
    """One run per selected arm of the experiment; the run itself if there is no experiment."""
    experiment = experiment_of(run.words)
    if experiment is None or not experiment.arms:
        return [run]
    if not (arms := meant(experiment, run.words).arms):
        name = _safe(",".join(varied(experiment, run.words))) if alone else run.name
        return [Combination(name, separate_arm(experiment, run.words))]
    return [
        Combination(
            arm.name if alone else f"{arm.name},{run.name}",
            [*run.words, *arm.overrides],
            arm.name,
            arm.name in experiment.optional,
        )
        for arm in arms
    ]


def _parsed(words: list[str]) -> list["Override"]:
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser

    with one_line_errors(words), initialize_config_dir(str(data("conf")), version_base="1.3"):
        parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
        return [parser.parse_overrides([word])[0] for word in words]


def _names(choices: list[list[str]]) -> list[str]:
    """Folder names that show the differences; numbered if two would be equal."""
    names = [_safe(",".join(choice)) or "run" for choice in choices]
    return [f"{name}-{number}" if names.count(name) > 1 else name for number, name in enumerate(names)]


def _safe(text: str) -> str:
    """Make a text usable as a folder name."""
    name = re.sub(r"[^\w.,=@+-]+", "_", text.replace("'", "").replace('"', "")).strip("._")
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 9]}-{digest(text)[:8]}"
