"""Names of environments for people."""

from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.registry import environments


def environment_title(env: str) -> str:
    """The title of a kind of game; its name if it is not installed."""
    return kind_of(env).title if env in environments.names() else env
