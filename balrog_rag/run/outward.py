"""The settings by which a run reaches outside: where prompts and keys go, which files are read."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from balrog_rag.agents import Needs
from balrog_rag.models.weights import EMBEDDED
from balrog_rag.util.secrets import names_variable

Settings = Mapping[str, Any]
"""A configuration flattened: dotted keys and their values."""
OF_A_MODEL = ("backend", "name", "base_url", "api_key_env", "extra_headers", "extra_body", "options")
CARRIED = ("minilm", None)
"""Embedders and rerankers that run in this process and contact nothing."""
NOT_READ = ("agent.prompts.", "knowledge.options.")
"""Prompts are text, not places; of the options only those of the chosen embedder and reranker are used."""
_PLACE = re.compile(r"(?:[\w+.-]+://|~|/|\.\.?/)\S+")
"""A URL, or a path that is not relative to the current folder's own files."""


def outward(needs: Needs, settings: Settings) -> dict[str, Any]:
    """Return the settings of a configuration, or of a player, that reach outside, by key."""
    found = dict(_chosen(settings, needs))
    # Options of plug-ins are not known here, so any value that looks like an address, a path or a
    # reference to an environment variable counts, in whatever option it is.
    for section in _read_sections(needs):
        for key, value in _under(settings, section):
            if _names_place(value) and not key.startswith(NOT_READ):
                found[key] = value
    return found


def is_variable(key: str, value: Any) -> bool:
    """Whether a setting names an environment variable, whose value would be handed over."""
    return key.endswith("api_key_env") or (isinstance(value, str) and names_variable(value))


def _chosen(settings: Settings, needs: Needs) -> Iterator[tuple[str, Any]]:
    """Yield the settings that name a place whatever their value looks like."""
    # Only this pair stays in the process: "local" with another name loads a model file from anywhere.
    model = settings.get("model.backend"), settings.get("model.name")
    if needs.model and model[0] != "scripted" and model != ("local", EMBEDDED):
        for name in OF_A_MODEL:
            yield from _under(settings, f"model.{name}")
    if needs.knowledge:
        yield from _of_knowledge(settings)
    for key in ("agent.demonstrations", "agent.options"):
        yield from _under(settings, key)
    yield from _under(settings, "limits.against")
    yield from _under(settings, "runner.store")
    if settings.get("runner.backend") == "ray":
        yield from _under(settings, "runner.address")


def _of_knowledge(settings: Settings) -> Iterator[tuple[str, Any]]:
    corpus = settings["knowledge.corpus"]
    # A bare name is a built-in corpus unless a folder of that name lies in the current directory.
    if not re.fullmatch(r"[\w-]+", corpus) or Path(corpus).exists():
        yield "knowledge.corpus", corpus
    yield from _under(settings, "knowledge.folder")
    for part in ("embedder", "reranker"):
        if (name := settings.get(f"knowledge.{part}")) not in CARRIED:
            yield f"knowledge.{part}", name
            quoted = f"'{name}'" if "." in str(name) else name
            yield from _under(settings, f"knowledge.options.{quoted}", empty=True)


def _read_sections(needs: Needs) -> Iterator[str]:
    """Return the sections whose values are used."""
    yield "agent"
    if needs.model:
        yield "model"
    if needs.knowledge:
        yield "knowledge"
    yield "env.options"


def _under(settings: Settings, key: str, empty: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield this setting and those below it that have a value."""
    for name, value in settings.items():
        if (name == key or name.startswith(f"{key}.")) and (empty or value not in (None, "", [])):
            yield name, value


def _names_place(value: Any) -> bool:
    """Whether a value, or one in a list, is an address, a path or the name of a variable."""
    texts = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
    return any(_PLACE.fullmatch(one) or names_variable(one) for one in texts)
