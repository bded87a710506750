"""The model of agents whose decisions come from outside: it has no answers of its own."""

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import Reply, Request
from balrog_rag.contracts.errors import ModelRefused


class ClientAnswers:
    """Stands for a client's or a person's decisions in a configuration; a session replaces it."""

    def __init__(self, config: ModelConfig) -> None:
        self.name = config.name

    def price_known(self) -> bool:
        """Return False: what a client's own calls cost is not seen."""
        return False

    async def complete(self, request: Request) -> Reply:
        """Refuse: nobody is connected."""
        raise ModelRefused(
            f"model.backend=client: nobody is connected to answer for {self.name!r}; start the run with "
            "`balrog-rag mcp` for a client, or `balrog-rag run agent=human` for a person"
        )

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""
