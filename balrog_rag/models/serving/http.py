"""A minimal HTTP/1.1 server for loopback: keep-alive, fixed-length bodies, one event loop.

Not a web framework, though aiohttp is installed: the test server must send answers that are cut, slow,
broken off or not HTTP at all, byte by byte, which a framework prevents.
"""

import asyncio
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, cast

import msgspec

MAX_BODY = 256 * 1024 * 1024


class HttpRequest(msgspec.Struct, frozen=True):
    """One request as received; header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]


class Connection(asyncio.Protocol):
    """One client; requests are answered one after the other, in order."""

    def __init__(self, answer: "Answer", gone: Callable[["Connection"], None]) -> None:
        self._answer = answer
        self._gone = gone
        self._waiting = b""
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport of a new client."""
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, error: Exception | None) -> None:
        """Cancel the answer of a client that disconnected."""
        self._transport = None
        self._gone(self)
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        """Collect bytes, and answer as soon as they are a complete request."""
        self._waiting += data
        self._next()

    def _next(self) -> None:
        if self._task is not None or self._transport is None:
            return
        try:
            request = self._take()
        except ValueError:
            self.abort()
            return
        if request is not None:
            self._task = asyncio.get_running_loop().create_task(self._serve(request))

    def _take(self) -> HttpRequest | None:
        """Remove and return the first complete request received so far."""
        head, found, rest = self._waiting.partition(b"\r\n\r\n")
        if not found:
            return None
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
        }
        length = int(headers.get("content-length", "0"))
        if not 0 <= length <= MAX_BODY:
            raise ValueError("body too large")
        if len(rest) < length:
            return None
        self._waiting = rest[length:]
        return HttpRequest(method, target, headers, rest[:length])

    async def _serve(self, request: HttpRequest) -> None:
        await self._answer(request, self)
        self._task = None
        self._next()

    def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Answer with a complete body."""
        self.write(head(status, len(body), headers) + body)

    def write(self, data: bytes) -> None:
        """Send raw bytes if the client is still connected."""
        if self._transport is not None:
            self._transport.write(data)

    def abort(self) -> None:
        """Break the connection, dropping unsent bytes."""
        if self._transport is not None:
            self._transport.abort()


Answer = Callable[[HttpRequest, Connection], Coroutine[Any, Any, None]]


def head(status: int, length: int, headers: dict[str, str] | None = None) -> bytes:
    """Return the status line and headers."""
    more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    kind = "" if headers and "content-type" in headers else "content-type: application/json\r\n"
    return (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{kind}{more}content-length: {length}\r\n\r\n"
    ).encode()


class Listener:
    """A listening socket on loopback and its connections."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._server: asyncio.Server | None = None
        self._connections: set[Connection] = set()

    async def open(self, host: str, port: int) -> int:
        """Listen; return the port (a free one if 0 was given)."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, host, port, backlog=1024)
        return int(self._server.sockets[0].getsockname()[1])

    def _connect(self) -> Connection:
        connection = Connection(self._answer, self._connections.discard)
        self._connections.add(connection)
        return connection

    async def close(self) -> None:
        """Stop listening and break every connection."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in list(self._connections):
            connection.abort()
        await asyncio.sleep(0)
