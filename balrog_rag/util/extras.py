"""Optional dependencies, which are required only by the features that use them."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from balrog_rag.contracts.errors import ConfigError


def require_of(factory: Any, wanted_by: str) -> None:
    """Require the libraries in `factory.requires`, which maps each library to the extra that installs it."""
    wanted: Mapping[str, str] = getattr(factory, "requires", {})
    for library, extra in wanted.items():
        require(library, extra, wanted_by)


def require(library: str, extra: str, wanted_by: str) -> None:
    """Raise a ConfigError with the command that installs the library, if it is missing."""
    if not _installed(library):
        raise ConfigError(f"{wanted_by}: {library} is not installed; pip install 'balrog_rag[{extra}]'")


def _installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:  # the package around a submodule is missing
        return False
