"""Options that only one agent has: agent.options, checked by the agent's own struct."""

from typing import TypeVar

import msgspec

from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.errors import ConfigError

T = TypeVar("T", bound=msgspec.Struct)


def options_as(config: AgentConfig, kind: type[T]) -> T:
    """Parse agent.options; raises ConfigError for an option that the agent does not have."""
    try:
        return msgspec.convert(config.options, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"agent.options of {config.name}: {error}") from error
