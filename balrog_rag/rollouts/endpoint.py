"""The caller's model server: settings and key per rollout, connections shared by all rollouts.

Every call says what it is for and has a key that is the same when it is repeated, also after a restart, so
that a proxy between harness and model can recognise a repetition.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from balrog_rag import __version__
from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import AnswerFormat, Message, Reply, Request, digest
from balrog_rag.contracts.events import Asked, Event
from balrog_rag.models import openai
from balrog_rag.models.client import RemoteModel
from balrog_rag.models.own_server import answer_in, encoded, server_url
from balrog_rag.models.posting import Poster
from balrog_rag.models.prices import Answer, Card
from balrog_rag.rollouts.rollout_request import Endpoint
from balrog_rag.util.secrets import resolve

IDEMPOTENCY_KEY = "idempotency-key"
RETRY_COUNT = "x-stainless-retry-count"
"""The name that OpenAI's own client gives to it."""
PURPOSE = "x-balrog-purpose"
KEPT_IDLE = 32
"""Servers without a rollout whose connections are kept."""

_headers: ContextVar[Mapping[str, str]] = ContextVar("_headers")


class Connections:
    """Connections to model servers, by address."""

    def __init__(self) -> None:
        self._posters: OrderedDict[str, Poster] = OrderedDict()
        self._users: dict[str, int] = {}

    def lease(self, url: str, config: ModelConfig) -> Poster:
        """Return the connections to a server, which stay open until they are given back."""
        if url not in self._posters:
            own = {"user-agent": f"balrog_rag/{__version__}"}
            self._posters[url] = Poster(url, own, config.connect_timeout, config.max_answer_bytes)
        self._users[url] = self._users.get(url, 0) + 1
        return self._posters[url]

    async def give_back(self, url: str) -> None:
        """Release connections; those that were idle longest are closed."""
        self._users[url] -= 1
        if not self._users[url]:
            del self._users[url]
            self._posters.move_to_end(url)
        idle = [each for each in self._posters if each not in self._users]
        for each in idle[: len(idle) - KEPT_IDLE] if len(idle) > KEPT_IDLE else []:
            await self._posters.pop(each).close()

    async def close(self) -> None:
        """Close all connections."""
        while self._posters:
            await self._posters.popitem()[1].close()


class EndpointCall:
    """Sends one rollout's prompts to its server."""

    def __init__(self, endpoint: Endpoint, config: ModelConfig, connections: Connections) -> None:
        """Resolve the key, which only this object has."""
        key = resolve(endpoint.api_key)
        self.secrets = (key,)
        self._key = {"authorization": f"Bearer {key}"} if key else {}
        self._url = server_url(endpoint.base_url, openai.PATH)
        self._fields: dict[str, Any] = {**endpoint.sampling, "model": endpoint.name}
        self._config, self._connections = config, connections
        self._poster: Poster | None = None
        self._sent, self._times = "", 0

    def open(self) -> Card:
        """Return what is known of the price: nothing."""
        return Card.of(self._config, {})

    def keys_missing(self) -> list[str]:
        """Return nothing: a server may need no key."""
        return []

    async def __call__(self, messages: Sequence[Message], answer: AnswerFormat | None = None) -> Answer:
        if self._poster is None:
            self._poster = self._connections.lease(self._url, self._config)
        said = dict(_headers.get({}))
        again = said.get(IDEMPOTENCY_KEY, "")
        self._times = self._times + 1 if again == self._sent else 0
        self._sent = again
        question = openai.question(messages, answer, self._config)
        heard = await self._poster.post(
            encoded({**question, **self._fields}),
            {**said, RETRY_COUNT: str(self._times), **self._key},
        )
        return await answer_in(heard, openai, messages)

    async def close(self) -> None:
        """Give the connections back."""
        if self._poster is not None:
            self._poster = None
            await self._connections.give_back(self._url)


class CallCounter:
    """Counts a rollout's prompts, replayed ones included: equal prompts are different calls."""

    def __init__(self) -> None:
        self.count = 0

    def see(self, event: Event) -> None:
        """Count a prompt."""
        if isinstance(event, Asked):
            self.count += 1


class EndpointModel(RemoteModel):
    """The model of one rollout."""

    def __init__(self, rollout: str, config: ModelConfig, call: EndpointCall, prompts: CallCounter) -> None:
        """`rollout` is its id; `prompts` counts what has been asked so far."""
        super().__init__(config, call)
        self._rollout, self._prompts = rollout, prompts
        self._card = call.open()  # nothing to load: no thread per rollout

    async def complete(self, request: Request) -> Reply:
        """Answer, with headers that name the call."""
        call = digest(f"{self._rollout}/{self._prompts.count}/{request.digest}")
        told = _headers.set({IDEMPOTENCY_KEY: call, PURPOSE: request.purpose})
        try:
            return await super().complete(request)
        finally:
            _headers.reset(told)
