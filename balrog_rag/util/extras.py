"""Libraries that are installed only where they are wanted."""

from importlib.util import find_spec

from balrog_rag.contracts.errors import ConfigError


def require(library: str, extra: str, wanted_by: str) -> None:
    """Raise a ConfigError that says what to install, where a library is missing."""
    if find_spec(library) is None:
        raise ConfigError(f"{wanted_by}: {library} is not installed; pip install 'balrog_rag[{extra}]'")
