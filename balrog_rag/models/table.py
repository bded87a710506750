"""LiteLLM's table of models, read from its file: what a model's context is, without importing LiteLLM."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

FILE = "model_prices_and_context_window_backup.json"


class Entry(msgspec.Struct, frozen=True):
    """What the table says of a model, as far as it is needed before LiteLLM is loaded."""

    max_input_tokens: int | float | str | None = None
    max_tokens: int | float | str | None = None

    @property
    def context(self) -> int | None:
        """Tokens a prompt and its answer may have."""
        for said in (self.max_input_tokens, self.max_tokens):
            if isinstance(said, int | float) and said > 0:
                return int(said)
        return None


def context_of(name: str) -> int | None:
    """The context of a model by its LiteLLM id; None where the table does not know it."""
    table = _table()
    parts = name.split("/")
    candidates = ["/".join(parts[place:]) for place in range(len(parts))]
    entry = next((table[candidate] for candidate in candidates if candidate in table), None)
    return entry.context if entry is not None else None


@cache
def _table() -> dict[str, Entry]:
    found = find_spec("litellm")
    if found is None or found.origin is None:
        return {}
    path = Path(found.origin).parent / FILE
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Entry]) if path.is_file() else {}
