"""Compose a checked Config from command-line overrides; every error is one line that names the key."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from balrog_rag.config import schema, user_presets
from balrog_rag.config.agent_schema import OWN_LOOPS
from balrog_rag.config.checks import check
from balrog_rag.config.groups import group_options
from balrog_rag.config.mistakes import one_line_errors, refuse_mistakes
from balrog_rag.config.own_files import quoted, with_own_file
from balrog_rag.config.plain_secrets import refuse_in, refuse_in_words
from balrog_rag.config.preset_options import of_chosen_games
from balrog_rag.config.presets import composed
from balrog_rag.config.providers import preset_provider, with_provider
from balrog_rag.config.short_forms import in_full, in_mapping
from balrog_rag.contracts.errors import ConfigError


def compose(overrides: list[str]) -> schema.Config:
    """Compose conf/ with these overrides into a typed, checked Config."""
    folder, overrides = user_presets.split(overrides)
    with user_presets.found_in(folder):
        config = _composed(overrides, folder)
        if config.agent.name not in OWN_LOOPS or config.model.backend == "client":
            return config
        return _composed(with_client_model(config.agent.name, overrides), folder)


def _composed(overrides: list[str], folder: Path | None) -> schema.Config:
    refuse_in_words(overrides)
    overrides = [word for given in overrides for word in _with_files(given) for word in with_own_file(word)]
    refuse_mistakes(overrides)
    words = [as_hydra_wants(word) for word in overrides]
    with one_line_errors(overrides):
        found = composed(words, group_options(), folder)
        config = _completed(typed(found.tree), preset_provider(found.model))
    config.env.options = of_chosen_games(config, words)
    refuse_in(asdict(config))
    return config


def with_client_model(agent: str, overrides: list[str]) -> list[str]:
    """Return the overrides for an agent whose decisions come from outside the harness."""
    kept = [word for word in overrides if word.lstrip("+").partition("=")[0] != "model"]
    # First, so that a name that the user gives stays.
    return ["model=client", f"model.name={quoted(OWN_LOOPS[agent])}", *kept]


def _completed(config: schema.Config, provider: str | None) -> schema.Config:
    """Fill in what the overrides leave open: the provider of the model chosen by `model=`, prompt files."""
    model, agent = config.model, config.agent
    if model.backend == "litellm":
        model.name = with_provider(model.name, provider, model.price_table)
    # Only for new runs: values from a run folder, which may be untrusted, are taken literally.
    agent.prompts = {name: _text(f"agent.prompts.{name}", text) for name, text in agent.prompts.items()}
    return config


def _with_files(word: str) -> list[str]:
    """Expand `agent.prompts=@FOLDER` into one override per prompt file; return others unchanged."""
    key, _, given = word.lstrip("+").partition("=")
    if key in ("knowledge.prior", "knowledge.meaning") and given.replace(" ", "") == "{}":
        return [f"{key}=null"]  # merging an empty mapping would have no effect
    folder = Path(given.strip("'\"")[1:]).expanduser()
    if key != "agent.prompts" or not given.strip("'\"").startswith("@"):
        return [word]
    files = sorted(folder.glob("*.j2"))
    if not files:
        raise ConfigError(f"{word}: the folder contains no prompt files (NAME.j2)")
    return [f"agent.prompts.{file.stem}={quoted(f'@{file}')}" for file in files]


def _text(key: str, given: str) -> str:
    """Return the text, or the content of the file if it is given as `@FILE`."""
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).expanduser().read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{key}={given}: the file cannot be read ({reason})") from error


def as_hydra_wants(word: str) -> str:
    """Add Hydra's `+` or `++`, so that users need not care which groups have defaults or keys are new."""
    word = in_full(word)
    name = word.partition("=")[0]
    if name.startswith("+") and name.lstrip("+") in group_options():
        return word.lstrip("+")
    return f"++{word}" if in_mapping(name) else word


def typed(composed: Any) -> schema.Config:
    """Convert OmegaConf's tree to dataclasses; every value must be set and valid."""
    from omegaconf import OmegaConf
    from omegaconf.errors import MissingMandatoryValue

    try:
        config = OmegaConf.to_object(composed)
    except MissingMandatoryValue:
        missing = min(OmegaConf.missing_keys(composed))
        raise ConfigError(f"{missing}: no value set; add {missing}=...") from None
    assert isinstance(config, schema.Config)
    check(config)
    return config
