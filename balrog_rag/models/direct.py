"""Calls to one's own server, with what LiteLLM works out for each of them worked out once.

`litellm.acompletion` takes 2 to 3 ms of processor time a call: it finds the provider, maps the settings,
prices the answer and logs it, every time anew. A model behind a paid API is too slow for that to show; a
vLLM server under hundreds of episodes is not. For such a server LiteLLM's own provider class is asked once
for the address, the headers and the settings, and then only to put messages in and to read answers out.
The request is the one that acompletion sends but for the order of its headers, the reply is read by the
same code, the failures are the same. Whatever would go another way there is left to acompletion.
"""

import inspect
import json
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
import msgspec
import yarl

from balrog_rag.models.transport import hear
from balrog_rag.models.wire import Turns

PROVIDER = "hosted_vllm"
HOW = ("model", "base_url", "api_key", "extra_headers", "timeout", "num_retries", "max_retries")
"""Settings that say how to call; all others go into the body."""
BODY = (
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed", "reasoning_effort"),
    *("thinking", "presence_penalty", "frequency_penalty", "logit_bias"),
)
"""Settings of acompletion's that do nothing but go into the body."""
REDIRECTS = (301, 302, 303, 307, 308)


def prepare(litellm: Any, settings: Mapping[str, Any]) -> "Direct | None":
    """The direct call of such a server's model; None where the ordinary way has to be gone.

    That is any other provider, an address behind TLS or a proxy, a setting that LiteLLM refuses or keeps
    for itself, and a LiteLLM whose classes are not those known here.
    """
    if not str(settings["model"]).startswith(f"{PROVIDER}/"):
        return None
    try:
        direct = Direct(litellm, settings)
        json.dumps(direct.body([{"role": "user", "content": ""}]), allow_nan=False)
    except Exception:  # noqa: BLE001 - acompletion meets it again and says it in its own words
        return None
    return direct if _plain(direct.url) and not _kept_back(litellm, settings) else None


def _plain(url: str) -> bool:
    """Whether the address is reached without TLS, whose settings are LiteLLM's, and without a proxy."""
    parts, proxies = urlsplit(url), getproxies()
    proxied = proxies.get("http") or proxies.get("all")
    return parts.scheme == "http" and (not proxied or bool(proxy_bypass(parts.hostname or "")))


def _kept_back(litellm: Any, settings: Mapping[str, Any]) -> set[str]:
    """Settings that acompletion does more with, or something else, than put them into the body."""
    known = {*litellm.types.utils.all_litellm_params, *inspect.signature(litellm.acompletion).parameters}
    return (known & settings.keys()) - {*HOW, *BODY}


class Moved(Exception):
    """The server says that it lives elsewhere."""


_kept: ContextVar[bool] = ContextVar("_kept", default=False)
"""Whether this task's request goes over a connection that was kept from an earlier one."""


class Connector(aiohttp.TCPConnector):
    """Notes where a request gets a connection of its own; aiohttp's tracing costs every call a tenth more."""

    async def _create_connection(self, *what: Any, **how: Any) -> Any:
        _kept.set(False)
        return await super()._create_connection(*what, **how)


def _encoded(sent: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(sent)
    except UnicodeEncodeError:  # half a sign, which only an escape can hold
        return json.dumps(sent).encode()


class Direct:
    """One model of one server."""

    def __init__(self, litellm: Any, settings: Mapping[str, Any]) -> None:
        from litellm.llms.custom_httpx import aiohttp_transport, http_handler

        self._litellm = litellm
        self._model, provider, key, base = litellm.get_llm_provider(
            settings["model"], api_base=settings.get("base_url"), api_key=settings.get("api_key")
        )
        self._provider = litellm.ProviderConfigManager.get_provider_chat_config(
            model=self._model, provider=litellm.LlmProviders(provider)
        )
        body = {name: value for name, value in settings.items() if name not in HOW}
        self._options = litellm.get_optional_params(
            model=self._model, custom_llm_provider=provider, stream=None, **body
        )
        self._extra = self._options.pop("extra_body", None) or {}
        self._place = {"custom_llm_provider": provider, "api_base": base}
        about = {"model": self._model, "optional_params": self._options, "litellm_params": self._place}
        headers = dict(settings.get("extra_headers", {}))
        self._headers = self._provider.validate_environment(
            headers=headers, messages=[], api_key=key, api_base=base, **about
        )
        self.url: str = self._provider.get_complete_url(api_key=key, api_base=base, **about)
        self._connect = settings["timeout"].connect
        # As LiteLLM's client says who it is, spells an address and names what aiohttp raises.
        named = httpx.Headers(http_handler.get_default_headers())
        named.update(self._headers)
        self._headers = dict(named)
        self._address = yarl.URL(str(httpx.URL(self.url)), encoded=True)
        self._mapped = aiohttp_transport.map_aiohttp_exceptions
        self._session: aiohttp.ClientSession | None = None

    def body(self, turns: Turns) -> dict[str, Any]:
        """What is sent."""
        sent: dict[str, Any] = self._provider.transform_request(
            self._model, turns, dict(self._options), self._place, self._headers
        )
        if self._extra:
            sent.update(self._provider.transform_extra_body(self._extra, sent, self._model, self._place))
        return sent

    async def __call__(self, turns: Turns) -> Any:
        sent = self.body(turns)
        try:
            return self._provider.transform_response(
                model=self._model,
                raw_response=await self._answer(_encoded(sent)),
                model_response=self._litellm.ModelResponse(),
                logging_obj=_Unlogged(),
                request_data=sent,
                messages=turns,
                optional_params=self._options,
                litellm_params=self._place,
                encoding=None,
            )
        except Moved:
            raise
        except Exception as error:
            raise self._known(error) from error

    async def _answer(self, body: bytes) -> "_Answer":
        """The answer; raises where it is an error."""
        with self._mapped():
            try:
                answer = await self._post(body)
            except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
                if not _kept.get():
                    raise
                answer = await self._post(body)  # the server had closed it while nobody looked
        if answer.status_code in REDIRECTS:
            raise Moved
        if answer.status_code >= 300:
            raise self._provider.get_error_class(answer.text, answer.status_code, dict(answer.headers))
        return answer

    async def _post(self, body: bytes) -> "_Answer":
        _kept.set(True)
        async with self._open().post(
            self._address, headers=self._headers, data=body, allow_redirects=False
        ) as answer:
            _kept.set(False)  # it did answer
            if answer.status not in REDIRECTS:
                hear(answer.status, answer.headers)
            return _Answer(answer.status, answer.headers, await answer.read())

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # How many at once is for the pace to say. vLLM closes a connection after 5 idle seconds.
                connector=Connector(limit=0, keepalive_timeout=4),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect),
            )
        return self._session

    def _known(self, error: Exception) -> Exception:
        """The same error in LiteLLM's classes, as acompletion raises it."""
        if not hasattr(error, "status_code"):
            error = self._provider.get_error_class(str(error) or type(error).__name__, 500, {})
        known: Exception = self._litellm.exception_type(
            model=self._model, custom_llm_provider=PROVIDER, original_exception=error
        )
        return known

    async def close(self) -> None:
        """Give back the connections."""
        if self._session is not None:
            await self._session.close()


class _Answer(msgspec.Struct, frozen=True):
    """What LiteLLM's provider classes read of an httpx.Response."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def text(self) -> str:
        """The body, read as httpx reads it."""
        kind = self.headers.get("content-type", "")
        if "charset" not in kind:
            return self.content.decode("utf-8", "replace")
        return httpx.Response(200, headers={"content-type": kind}, content=self.content).text

    def json(self) -> Any:
        """The body; raises where it is no JSON."""
        return json.loads(self.content)  # msgspec refuses half a sign, which an answer may hold


class _Unlogged:
    """LiteLLM's log of a call, which nobody reads."""

    def post_call(self, **_: object) -> None:
        """Keep nothing."""
