"""One POST over aiohttp: bounded in size, sent once, redirected without keys.

aiohttp takes a quarter of httpx's processor time for a prompt of 33 messages (`benchmarks/llm.py`).
"""

import os
import ssl
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakSet

import aiohttp
import msgspec
import yarl

from balrog_rag.models.bodies import Unreadable, bounded
from balrog_rag.models.failures import LONGEST_ERROR, FailedCall, Failure, Kind, brief

REDIRECTS = (301, 302, 303, 307, 308)
KEEPING_THE_METHOD = (307, 308)
MOST_REDIRECTS = 5
KEEP_ALIVE = 4
"""Seconds that an idle connection is kept; vLLM closes its side after 5."""
NO_HEADERS: Mapping[str, str] = {}
CARRIED_ELSEWHERE = ("content-type", "accept-encoding", "user-agent")
"""The only headers that follow a redirect to another host: any other may contain a key."""

_kept: ContextVar[bool] = ContextVar("_kept", default=False)
"""Whether this task's request uses a connection kept from an earlier one."""


class HttpAnswer(msgspec.Struct, frozen=True):
    """An HTTP answer: status, headers, and as much of the body as may be read."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text, in the character set that it declares."""
        _, _, charset = self.headers.get("content-type", "").partition("charset=")
        try:
            return self.body.decode(charset.partition(";")[0].strip(" \"'") or "utf-8", "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")


class Poster:
    """Connections to one address; create it in a running event loop."""

    def __init__(self, url: str, headers: Mapping[str, str], connect_timeout: float, most: int) -> None:
        """Read at most `most` bytes of a successful answer; `connect_timeout` is in seconds."""
        self._url = yarl.URL(url)
        self._headers = {"content-type": "application/json", "accept-encoding": "identity", **headers}
        self._most = most
        self._proxy = proxy_for(url)
        self._session = aiohttp.ClientSession(
            # Unlimited here, since the pace limits concurrency.
            connector=_Connector(limit=0, keepalive_timeout=KEEP_ALIVE, ssl=_trust(url)),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout),
            # `bounded` decompresses, with a limit on the result.
            auto_decompress=False,
        )

    async def post(self, body: bytes, headers: Mapping[str, str] = NO_HEADERS) -> HttpAnswer:
        """Send the body and follow redirects; raise FailedCall if no complete answer comes back."""
        try:
            return await self._follow(body, {**self._headers, **headers} if headers else self._headers)
        except aiohttp.ClientConnectorCertificateError as error:
            raise FailedCall(Failure(Kind.UNSENT, None, brief(str(error)))) from error
        except (ValueError, TypeError, OverflowError) as error:
            # aiohttp raises these for an invalid address or header, before anything is sent.
            raise FailedCall(Failure(Kind.UNSENT, None, brief(str(error)))) from error
        except aiohttp.ClientResponseError as error:
            raise FailedCall(Failure(Kind.BROKEN, None, brief(f"not HTTP: {error.message}"))) from error
        except (aiohttp.ClientError, OSError) as error:
            raise FailedCall(
                Failure(Kind.NETWORK, None, brief(str(error) or type(error).__name__))
            ) from error

    async def _follow(self, body: bytes, headers: dict[str, str]) -> HttpAnswer:
        url = self._url
        for _ in range(MOST_REDIRECTS):
            heard = await self._once(url, headers, body)
            if heard.status not in REDIRECTS:
                return heard
            here, url = url, _elsewhere(url, heard)
            # Another host must not receive the key.
            if url.origin() != here.origin():
                headers = {name: value for name, value in headers.items() if name in CARRIED_ELSEWHERE}
        raise FailedCall(Failure(Kind.MODEL, heard.status, "too many redirects"))

    async def _once(self, url: yarl.URL, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
        try:
            return await self._send(url, headers, body)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
            # Only a kept connection is retried: the server had closed it before it saw the request. On a new
            # connection the call may have been received, and a second one would be paid for twice.
            if not _kept.get():
                raise
            return await self._send(url, headers, body)

    async def _send(self, url: yarl.URL, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
        async with self._session.post(
            url, headers=headers, data=body, allow_redirects=False, proxy=self._proxy
        ) as answer:
            _kept.set(False)  # the server answered, so a later failure is not that of an idle connection
            return HttpAnswer(answer.status, answer.headers, await self._read(answer))

    async def _read(self, answer: aiohttp.ClientResponse) -> bytes:
        """Read the body up to the bound; the rest is never read, and the connection is closed."""
        good = answer.status < 300
        packed, most = answer.headers.get("content-encoding", ""), self._most if good else LONGEST_ERROR
        try:
            parts = bounded(answer.content.iter_any(), packed, most, good)
            return b"".join([part async for part in parts])
        except (aiohttp.ClientError, Unreadable) as error:
            raise FailedCall(Failure(Kind.BROKEN, answer.status, brief(str(error)))) from error
        finally:
            # Reading the rest of an endless body, to keep the connection, would never end.
            if not answer.content.at_eof():
                answer.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()


class _Connector(aiohttp.TCPConnector):
    """Notes which requests use a kept connection; aiohttp's tracing would cost each call 10 % more."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        # Weak: a connection that aiohttp has dropped must not be kept alive here.
        self._used: WeakSet[Any] = WeakSet()

    async def connect(self, *what: Any, **how: Any) -> Any:
        connection = await super().connect(*what, **how)
        _kept.set(connection.protocol in self._used)
        self._used.add(connection.protocol)
        return connection


def _elsewhere(url: yarl.URL, heard: HttpAnswer) -> yarl.URL:
    """Return the target of a redirect; refuse one that would turn the POST into another request."""
    place = heard.headers.get("location", "")
    if heard.status not in KEEPING_THE_METHOD or not place:
        said = f"the address has moved to {place or 'an unnamed place'}; set model.base_url accordingly"
        raise FailedCall(Failure(Kind.MODEL, heard.status, brief(said)))
    there = url.join(yarl.URL(place))
    if there.scheme not in ("http", "https") or not there.host:
        raise FailedCall(
            Failure(Kind.MODEL, heard.status, brief(f"the address has moved to {place}, not a server"))
        )
    return there


def proxy_for(url: str) -> str | None:
    """Return the proxy that the environment sets for that address."""
    parts, proxies = urlsplit(url), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if proxy and not proxy_bypass(parts.hostname or "") else None


def _trust(url: str) -> ssl.SSLContext | bool:
    """Return the trusted certificates: of SSL_CERT_FILE or SSL_CERT_DIR, else the system's and certifi's."""
    if urlsplit(url).scheme != "https":
        return True
    context = ssl.create_default_context()
    if not os.environ.get("SSL_CERT_FILE") and not os.environ.get("SSL_CERT_DIR"):
        import certifi

        context.load_verify_locations(certifi.where())
    return context
