"""How one attempt at a call goes out: this project's own way to servers it knows, LiteLLM's to all others."""

from collections.abc import Sequence
from typing import Protocol

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import Message
from balrog_rag.models.prices import Answer, Card


class ModelCall(Protocol):
    """Sends a prompt once."""

    def open(self) -> Card:
        """Load what the first call needs, which may take seconds; tells what the model costs."""
        ...

    def keys_missing(self) -> list[str]:
        """Variables, any of which would hold the provider's key, where none is set; asked once it is open."""
        ...

    async def __call__(self, messages: Sequence[Message]) -> Answer:
        """Send them; raises `failures.Failed` where no answer comes of it."""
        ...

    async def close(self) -> None:
        """Give back the connections."""
        ...


def call_of(config: ModelConfig) -> ModelCall:
    """The way to this model; wrong settings are a ConfigError here, before anything is loaded."""
    from balrog_rag.models.own_server import OwnServer, speaks

    if speaks(config):
        return OwnServer(config)
    from balrog_rag.models.through_litellm import LiteLLMCall

    return LiteLLMCall(config)


def price_known(config: ModelConfig) -> bool:
    """Whether what a call costs can be told before the first one is paid for."""
    if config.backend == "litellm" and None in (config.price.input, config.price.output):
        return call_of(config).open().known
    return config.backend != "scripted" or None not in (config.price.input, config.price.output)
