"""Replace lone surrogates (half characters), which some models return: files cannot store them."""

import re
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def cleaned(value: Any) -> Any:
    """Copy plain data with every lone surrogate replaced by U+FFFD; matching halves are joined."""
    if isinstance(value, str):
        return _joined(value) if _SURROGATE.search(value) else value
    if isinstance(value, dict):
        return {cleaned(key): cleaned(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [cleaned(inner) for inner in value]
    return value


def _joined(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
