"""From words on a command line to one checked Config; every mistake is one line that names the key."""

from typing import Any

from balrog_rag.config import schema
from balrog_rag.config.checks import check
from balrog_rag.config.groups import group_options, register_schema
from balrog_rag.config.mistakes import in_mapping, one_line_errors, refuse_misleading
from balrog_rag.config.providers import preset_provider, with_provider
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.paths import data


def compose(overrides: list[str]) -> schema.Config:
    """The configuration of conf/ with these overrides, typed and checked."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from omegaconf import flag_override

    register_schema()
    refuse_misleading(overrides)
    words = [as_hydra_wants(word) for word in overrides]
    with one_line_errors(overrides), initialize_config_dir(str(data("conf")), version_base="1.3"):
        composed = hydra_compose("config", overrides=words, return_hydra_config=True)
        chosen = composed.hydra.runtime.choices
        with flag_override(composed, ["struct", "readonly"], False):
            del composed["hydra"]
        return _with_provider(typed(composed), preset_provider(chosen.get("model")))


def _with_provider(config: schema.Config, provider: str | None) -> schema.Config:
    """A model's own name, completed by the provider that was chosen with `model=`."""
    model = config.model
    if model.backend == "litellm":
        model.name = with_provider(model.name, provider, model.price_table)
    return config


def as_hydra_wants(word: str) -> str:
    """A user need not know which groups have a default (no `+`), nor which mappings take new names (`++`)."""
    name = word.partition("=")[0]
    if name.startswith("+") and name.lstrip("+") in group_options():
        return word.lstrip("+")
    parent = word.partition("=")[0].rpartition(".")[0]
    return f"++{word}" if parent and in_mapping(parent) else word


def typed(composed: Any) -> schema.Config:
    """OmegaConf's tree as plain dataclasses, complete and within every range."""
    from omegaconf import OmegaConf

    missing = sorted(OmegaConf.missing_keys(composed))
    if missing:
        raise ConfigError(f"{missing[0]}: no value; set it with {missing[0]}=...")
    config = OmegaConf.to_object(composed)
    assert isinstance(config, schema.Config)
    check(config)
    return config
