"""Libraries that are installed only where they are wanted."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from balrog_rag.contracts.errors import ConfigError


def require_of(factory: Any, wanted_by: str) -> None:
    """Require what a model or an embedder declares in `requires`: by library the extra that installs it."""
    wanted: Mapping[str, str] = getattr(factory, "requires", {})
    for library, extra in wanted.items():
        require(library, extra, wanted_by)


def require(library: str, extra: str, wanted_by: str) -> None:
    """Raise a ConfigError that says what to install, where a library is missing."""
    if find_spec(library) is None:
        raise ConfigError(f"{wanted_by}: {library} is not installed; pip install 'balrog_rag[{extra}]'")
