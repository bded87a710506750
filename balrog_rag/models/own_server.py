"""Servers called without LiteLLM: vLLM, Ollama, llama.cpp, OpenAI itself, and compatible ones.

A call through LiteLLM takes two to three milliseconds of processor time, and its import two seconds,
which matters when a local server answers hundreds of episodes at once.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import msgspec

from balrog_rag import __version__
from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import Message
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.models import ollama, openai, settings, table
from balrog_rag.models.failures import (
    LONGEST_WHOLE,
    FailedCall,
    Failure,
    Kind,
    brief,
    by_status,
    seconds_to_wait,
    shortened,
)
from balrog_rag.models.prices import Answer, Card, Prices
from balrog_rag.util import litellm_loading

if TYPE_CHECKING:
    from balrog_rag.models.posting import HttpAnswer, Poster


class Speech(Protocol):
    """The protocol of one kind of server."""

    PATH: str
    """Path of the endpoint, below the server's address."""

    def fields(self, config: ModelConfig, model: str, url: str) -> dict[str, Any]:
        """Return the body without the messages."""
        ...

    def turns(self, messages: Sequence[Message], config: ModelConfig) -> list[dict[str, Any]]:
        """Return the messages in the protocol's format."""
        ...

    async def read(self, body: bytes, messages: Sequence[Message]) -> Answer:
        """Parse an answer; raise ValueError or RecursionError if there is none."""
        ...


class Server(msgspec.Struct, frozen=True):
    """A kind of server, identified by the first part of a model's LiteLLM id."""

    protocol: Speech
    key: str
    """The variable with its key."""
    bases: tuple[str, ...]
    """The variables that may set its address."""
    base: str | None = None
    """Its default address."""


SERVERS = {
    "openai": Server(
        openai, "OPENAI_API_KEY", ("OPENAI_BASE_URL", "OPENAI_API_BASE"), "https://api.openai.com/v1"
    ),
    "hosted_vllm": Server(openai, "HOSTED_VLLM_API_KEY", ("HOSTED_VLLM_API_BASE",)),
    "ollama_chat": Server(ollama, "OLLAMA_API_KEY", ("OLLAMA_API_BASE",), "http://127.0.0.1:11434"),
}
NO_CHATS = ("responses", "completion")
"""Modes in LiteLLM's table of OpenAI models without chat completions; LiteLLM can call these."""


def speaks(config: ModelConfig) -> bool:
    """Whether this model's server is one of these kinds."""
    kind, _, model = config.name.partition("/")
    if kind not in SERVERS or not model:
        return False
    odd = model.startswith("responses/") or table.openai_line(model).get("mode") in NO_CHATS
    return kind != "openai" or not odd


class OwnServer:
    """One model on one server."""

    def __init__(self, config: ModelConfig) -> None:
        kind, _, self._model = config.name.partition("/")
        self._config, self._server = config, SERVERS[kind]
        self._given = _address(config, self._server)
        self._url = server_url(self._given or self._server.base or "", self._server.protocol.PATH)
        self._key = settings.key(config) or os.environ.get(self._server.key)
        self._headers = _headers(config, self._key)
        self._fields = self._server.protocol.fields(config, self._model, self._url)
        # Checked here, so that a wrong setting ends the command before the run, not every call in it.
        _encodable(self._fields)
        self._poster: Poster | None = None

    def open(self) -> Card:
        """Import aiohttp, and return what is known of the model's price."""
        import balrog_rag.models.posting  # noqa: F401 - else the first call would import it

        return Card.of(self._config, self._line())

    def _line(self) -> Mapping[str, Any]:
        """Return an OpenAI model's entry in LiteLLM's table; only LiteLLM fetches the newest table."""
        if not self._config.name.startswith("openai/"):
            return {}
        if self._config.price_table == "online" and not Prices.of_config(self._config).known:
            litellm = litellm_loading.load(self._config.price_table)
            newest: Mapping[str, Any] = litellm.model_cost.get(self._model, {})
            return newest
        return table.openai_line(self._model)

    def keys_missing(self) -> list[str]:
        """Return OpenAI's variable if neither a key nor another address is set."""
        needed = self._server.base is not None and self._given is None and self._url.startswith("https")
        return [self._server.key] if needed and not self._key else []

    async def __call__(self, messages: Sequence[Message]) -> Answer:
        protocol = self._server.protocol
        turns = protocol.turns(messages, self._config)
        heard = await self._post(encoded({**self._fields, "messages": turns}))
        return await answer_in(heard, protocol, messages)

    async def _post(self, body: bytes) -> "HttpAnswer":
        if self._poster is None:
            from balrog_rag.models.posting import Poster

            config = self._config
            self._poster = Poster(self._url, self._headers, config.connect_timeout, config.max_answer_bytes)
        return await self._poster.post(body)

    async def close(self) -> None:
        """Close the connections."""
        if self._poster is not None:
            await self._poster.close()


async def answer_in(heard: "HttpAnswer", protocol: Speech, messages: Sequence[Message]) -> Answer:
    """Parse an HTTP answer; raise FailedCall if it has none."""
    if heard.status >= 300:
        raise FailedCall(refusal(heard))
    # A deeply nested body raises RecursionError: a malformed answer like any other.
    try:
        return await protocol.read(heard.body, messages)
    except (ValueError, RecursionError) as error:
        said = heard.text[:LONGEST_WHOLE]
        raise FailedCall(Failure(Kind.BROKEN, heard.status, brief(f"{error}: {said}"))) from error


def refusal(heard: "HttpAnswer") -> Failure:
    """Classify an answer with an error status."""
    text = shortened(heard.text)
    asked = seconds_to_wait(heard.headers)
    return Failure(by_status(heard.status, text), heard.status, brief(text), asked)


def _address(config: ModelConfig, server: Server) -> str | None:
    """Return the server's address from the configuration or the environment, if set."""
    named = next((os.environ[name] for name in server.bases if os.environ.get(name)), None)
    address = settings.address(config) or (settings.checked(named) if named else None)
    if address is None and server.base is None:
        raise ConfigError(
            f"model.base_url=null: {config.name} is a server of your own; "
            f"set model.base_url, or {server.bases[0]} in the environment or .env"
        )
    return address


def server_url(address: str, path: str) -> str:
    """Return the endpoint's URL at that address, which may already include the path."""
    parts = urlsplit(address)
    base = parts.path.rstrip("/").removesuffix(path)
    if path.startswith("/api/"):
        # Users often have the address of Ollama's OpenAI-compatible protocol; both are on one server.
        base = base.removesuffix("/v1")
    return urlunsplit(parts._replace(path=base + path))


def _headers(config: ModelConfig, key: str | None) -> dict[str, str]:
    """Return the headers of every call; configured ones override the defaults."""
    own = {"user-agent": f"balrog_rag/{__version__}"} | ({"authorization": f"Bearer {key}"} if key else {})
    return own | {name.lower(): value for name, value in settings.headers(config).items()}


def _encodable(body: Mapping[str, Any]) -> None:
    try:
        json.dumps(body, allow_nan=False)
    except ValueError as error:
        raise ConfigError(f"model.extra_body: {error}; use values that JSON can represent") from error


def encoded(body: Mapping[str, Any]) -> bytes:
    """Encode a request's body as JSON."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:  # a lone surrogate, which JSON can only write as an escape
        return json.dumps(body).encode()
