"""Everything that a model provider can do wrong, on demand: one function per fault, by name in FAULTS."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from balrog_rag.models.serving.http import Connection, HttpRequest, head

BIG, HUGE = 200 * 1024, 3 * 1024 * 1024
DRIP_SECONDS = 0.02


class Exchange(msgspec.Struct, frozen=True):
    """A request that a fault answers: the correct answer, and where to send the bad one."""

    request: HttpRequest
    connection: Connection
    text: str
    body: Callable[..., bytes]
    """Makes a well-formed completion: `body(text, **changes of the message)`."""
    retry_after: float


Fault = Callable[[Exchange], Coroutine[Any, Any, None]]


def error_body(message: str, kind: str, code: str | None = None) -> bytes:
    """Return an error in the format of OpenAI-compatible servers."""
    return msgspec.json.encode({"error": {"message": message, "type": kind, "param": None, "code": code}})


def _status(status: int, message: str, kind: str, code: str | None = None) -> Fault:
    async def answer(exchange: Exchange) -> None:
        exchange.connection.send(status, error_body(message, kind, code))

    return answer


def _message(finish: str = "stop", **changes: Any) -> Fault:
    async def answer(exchange: Exchange) -> None:
        exchange.connection.send(200, exchange.body(exchange.text, finish, **changes))

    return answer


async def _retry_after(exchange: Exchange) -> None:
    headers = {"retry-after": f"{exchange.retry_after:g}"}
    exchange.connection.send(429, error_body("slow down", "rate_limit_error"), headers)


async def _bad_gateway(exchange: Exchange) -> None:
    headers = {"content-type": "text/html"}
    exchange.connection.send(502, b"<html><body><h1>502 Bad Gateway</h1></body></html>", headers)


async def _hang(exchange: Exchange) -> None:
    await asyncio.get_running_loop().create_future()


async def _drip(exchange: Exchange) -> None:
    body = exchange.body(exchange.text)
    exchange.connection.write(head(200, len(body)))
    for position in range(len(body) - 1):
        exchange.connection.write(body[position : position + 1])
        await asyncio.sleep(DRIP_SECONDS)
    await _hang(exchange)


async def _reset(exchange: Exchange) -> None:
    body = exchange.body(exchange.text)
    exchange.connection.write(head(200, len(body)) + body[: len(body) // 2])
    await asyncio.sleep(0.01)
    exchange.connection.abort()


async def _truncated(exchange: Exchange) -> None:
    body = exchange.body(exchange.text)
    exchange.connection.send(200, body[: len(body) // 2])


async def _wrong_json(exchange: Exchange) -> None:
    exchange.connection.send(200, b'{"hello": [1, 2, 3]}')


async def _no_json(exchange: Exchange) -> None:
    exchange.connection.send(200, b"<html>come back later</html>", {"content-type": "text/html"})


async def _big(exchange: Exchange) -> None:
    exchange.connection.send(200, exchange.body("x" * BIG + exchange.text))


async def _huge(exchange: Exchange) -> None:
    exchange.connection.send(200, exchange.body("x" * HUGE + exchange.text))


async def _bad_utf8(exchange: Exchange) -> None:
    marked = exchange.body("\u0001" + exchange.text)
    exchange.connection.send(200, marked.replace(b"\\u0001", b"\xff\xfe\xc3"))


async def _half_a_sign(exchange: Exchange) -> None:
    marked = exchange.body(exchange.text + "\u0001")
    exchange.connection.send(200, marked.replace(b"\\u0001", b"\\ud83d"))


async def _cut_short(exchange: Exchange) -> None:
    exchange.connection.send(200, exchange.body(exchange.text[: len(exchange.text) // 2], "length"))


async def _echo(status: int, exchange: Exchange) -> None:
    request = exchange.request
    message = f"bad call: {request.target} {request.headers} {request.body.decode('utf-8', 'replace')}"
    exchange.connection.send(status, error_body(message, "invalid_request_error"))


TOOL_CALL = [{"id": "call_1", "type": "function", "function": {"name": "press", "arguments": '{"key": "j"}'}}]

FAULTS: dict[str, Fault] = {
    "429": _status(429, "slow down", "rate_limit_error"),
    "429-retry-after": _retry_after,
    "500": _status(500, "the server had an error", "server_error"),
    "502": _bad_gateway,
    "503": _status(503, "overloaded", "server_error"),
    "hang": _hang,
    "drip": _drip,
    "reset": _reset,
    "truncated": _truncated,
    "wrong-json": _wrong_json,
    "no-json": _no_json,
    "invalid-utf8": _bad_utf8,
    "empty": lambda exchange: _message(content="")(exchange),
    "null": lambda exchange: _message(content=None)(exchange),
    "refusal": lambda exchange: _message(content=None, refusal="I cannot help with that.")(exchange),
    "length": _cut_short,
    "half-a-sign": _half_a_sign,
    "big": _big,
    "huge": _huge,
    "tool-call": lambda exchange: _message("tool_calls", content=None, tool_calls=TOOL_CALL)(exchange),
    "400": _status(400, "temperature must be a number", "invalid_request_error", "bad_value"),
    "401": _status(401, "incorrect key", "invalid_request_error", "invalid_api_key"),
    "402": _status(402, "insufficient credits", "billing_error"),
    "403": _status(403, "not allowed", "permission_error"),
    "404": _status(404, "the model does not exist", "invalid_request_error", "model_not_found"),
    "context": _status(
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9999 tokens.",
        "invalid_request_error",
        "context_length_exceeded",
    ),
    "echo-401": lambda exchange: _echo(401, exchange),
    "echo-500": lambda exchange: _echo(500, exchange),
}
"""Faults by name. The `echo-` ones repeat the whole request, including the key, in the error."""
