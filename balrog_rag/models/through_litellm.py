"""Every other provider's models, through LiteLLM: one request a call, bounded answers, known errors."""

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import httpx
import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import Message
from balrog_rag.models import settings, wire
from balrog_rag.models.bodies import Unreadable, bounded
from balrog_rag.models.failures import (
    LONGEST_ERROR,
    FailedCall,
    Failure,
    Kind,
    by_status,
    seconds_to_wait,
    tidy,
)
from balrog_rag.models.prices import Answer, Card
from balrog_rag.util import litellm_loading

CACHE_MARKED = ("claude", "anthropic", "amazon.nova")
"""Models that cache a prompt's head only where it is marked; the others do so by themselves."""
CONNECTION = (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError, httpx.ProxyError)
"""What goes wrong between here and a server."""
NOT_SENDABLE = (
    *(httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError),
    *(ValueError, TypeError, OverflowError),
)
"""What goes wrong with an address, a header or a body that nothing can send."""
MISSING = ("No module named", "pip install", "LLM Provider NOT provided")
CARRIED_ELSEWHERE = ("host", "content-type", "content-length", "accept-encoding", "user-agent")
"""The only headers that a redirect to another host is followed with: all others may hold a key."""


SLOWER = 16
"""LiteLLM is given that part of `model.max_answer_bytes`: it takes a fifth of a microsecond for a byte."""


class TransportRecord(msgspec.Struct):
    """What the transport heard of one attempt, before LiteLLM made its own of it."""

    status: int | None = None
    retry_after: float | None = None
    origin: tuple[str, str, int | None] | None = None
    """Where the attempt was first sent."""


_heard: ContextVar[TransportRecord | None] = ContextVar("_heard", default=None)
"""Where the transport notes what it hears of the attempt that this task makes."""


class LiteLLMCall:
    """One model of any provider that LiteLLM knows."""

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._said = settings_said(config)
        self._marks = config.prompt_cache and any(name in config.name.lower() for name in CACHE_MARKED)
        self._litellm: Any = None
        self._client: Any = None

    def open(self) -> Card:
        """Import LiteLLM, and read what the model costs."""
        self._litellm = litellm_loading.load(self._config.price_table)
        return Card.of(self._config, table_line(self._config.name, self._litellm))

    def keys_missing(self) -> list[str]:
        """The variables that LiteLLM looks for."""
        if "api_key" in self._said or "base_url" in self._said:
            return []
        names: list[str] = self._litellm.validate_environment(self._said["model"])["missing_keys"]
        return [name for name in names if name.endswith("_API_KEY")]  # other providers have other ways in

    async def __call__(self, messages: Sequence[Message]) -> Answer:
        if self._client is None:
            self._client = make_client(self._litellm, self._config)
        _heard.set(heard := TransportRecord())
        turns = wire.outgoing(messages, fuse=self._config.fuse_roles, mark=self._marks)
        try:
            response = await self._litellm.acompletion(messages=turns, client=self._client, **self._said)
            return await incoming(response, messages)
        except Exception as error:  # LiteLLM raises what its many providers raise
            raise FailedCall(classify(error, heard)) from error

    async def close(self) -> None:
        """Give back the connections."""
        if self._client is not None:
            await self._client.close()


def settings_said(config: ModelConfig) -> dict[str, Any]:
    """What every call says besides its messages, in LiteLLM's words; unset things are not sent at all."""
    body, budget = settings.further_fields(config), config.thinking_budget
    apart = config.name.startswith(("gemini/", "vertex_ai/"))  # the one way that their code passes on
    said: dict[str, Any] = {
        "model": config.name,
        "base_url": settings.address(config),
        "api_key": settings.key(config),
        "temperature": config.temperature,
        "max_tokens": config.max_tokens,
        "reasoning_effort": config.reasoning_effort,
        "thinking": None if budget is None else {"type": "enabled", "budget_tokens": budget},
        "stop": config.stop or None,
        "seed": config.seed,
        "extra_headers": settings.headers(config) or None,
        **({"extra_body": body or None} if apart else body),
    }
    always = {"timeout": timeout(config), "num_retries": 0, "max_retries": 0}
    return {name: value for name, value in said.items() if value is not None} | always


def timeout(config: ModelConfig) -> httpx.Timeout:
    """How long an attempt and its connection may take."""
    return httpx.Timeout(config.timeout, connect=config.connect_timeout)


def table_line(name: str, litellm: Any) -> Mapping[str, Any]:
    """The model's line in LiteLLM's table; empty where it has none."""
    try:
        key = litellm.get_model_info(name)["key"]
    except Exception:  # noqa: BLE001 - LiteLLM says "unknown model" with a bare Exception
        return {}
    entry: Mapping[str, Any] = litellm.model_cost.get(key, {})
    return entry


async def incoming(response: Any, messages: Sequence[Message]) -> Answer:
    """LiteLLM's response as an answer; no text, a refusal and a tool call are answers as well."""
    choice = response.choices[0]
    message, finish = choice.message, str(choice.finish_reason or "stop")
    text = message.content if isinstance(message.content, str) else ""
    reasoning = getattr(message, "reasoning_content", None)
    refused = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    if refused and not text:
        finish, reasoning = "refusal", reasoning or refused
    counted = getattr(response, "usage", None)
    usage = wire.usage(
        getattr(counted, "prompt_tokens", 0),
        getattr(counted, "completion_tokens", 0),
        _detail(counted, "prompt_tokens_details", "cached_tokens"),
        _detail(counted, "completion_tokens_details", "reasoning_tokens"),
    )
    reply = await wire.reply(text, str(reasoning or ""), finish, usage, str(response.model or ""), messages)
    told = getattr(response, "_hidden_params", {}).get("response_cost")
    return Answer(reply, told=float(told) if told else None)


def _detail(counted: Any, group: str, name: str) -> Any:
    return getattr(getattr(counted, group, None), name, None)


# --- its transport ---


def make_client(litellm: Any, config: ModelConfig) -> Any:
    """A client to hand to LiteLLM, which then opens none of its own; close it with `await client.close()`."""
    patience, most = timeout(config).as_dict(), config.max_answer_bytes // SLOWER

    async def asked(request: httpx.Request) -> None:
        request.extensions["timeout"] = patience  # LiteLLM mostly passes on one figure for all
        request.headers["accept-encoding"] = "identity"
        heard = _heard.get()
        origin = (request.url.scheme, request.url.host, request.url.port)
        if heard is not None:
            heard.origin = heard.origin or origin
        if heard is not None and heard.origin != origin:
            for name in [name for name in request.headers if name not in CARRIED_ELSEWHERE]:
                del request.headers[name]

    async def answered(response: httpx.Response) -> None:
        if not response.has_redirect_location:  # what the address it names answers is heard next
            _hear(response)
        response.stream = _Bounded(response, most)

    class OnceHandler(litellm.AsyncHTTPHandler):  # type: ignore[misc]
        """LiteLLM's client without its hidden second try after a broken connection."""

        async def single_connection_post_request(self, *args: Any, **kwargs: Any) -> Any:
            raise httpx.ReadError("the connection broke before the answer came")

    return OnceHandler(event_hooks={"request": [asked], "response": [answered]})


def _hear(response: httpx.Response) -> None:
    heard = _heard.get()
    if heard is not None:
        heard.status = response.status_code
        good = response.status_code < 300
        heard.retry_after = None if good else seconds_to_wait(response.headers)


class _Bounded(httpx.AsyncByteStream):
    """A body that ends at its bound."""

    def __init__(self, response: httpx.Response, most: int) -> None:
        good = response.status_code < 300
        self._bound, self._whole = (most if good else LONGEST_ERROR), good
        self._parts, self._packed = response.stream, response.headers.pop("content-encoding", "")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._parts, httpx.AsyncByteStream)
        try:
            async for part in bounded(self._parts, self._packed, self._bound, self._whole):
                yield part
        except Unreadable as error:
            raise httpx.ReadError(str(error)) from error

    async def aclose(self) -> None:
        """Give back the connection."""
        if isinstance(self._parts, httpx.AsyncByteStream):
            await self._parts.aclose()


# --- its errors ---


def classify(error: BaseException, heard: TransportRecord) -> Failure:
    """The failure that this exception of LiteLLM's stands for."""
    status = heard.status if heard.status is not None else getattr(error, "status_code", None)
    text = plain(str(error))
    if heard.status is None and (status is None or status >= 500 or status == 408):
        return _unheard(error, text)  # a status that LiteLLM has made up
    asked = heard.retry_after if heard.retry_after is not None else _retry_after_of(error)
    return Failure(_kind(error, status, heard, text), status, text, asked)


def plain(text: str) -> str:
    """LiteLLM's words on one line: without its classes, its advice and its tracebacks."""
    text = text[:LONGEST_ERROR].partition("Traceback (most recent call last)")[0]
    text = text.partition(" To drop these, ")[0]  # on settings that do not stand here
    return re.sub(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?:: | - )(?=\S))+", "", tidy(text))


def _unheard(error: BaseException, text: str) -> Failure:
    """The failure where no answer came: told by what the error goes back to, since LiteLLM's own hides it."""
    causes = list(_causes(error))
    broken = [cause for cause in causes if isinstance(cause, CONNECTION)]
    wrong = [cause for cause in causes if isinstance(cause, NOT_SENDABLE)]
    if broken:
        late = isinstance(broken[-1], httpx.TimeoutException) and not isinstance(
            broken[-1], httpx.ConnectTimeout
        )
        return Failure(Kind.TIMEOUT if late else Kind.NETWORK, None, plain(str(broken[-1])) or text)
    if _is_timeout(error):
        return Failure(Kind.TIMEOUT, None, text)
    if _says_missing(text):
        return Failure(Kind.REQUEST, None, text)
    if wrong:
        return Failure(Kind.UNSENT, None, plain(str(wrong[-1])) or text)
    return Failure(Kind.REQUEST if getattr(error, "status_code", None) is None else Kind.NETWORK, None, text)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and what it goes back to, the root last."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _kind(error: BaseException, status: int | None, heard: TransportRecord, text: str) -> Kind:
    if _is_timeout(error):
        return Kind.TIMEOUT
    if heard.status is not None and heard.status < 300:
        return Kind.BROKEN
    if type(error).__name__ == "ContextWindowExceededError":
        return Kind.CONTEXT
    if heard.status is None and _says_missing(text):
        return Kind.REQUEST
    return by_status(status, text)


def _is_timeout(error: BaseException) -> bool:
    return isinstance(error, TimeoutError) or type(error).__name__ in ("Timeout", "APITimeoutError")


def _says_missing(text: str) -> bool:
    return any(words.lower() in text.lower() for words in MISSING)


def _retry_after_of(error: Any) -> float | None:
    headers = (
        getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None) or {}
    )
    return seconds_to_wait(headers)
