"""Compose presets with Hydra, and keep the result: the same presets are often chosen again with other values.

Hydra takes a tenth of a second to find, read and merge the files of a choice such as `agent=naive`.
Sweeps, notebooks and servers compose many configurations of few choices, so overrides of single values are
applied to a copy of the result. A choice is composed again once a file has changed or a plug-in was added.
"""

from collections.abc import Collection, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from balrog_rag.config.groups import plugged_agents, register_schema
from balrog_rag.config.user_presets import search_path
from balrog_rag.contracts import registry
from balrog_rag.util.paths import data

MOST = 64
"""Choices kept; each takes a third of a megabyte."""


class Composed(NamedTuple):
    """What Hydra composed: the configuration as a tree of OmegaConf, and the option of `model=`."""

    tree: Any
    model: str | None


_kept: dict[Any, Composed] = {}


def composed(words: Sequence[str], groups: Collection[str], folder: Path | None) -> Composed:
    """Compose overrides in Hydra's form, with the presets of a user's folder if there is one."""
    choices = [word for word in words if _chooses(word, groups)]
    values = _values([word for word in words if word not in choices])
    if values is None:
        return _by_hydra(words, folder)
    # Plug-ins may have been installed or registered since, and files changed.
    plugged = (plugged_agents(), tuple(registry.models.plugged()))
    state = (tuple(choices), folder, plugged, _files(groups, folder))
    if state not in _kept:
        if len(_kept) >= MOST:
            _kept.pop(next(iter(_kept)))
        _kept[state] = _by_hydra(choices, folder)
    kept = _kept[state]
    tree = deepcopy(kept.tree)
    if not _applied(values, tree):
        return _by_hydra(words, folder)  # which says what is wrong with a value
    return Composed(tree, kept.model)


def _chooses(word: str, groups: Collection[str]) -> bool:
    return word.lstrip("+~").partition("=")[0].partition("@")[0] in groups


def _by_hydra(words: Sequence[str], folder: Path | None) -> Composed:
    from hydra import compose, initialize_config_dir
    from omegaconf import flag_override

    register_schema()
    with initialize_config_dir(str(data("conf")), version_base="1.3"):
        tree = compose("config", overrides=[*search_path(folder), *words], return_hydra_config=True)
    model = tree.hydra.runtime.choices.get("model")
    with flag_override(tree, ["struct", "readonly"], False):
        del tree["hydra"]
    return Composed(tree, model)


def _values(words: Sequence[str]) -> list[Any] | None:
    """Parse overrides of single values; None if one does more, such as deleting a key."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        parsed = OverridesParser.create().parse_overrides(list(words))
    except HydraException:
        return None
    simple = all(
        not each.is_delete()
        and not each.is_sweep_override()
        and not each.is_hydra_override()
        and each.package is None
        and "/" not in each.key_or_group
        for each in parsed
    )
    return parsed if simple else None


def _applied(values: Sequence[Any], tree: Any) -> bool:
    """Set the values in the tree as Hydra does; return False if one of them is refused."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        for each in values:
            key, value = each.key_or_group, each.value()
            if each.is_add() and OmegaConf.select(tree, key, throw_on_missing=False) is not None:
                return False
            OmegaConf.update(tree, key, value, merge=True, force_add=each.is_add() or each.is_force_add())
    except OmegaConfBaseException:
        return False
    return True


def _files(groups: Collection[str], folder: Path | None) -> tuple[tuple[str, int, int], ...]:
    """The preset files with what changes when they are edited."""
    roots = [data("conf"), *([folder] if folder else [])]
    presets = (path for root in roots for group in groups for path in (root / group).rglob("*.yaml"))
    found = ((str(path), path.stat()) for path in (roots[0] / "config.yaml", *sorted(presets)))
    return tuple((path, status.st_mtime_ns, status.st_size) for path, status in found)
