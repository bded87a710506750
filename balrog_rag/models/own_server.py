"""Servers called without LiteLLM: vLLM, Ollama, llama.cpp, OpenAI itself, Anthropic, and compatible ones.

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
from balrog_rag.contracts.data import AnswerFormat, Message
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.models import anthropic, ollama, openai, openai_responses, settings, table
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

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the headers that the protocol needs, with the key."""
        ...

    def question(
        self, messages: Sequence[Message], answer: AnswerFormat | None, config: ModelConfig
    ) -> dict[str, Any]:
        """Return the fields of the body with the messages and, if the answer calls tools, the tools."""
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


OPENAI = Server(openai, "OPENAI_API_KEY", ("OPENAI_BASE_URL", "OPENAI_API_BASE"), "https://api.openai.com/v1")
SERVERS = {
    "openai": OPENAI,
    "anthropic": Server(
        anthropic,
        "ANTHROPIC_API_KEY",
        ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"),
        "https://api.anthropic.com",
    ),
    "hosted_vllm": Server(openai, "HOSTED_VLLM_API_KEY", ("HOSTED_VLLM_API_BASE",)),
    "ollama_chat": Server(ollama, "OLLAMA_API_KEY", ("OLLAMA_API_BASE",), "http://127.0.0.1:11434"),
}
RESPONSES = "responses/"
"""Before the name of an OpenAI model that is called by the Responses API."""


def speaks(config: ModelConfig) -> bool:
    """Whether this model's server is one of these kinds."""
    kind, _, model = config.name.partition("/")
    if kind not in SERVERS or not model:
        return False
    # Only LiteLLM can call the old completions, without chat.
    return kind != "openai" or table.openai_line(model).get("mode") != "completion"


def server_of(name: str) -> tuple[Server, str]:
    """Return the server of a model's LiteLLM id, and the model's name there."""
    kind, _, model = name.partition("/")
    if kind != "openai":
        return SERVERS[kind], model
    bare = model.removeprefix(RESPONSES)
    responds = bare != model or table.openai_line(model).get("mode") == "responses"
    return (msgspec.structs.replace(OPENAI, protocol=openai_responses) if responds else OPENAI), bare


class OwnServer:
    """One model on one server."""

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._server, self._model = server_of(config.name)
        self._given = _address(config, self._server)
        self._url = server_url(self._given or self._server.base or "", self._server.protocol.PATH)
        self._key = settings.key(config) or os.environ.get(self._server.key)
        self._headers = _headers(config, self._server.protocol.headers(self._key))
        self._fields = self._server.protocol.fields(config, self._model, self._url)
        # Checked here, so that a wrong setting ends the command before the run, not every call in it.
        _encodable(self._fields)
        self._poster: Poster | None = None

    def open(self) -> Card:
        """Import aiohttp, and return what is known of the model's price."""
        import balrog_rag.models.posting  # noqa: F401 - else the first call would import it

        return Card.of(self._config, self._line())

    def _line(self) -> Mapping[str, Any]:
        """Return a hosted model's entry in LiteLLM's table; only LiteLLM fetches the newest table."""
        provider = self._config.name.partition("/")[0]
        if provider not in ("openai", "anthropic"):
            return {}
        if self._config.price_table == "online" and not Prices.of_config(self._config).known:
            litellm = litellm_loading.load(self._config.price_table)
            newest: Mapping[str, Any] = litellm.model_cost.get(self._model, {})
            return newest
        return table.hosted_line(provider, self._model)

    def keys_missing(self) -> list[str]:
        """Return OpenAI's variable if neither a key nor another address is set."""
        needed = self._server.base is not None and self._given is None and self._url.startswith("https")
        return [self._server.key] if needed and not self._key else []

    async def __call__(self, messages: Sequence[Message], answer: AnswerFormat | None = None) -> Answer:
        heard = await self._post(encoded(self.body(messages, answer)))
        return await answer_in(heard, self._server.protocol, messages)

    def body(self, messages: Sequence[Message], answer: AnswerFormat | None = None) -> dict[str, Any]:
        """Return the body of a request."""
        # Further fields of the configuration win, e.g. for a server that refuses `parallel_tool_calls`.
        return {**self._server.protocol.question(messages, answer, self._config), **self._fields}

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
    if path.startswith(("/api/", "/v1/")):
        # Users often have the address of the server's OpenAI-compatible protocol; both are on one server.
        base = base.removesuffix("/v1")
    return urlunsplit(parts._replace(path=base + path))


def _headers(config: ModelConfig, of_protocol: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of every call; configured ones override the defaults."""
    own = {"user-agent": f"balrog_rag/{__version__}", **of_protocol}
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
