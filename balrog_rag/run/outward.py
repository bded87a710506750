"""The settings by which a run reaches outside: where prompts and keys go, which files are read."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from balrog_rag import agents
from balrog_rag.config.frozen import leaf_items, thaw
from balrog_rag.config.schema import AgentConfig
from balrog_rag.models.weights import EMBEDDED
from balrog_rag.util.secrets import names_variable

OF_A_MODEL = ("backend", "name", "base_url", "api_key_env", "extra_headers", "extra_body", "options")
CARRIED = ("minilm", None)
"""Embedders and rerankers that run in this process and contact nothing."""
_PLACE = re.compile(r"(?:[\w+.-]+://|~|/|\.\.?/)\S+")
"""A URL, or a path that is not relative to the current folder's own files."""


def outward(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a plain configuration, or of a player, that reach outside, by key."""
    found = dict(_chosen(config))
    sections: dict[str, Any] = {name: config.get(name) or {} for name in ("agent", "model", "knowledge")}
    sections["env"] = {"options": (config.get("env") or {}).get("options") or {}}
    # Options of plug-ins are not known here, so any value that looks like an address, a path or a
    # reference to an environment variable counts, in whatever option it is.
    for key, value in leaf_items(sections):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and (_PLACE.fullmatch(one) or names_variable(one)) and _used(config, key):
                found[key] = value
    return found


def is_variable(key: str, value: Any) -> bool:
    """Whether a setting names an environment variable, whose value would be handed over."""
    return key.endswith("api_key_env") or (isinstance(value, str) and names_variable(value))


def _chosen(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    # Only this pair stays in the process: "local" with another name loads a model file from anywhere.
    if _asks(config) and config["model"]["backend"] != "scripted":
        embedded = (config["model"]["backend"], config["model"]["name"]) == ("local", EMBEDDED)
        yield from () if embedded else _under(config, "model", OF_A_MODEL)
    if _retrieves(config):
        yield from _of_knowledge(config)
    yield from _under(config, "agent", ("demonstrations", "options"))
    runner = config.get("runner") or {}
    if runner.get("backend") == "ray" and runner.get("address"):
        yield "runner.address", runner["address"]


def _of_knowledge(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    knowledge = config["knowledge"]
    # A bare name is a built-in corpus unless a folder of that name lies in the current directory.
    if not re.fullmatch(r"[\w-]+", knowledge["corpus"]) or Path(knowledge["corpus"]).exists():
        yield "knowledge.corpus", knowledge["corpus"]
    yield from _under(config, "knowledge", ("folder",))
    for part in ("embedder", "reranker"):
        if knowledge[part] not in CARRIED:
            yield f"knowledge.{part}", knowledge[part]
            options = (knowledge.get("options") or {}).get(knowledge[part]) or {}
            yield from leaf_items({"knowledge": {"options": {knowledge[part]: options}}})


def _under(config: Mapping[str, Any], section: str, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the keys of a section that have a value."""
    values = config[section]
    for key, value in leaf_items({section: {name: values[name] for name in names if name in values}}):
        if value not in (None, "", []):
            yield key, value


def _used(config: Mapping[str, Any], key: str) -> bool:
    """Whether a setting has any effect; texts of prompts never count as places."""
    if key.startswith("agent.prompts."):
        return False
    if key.startswith("model."):
        return _asks(config)
    return not key.startswith("knowledge.") or (
        _retrieves(config) and not key.startswith("knowledge.options.")
    )


def _agent(config: Mapping[str, Any]) -> AgentConfig:
    return thaw(config["agent"], AgentConfig)


def _asks(config: Mapping[str, Any]) -> bool:
    return agents.asks_model(_agent(config))


def _retrieves(config: Mapping[str, Any]) -> bool:
    return agents.retrieves(_agent(config))
