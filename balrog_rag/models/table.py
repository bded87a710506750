"""LiteLLM's table of models, read from its file: context and prices, without importing LiteLLM."""

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

FILE = "model_prices_and_context_window_backup.json"


def context_of(name: str) -> int | None:
    """Return the context length of a model by its LiteLLM id; None if unknown."""
    parts = name.split("/")
    for candidate in ("/".join(parts[place:]) for place in range(len(parts))):
        if candidate in _table():
            entry = line(candidate)
            for said in (entry.get("max_input_tokens"), entry.get("max_tokens")):
                if isinstance(said, int | float) and said > 0:
                    return int(said)
            return None
    return None


def openai_line(model: str) -> Mapping[str, Any]:
    """Return the entry of an OpenAI model; a fine-tuned model has the prices of its base model."""
    return hosted_line("openai", model)


def hosted_line(provider: str, model: str) -> Mapping[str, Any]:
    """Return the entry of a model that its maker serves."""
    base = ":".join(model.split(":")[:2]) if model.startswith("ft:") else model
    entries = (line(name) for name in (f"{provider}/{model}", model, base))
    return next((entry for entry in entries if entry.get("litellm_provider") == provider), {})


def line(name: str) -> Mapping[str, Any]:
    """Return the table's entry under exactly that name; {} if there is none."""
    raw = _table().get(name)
    entry: Any = msgspec.json.decode(raw) if raw is not None else {}
    return entry if isinstance(entry, dict) else {}


@cache
def _table() -> dict[str, msgspec.Raw]:
    found = find_spec("litellm")
    if found is None or found.origin is None:
        return {}
    path = Path(found.origin).parent / FILE
    # Entries stay undecoded: the table has thousands of models and a run uses few.
    return msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw]) if path.is_file() else {}
