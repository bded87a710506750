"""Models of all other providers, through LiteLLM: one request per call, bounded answers, known errors."""

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import httpx
import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import AnswerFormat, Message
from balrog_rag.models import settings, wire
from balrog_rag.models.bodies import Unreadable, bounded
from balrog_rag.models.failures import (
    LONGEST_ERROR,
    FailedCall,
    Failure,
    Kind,
    brief,
    by_status,
    seconds_to_wait,
)
from balrog_rag.models.prices import Answer, Card
from balrog_rag.util import litellm_loading

CACHE_MARKED = ("claude", "anthropic", "amazon.nova")
"""Models that cache a prompt's prefix only where it is marked; others cache without marks."""
CONNECTION = (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError, httpx.ProxyError)
"""Errors between this process and a server."""
NOT_SENDABLE = (
    *(httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError),
    *(ValueError, TypeError, OverflowError),
)
"""Errors of an address, a header or a body that cannot be sent."""
MISSING = ("No module named", "pip install", "LLM Provider NOT provided")
CARRIED_ELSEWHERE = ("host", "content-type", "content-length", "accept-encoding", "user-agent")
"""The only headers that follow a redirect to another host: any other may contain a key."""


SLOWER = 16
"""Divisor of `model.max_answer_bytes` for LiteLLM, which takes a fifth of a microsecond per byte."""


class TransportRecord(msgspec.Struct):
    """What the transport saw of one attempt, before LiteLLM interpreted it."""

    status: int | None = None
    retry_after: float | None = None
    origin: tuple[str, str, int | None] | None = None
    """Where the attempt was first sent."""


_heard: ContextVar[TransportRecord | None] = ContextVar("_heard", default=None)
"""The record of the attempt that this task makes, filled in by the transport."""


class LiteLLMCall:
    """One model of any provider that LiteLLM knows."""

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._said = call_arguments(config)
        self._marks = config.prompt_cache and any(name in config.name.lower() for name in CACHE_MARKED)
        self._litellm: Any = None
        self._client: Any = None

    def open(self) -> Card:
        """Import LiteLLM, and return what is known of the model's price."""
        self._litellm = litellm_loading.load(self._config.price_table)
        return Card.of(self._config, table_line(self._config.name, self._litellm))

    def keys_missing(self) -> list[str]:
        """Return the variables in which LiteLLM looks for a key."""
        if "api_key" in self._said or "base_url" in self._said:
            return []
        names: list[str] = self._litellm.validate_environment(self._said["model"])["missing_keys"]
        # Other variables are only one of several ways to authenticate, so none of them is required.
        return [name for name in names if name.endswith("_API_KEY")]

    async def __call__(self, messages: Sequence[Message], answer: AnswerFormat | None = None) -> Answer:
        if self._client is None:
            self._client = make_client(self._litellm, self._config)
        # In a context variable, because concurrent calls share one client and its hooks.
        _heard.set(heard := TransportRecord())
        parts = self._config.content == "parts"
        turns = wire.outgoing(messages, fuse=self._config.fuse_roles, mark=self._marks, parts=parts)
        try:
            said = {**self._tools(answer), **self._said}
            response = await self._litellm.acompletion(messages=turns, client=self._client, **said)
            return await incoming(response, messages)
        except Exception as error:  # each of LiteLLM's many providers raises its own classes
            raise FailedCall(classify(error, heard)) from error

    def _tools(self, answer: AnswerFormat | None) -> dict[str, Any]:
        """Return the arguments that offer tools, without those that this provider does not have."""
        said = wire.chat_tools(answer)
        if not said:
            return {}
        known = self._litellm.get_supported_openai_params(model=self._config.name) or list(said)
        kept = {name: value for name, value in said.items() if name == "tools" or name in known}
        # Otherwise LiteLLM imports the package mcp, an extra of its own, to look for tools of its gateway.
        return {**kept, "_skip_mcp_handler": True}

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()


def call_arguments(config: ModelConfig) -> dict[str, Any]:
    """Return the arguments of every call except its messages, in LiteLLM's names; unset ones are omitted."""
    body, budget = settings.further_fields(config), config.thinking_budget
    # LiteLLM sends further fields of these providers from `extra_body` only, of others only as arguments.
    apart = config.name.startswith(("gemini/", "vertex_ai/"))
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
    # Retries happen in client.py, where they are paced, capped and shown; LiteLLM must not add its own.
    always = {"timeout": timeout(config), "num_retries": 0, "max_retries": 0}
    return {name: value for name, value in said.items() if value is not None} | always


def timeout(config: ModelConfig) -> httpx.Timeout:
    """Return the time limits of an attempt and of its connection."""
    return httpx.Timeout(config.timeout, connect=config.connect_timeout)


def table_line(name: str, litellm: Any) -> Mapping[str, Any]:
    """Return the model's entry in LiteLLM's table; {} if there is none."""
    try:
        key = litellm.get_model_info(name)["key"]
    except Exception:  # noqa: BLE001 - LiteLLM reports an unknown model with a bare Exception
        return {}
    entry: Mapping[str, Any] = litellm.model_cost.get(key, {})
    return entry


async def incoming(response: Any, messages: Sequence[Message]) -> Answer:
    """Convert LiteLLM's response; no text, a refusal and a tool call are answers as well."""
    choice = response.choices[0]
    message, finish = choice.message, str(choice.finish_reason or "stop")
    text = message.content if isinstance(message.content, str) else ""
    reasoning = getattr(message, "reasoning_content", None)
    refused = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    if refused and not text:
        # A refusal leaves `content` empty; it becomes the reasoning, so the journal shows why.
        finish, reasoning = "refusal", reasoning or refused
    counted = getattr(response, "usage", None)
    usage = wire.usage(
        getattr(counted, "prompt_tokens", 0),
        getattr(counted, "completion_tokens", 0),
        _detail(counted, "prompt_tokens_details", "cached_tokens"),
        _detail(counted, "completion_tokens_details", "reasoning_tokens"),
    )
    place = "reasoning_content" if reasoning and not refused else ""
    thought = str(reasoning or "")
    sent = message.model_dump() if getattr(message, "tool_calls", None) else {}
    fingerprint = str(getattr(response, "system_fingerprint", None) or "")
    reply = await wire.reply(
        *(text, thought, finish, usage, str(response.model or ""), messages, place),
        *(*wire.chat_calls(sent), fingerprint),
    )
    reported = getattr(response, "_hidden_params", {}).get("response_cost")
    return Answer(reply, reported=float(reported) if reported else None)


def _detail(counted: Any, group: str, name: str) -> Any:
    return getattr(getattr(counted, group, None), name, None)


# --- its transport ---


def make_client(litellm: Any, config: ModelConfig) -> Any:
    """Return a client to pass to LiteLLM, so that it opens none itself; close it after use."""
    patience, most = timeout(config).as_dict(), config.max_answer_bytes // SLOWER

    async def asked(request: httpx.Request) -> None:
        # LiteLLM often passes one number for all timeouts; restore those of the configuration.
        request.extensions["timeout"] = patience
        request.headers["accept-encoding"] = "identity"
        heard = _heard.get()
        origin = (request.url.scheme, request.url.host, request.url.port)
        if heard is not None:
            heard.origin = heard.origin or origin
        if heard is not None and heard.origin != origin:
            for name in [name for name in request.headers if name not in CARRIED_ELSEWHERE]:
                del request.headers[name]

    async def answered(response: httpx.Response) -> None:
        if not response.has_redirect_location:  # the redirect's target answers next
            _hear(response)
        response.stream = _Bounded(response, most)

    class OnceHandler(litellm.AsyncHTTPHandler):  # type: ignore[misc]
        """LiteLLM's client without its hidden retry after a broken connection."""

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
        """Close the connection."""
        if isinstance(self._parts, httpx.AsyncByteStream):
            await self._parts.aclose()


# --- its errors ---


def classify(error: BaseException, heard: TransportRecord) -> Failure:
    """Convert an exception of LiteLLM's to a Failure."""
    status = heard.status if heard.status is not None else getattr(error, "status_code", None)
    text = plain(str(error))
    if heard.status is None and (status is None or status >= 500 or status == 408):
        return _unheard(error, text)  # LiteLLM made this status up; no server sent it
    asked = heard.retry_after if heard.retry_after is not None else _retry_after_of(error)
    return Failure(_kind(error, status, heard, text), status, text, asked)


def plain(text: str) -> str:
    """Return LiteLLM's text on one line, without its classes, advice and tracebacks."""
    text = text[:LONGEST_ERROR].partition("Traceback (most recent call last)")[0]
    text = text.partition(" To drop these, ")[0]  # advice on settings that this project does not have
    return re.sub(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?:: | - )(?=\S))+", "", brief(text))


def _unheard(error: BaseException, text: str) -> Failure:
    """Classify a failure without an answer, by its root cause, which LiteLLM's own error hides."""
    causes = list(_causes(error))
    broken = [cause for cause in causes if isinstance(cause, CONNECTION)]
    wrong = [cause for cause in causes if isinstance(cause, NOT_SENDABLE)]
    if broken:
        # A server that cannot be reached is a network failure; only a slow answer is a time-out.
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
    """Yield the error and its causes, the root last."""
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
