"""How one attempt at a call is sent: directly to servers of known kinds, through LiteLLM to all others."""

from collections.abc import Sequence
from typing import Protocol

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import AnswerFormat, Message
from balrog_rag.models.prices import Answer, Card


class ModelCall(Protocol):
    """Sends a prompt once."""

    def open(self) -> Card:
        """Load what the first call needs, which may take seconds; return what is known of the price."""
        ...

    def keys_missing(self) -> list[str]:
        """Return variables, any one of which would provide the missing key; call it after `open`."""
        ...

    async def __call__(self, messages: Sequence[Message], answer: AnswerFormat | None = None) -> Answer:
        """Send the messages, with the tools of the answer; raise `failures.FailedCall` if none results."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def call_of(config: ModelConfig) -> ModelCall:
    """Return the call for this model; wrong settings raise ConfigError before anything is loaded."""
    from balrog_rag.models.own_server import OwnServer, speaks

    if speaks(config):
        return OwnServer(config)
    from balrog_rag.models.through_litellm import LiteLLMCall

    return LiteLLMCall(config)
