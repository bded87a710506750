"""How one attempt at a call goes out: LiteLLM's ordinary way, or the direct one where there is one."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from balrog_rag.models import direct, transport
from balrog_rag.models.wire import Turns


class Call(Protocol):
    """Sends a prompt once; gives LiteLLM's response object or raises one of LiteLLM's errors."""

    async def __call__(self, turns: Turns) -> Any:
        """Send it."""
        ...

    async def close(self) -> None:
        """Give back the connections."""
        ...


def make(litellm: Any, settings: Mapping[str, Any]) -> Call:
    """The call of the model that these settings name; made in a running event loop."""
    quick = direct.prepare(litellm, settings)
    return Ordinary(litellm, settings) if quick is None else Quick(quick, lambda: Ordinary(litellm, settings))


class Quick:
    """The direct call, until the server redirects one: from then on LiteLLM follows."""

    def __init__(self, quick: direct.Direct, otherwise: Callable[[], Call]) -> None:
        self._quick, self._otherwise = quick, otherwise
        self._ordinary: Call | None = None

    async def __call__(self, turns: Turns) -> Any:
        if self._ordinary is None:
            try:
                return await self._quick(turns)
            except direct.Moved:
                self._ordinary = self._ordinary or self._otherwise()
        return await self._ordinary(turns)

    async def close(self) -> None:
        """Give back the connections."""
        await self._quick.close()
        if self._ordinary is not None:
            await self._ordinary.close()


class Ordinary:
    """`litellm.acompletion`, to any provider."""

    def __init__(self, litellm: Any, settings: Mapping[str, Any]) -> None:
        self._litellm, self._settings = litellm, settings
        self._client = transport.make_client(litellm, settings["timeout"])

    async def __call__(self, turns: Turns) -> Any:
        return await self._litellm.acompletion(messages=turns, client=self._client, **self._settings)

    async def close(self) -> None:
        """Give back the connections."""
        await self._client.close()
