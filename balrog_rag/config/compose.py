"""From words on a command line to one checked Config; every mistake is one line that names the key."""

import re
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

from balrog_rag.config import schema
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest
from balrog_rag.util.paths import data


def compose(overrides: list[str]) -> schema.Config:
    """The configuration of conf/ with these overrides, typed and checked."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir

    register_schema()
    with one_line_errors(overrides), initialize_config_dir(str(data("conf")), version_base="1.3"):
        return typed(hydra_compose("config", overrides=[as_hydra_wants(word) for word in overrides]))


def as_hydra_wants(word: str) -> str:
    """A user need not know which groups have a default (no `+`), nor which mappings take new names (`++`)."""
    name = word.partition("=")[0]
    if name.startswith("+") and name.lstrip("+") in group_options():
        return word.lstrip("+")
    parent = word.partition("=")[0].rpartition(".")[0]
    return f"++{word}" if parent and _in_mapping(parent) else word


def register_schema() -> None:
    """Tell Hydra the types that conf/ must keep."""
    from hydra.core.config_store import ConfigStore

    ConfigStore.instance().store("schema", node=schema.Config)


def typed(composed: Any) -> schema.Config:
    """OmegaConf's tree as plain dataclasses, complete and within every range."""
    from omegaconf import OmegaConf

    missing = sorted(OmegaConf.missing_keys(composed))
    if missing:
        raise ConfigError(f"{missing[0]}: no value; set it with {missing[0]}=...")
    config = OmegaConf.to_object(composed)
    assert isinstance(config, schema.Config)
    schema.check(config)
    return config


class one_line_errors:
    """Turns what Hydra and OmegaConf raise into a ConfigError of one line with the nearest names."""

    def __init__(self, overrides: list[str]) -> None:
        self.overrides = overrides

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        from hydra.errors import HydraException
        from omegaconf.errors import OmegaConfBaseException

        if isinstance(error, HydraException | OmegaConfBaseException):
            raise ConfigError(explain(error, self.overrides)) from error


def explain(error: BaseException, overrides: list[str]) -> str:
    """One line for a person who typed something wrong."""
    text = " ".join(_chain_text(error).split())
    for override in overrides:
        name = override.lstrip("+~").partition("=")[0].partition("@")[0]
        problem = _wrong_name(name, override)
        if problem:
            return problem
    if found := re.search(r"Could not find '([^']+)'", text):
        return _unknown_option(found.group(1))
    if found := re.search(r"(?:full_key|Full key): (\S+)", text):
        reason = re.split(r"\s(?:full_key|Full key): ", text)[0]
        return f"{found.group(1)}: {_tidy(reason)}"
    return _tidy(text)


def _chain_text(error: BaseException) -> str:
    """The message, and its cause's where Hydra hides the reason there."""
    cause = error.__cause__ or error.__context__
    return f"{error}" if cause is None else f"{cause}" if "full_key" in str(cause) else f"{error} {cause}"


NOISE = re.compile(r"\s*object_type=\S+|\s*reference_type=\S+|Set the environment variable.*")


def _tidy(text: str) -> str:
    return NOISE.sub("", text).strip()


def _wrong_name(name: str, override: str) -> str:
    """Empty where the key exists; else which part of it does not, with the nearest keys."""
    groups = group_options()
    if "=" not in override and not override.startswith("~"):
        return f"{override}: not KEY=VALUE; write it as {override}=VALUE or see --help"
    if name in groups:
        option = override.partition("=")[2]
        single = re.fullmatch(r"[\w./-]+", option)
        return _unknown_option(f"{name}/{option}") if single and option not in (*groups[name], "null") else ""
    if name.startswith("hydra") or override.startswith("+"):
        return ""
    keys = dict(schema.documented_keys())
    if name in keys or _in_mapping(name):
        return ""
    if any(key.startswith(f"{name}.") for key in keys):
        return ""
    return f"{name}: no such key{nearest(name, [*keys, *groups])}"


def _in_mapping(path: str) -> bool:
    """Whether a key is, or lies below, a mapping whose names the schema leaves free."""
    section: Any = schema.Config
    for part in path.split("."):
        hints = get_type_hints(section)
        if part not in {spec.name for spec in fields(section)}:
            return False
        section = hints[part]
        if not is_dataclass(section):
            return str(section).startswith("dict")
    return False


def _unknown_option(path: str) -> str:
    group, _, option = path.rpartition("/")
    names = group_options().get(group, [])
    return f"{group}={option}: no such {group}{nearest(option, names)}"


def group_options() -> dict[str, list[str]]:
    """The groups of conf/ and their options."""
    root = data("conf")
    return {
        folder.name: sorted(path.stem for path in folder.glob("*.yaml"))
        for folder in sorted(root.iterdir())
        if folder.is_dir()
    }
