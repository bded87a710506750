"""The values of conf/ without overrides, read without Hydra: `--help` should not wait for its import."""

from pathlib import Path
from typing import Any

import yaml

from balrog_rag.config.frozen import thaw
from balrog_rag.config.schema import Config
from balrog_rag.util.paths import data


def default_values() -> Config:
    """Return the default configuration; the files that it comes from use a small part of Hydra's syntax."""
    root = data("conf")
    own = _read(root / "config.yaml")
    choices = [choice for choice in own.pop("defaults") if isinstance(choice, dict)]
    del own["hydra"]
    values: dict[str, Any] = {}
    for group, option in ((group, option) for choice in choices for group, option in choice.items()):
        if option is not None and not group.startswith("override "):
            values[group] = _preset(root / group, option)
    return thaw(_merged(values, own), Config)


def _preset(folder: Path, option: str) -> dict[str, Any]:
    """Return a preset's values, merged with those of the presets that it names."""
    own = _read(folder / f"{option}.yaml")
    values: dict[str, Any] = {}
    for name in own.pop("defaults", ["_self_"]):
        part = own if name == "_self_" else _preset(folder, name.removesuffix("@_here_"))
        values = _merged(values, part)
    return values


def _read(path: Path) -> dict[str, Any]:
    return dict(yaml.load(path.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {})


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = {**below, **above}
    both = (name for name in above if isinstance(below.get(name), dict) and isinstance(above[name], dict))
    return merged | {name: _merged(below[name], above[name]) for name in both}
