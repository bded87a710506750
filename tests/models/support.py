"""Shared by the tests of models: configurations of conf/model, and questions."""

from typing import Any

from omegaconf import OmegaConf

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import Message, Request
from balrog_rag.util.paths import data


def model_config(option: str, **changes: Any) -> ModelConfig:
    """conf/model/<option>.yaml with these values changed; `retry={...}` changes single keys of a section."""
    folder = data("conf") / "model"
    own = OmegaConf.load(folder / f"{option}.yaml")
    own.pop("defaults", None)
    merged = OmegaConf.merge(
        OmegaConf.structured(ModelConfig), OmegaConf.load(folder / "common" / "defaults.yaml"), own, changes
    )
    config = OmegaConf.to_object(merged)
    assert isinstance(config, ModelConfig)
    return config


ACTIONS = ("north", "south", "far east", "search", "kick", "pray")
RULES = "You play NetHack. These are the actions:\n\n" + "".join(f"{name}: do {name},\n" for name in ACTIONS)
ASK = "Current Observation:\nA newt.\n\nYou must output it strictly as `<|ACTION|>YOUR_CHOSEN_ACTION<|END|>`."


def question(number: int = 0, last: str = ASK) -> Request:
    """A question like an agent's; another number gives another question."""
    return Request((Message("system", RULES, stable=True), Message("user", f"Turn {number}.\n{last}")))
