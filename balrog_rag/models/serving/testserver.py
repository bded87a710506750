"""A model server on loopback for tests: deterministic, with latency, limits and every fault.

It speaks OpenAI's chat completions and Responses API and Anthropic's Messages API (`shapes`).

    async with TestServer(latency=0.01, faults=("429", "500"), fault_rate=0.1) as server:
        ...                                  # model.base_url=server.url
        assert max(server.counts.values()) == 1

The answer follows from the prompt alone, so the order of requests does not matter. Faults are selected in
the same way, by the prompt's digest. `balrog-rag models testserver` runs it in its own process,
which survives a killed client.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import msgspec

from balrog_rag.contracts.data import Action, ToolCall, digest
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest
from balrog_rag.models import canned_answers
from balrog_rag.models.serving.faults import FAULTS, Exchange, error_body
from balrog_rag.models.serving.http import Connection, HttpRequest, Listener
from balrog_rag.models.serving.shapes import Counts, ServedAnswer, ServedProtocol, ServedQuestion, shape_of

Answerer = Callable[[tuple[str, ...]], str]
Caller = Callable[[tuple[str, ...], tuple[Action, ...]], Sequence[ToolCall]]
CHARACTERS_PER_TOKEN = 4
TICK = 0.001
"""asyncio sleeps whole milliseconds, rounded up; half of one less gives the requested mean latency."""


class ServedCall(msgspec.Struct, frozen=True):
    """One request that the server saw; `fault` is what it did wrong, "" if it answered well."""

    digest: str
    number: int
    """How many times this prompt had been sent, from 1."""
    fault: str
    body: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        """The request's body."""
        return msgspec.json.decode(self.body)


class TestServer:
    """The server, and what it saw; use it as an asynchronous context manager."""

    __test__ = False  # or pytest would collect it because of its name

    def __init__(
        self,
        *,
        port: int = 0,
        latency: float = 0.0,
        answer: Answerer | None = None,
        tokens: tuple[int, int, int] | None = None,
        per_second: int | None = None,
        faults: Sequence[str] = (),
        fault_rate: float = 1.0,
        fault_times: int = 1,
        script: Sequence[str] = (),
        retry_after: float = 0.05,
        keep: int = 10_000,
        call: Caller | None = None,
        served: str = "",
        fingerprint: str = "",
    ) -> None:
        """Set its behaviour.

        latency      seconds from a request to its answer, including the server's own work
        answer       makes the text from the prompt's messages; None: one of the listed actions
        tokens       input, output and cached tokens that every answer reports; None: from the lengths
        per_second   requests answered per second; more get a 429 with Retry-After
        faults       faults for a share `fault_rate` of the prompts, the first `fault_times` times
                     (-1: always) that each is sent
        script       faults of the first requests in order of arrival, "" for none; before `faults`
        keep         how many calls are kept in `calls`
        call         makes the tool calls of an answer from the messages and the tools; None: one of them
        served       the model id that answers name; "": the requested one
        fingerprint  the system_fingerprint of answers
        """
        for name in (*faults, *filter(None, script)):
            if name not in FAULTS:
                raise ConfigError(f"unknown fault {name!r}{nearest(name, FAULTS)}")
        self._port, self._latency, self._tokens = port, latency, tokens
        self._answer = answer or canned_answers.for_prompt
        self._per_second, self._retry_after = per_second, retry_after
        self._faults, self._rate, self._times = tuple(faults), fault_rate, fault_times
        self._script = deque(script)
        self._call = call or _one_call
        self.served, self.fingerprint = served, fingerprint
        self._listener = Listener(self._serve)
        self._second = (0, 0)
        self.counts: Counter[str] = Counter()
        """How often each prompt was sent, by the digest of its messages."""
        self.answered: Counter[str] = Counter()
        """How often each prompt was answered well."""
        self.calls: deque[ServedCall] = deque(maxlen=keep)
        self.in_flight = 0
        self.most_in_flight = 0
        self.url = ""

    async def __aenter__(self) -> "TestServer":
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Listen on 127.0.0.1 and set `url`."""
        port = await self._listener.open("127.0.0.1", self._port)
        self.url = f"http://127.0.0.1:{port}/v1"

    async def close(self) -> None:
        """Stop, and break every connection."""
        await self._listener.close()

    def state(self) -> dict[str, Any]:
        """Return the answer to GET /counts."""
        return {
            "requests": sum(self.counts.values()),
            "answered": sum(self.answered.values()),
            "most_in_flight": self.most_in_flight,
            "counts": self.counts,
            "answered_counts": self.answered,
        }

    async def _serve(self, request: HttpRequest, connection: Connection) -> None:
        shape = shape_of(request.path) if request.method == "POST" else None
        if shape is not None:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            try:
                await self._complete(request, connection, shape)
            finally:
                self.in_flight -= 1
        elif request.path == "/counts":
            connection.send(200, msgspec.json.encode(self.state()))
        elif request.path.endswith("/models"):
            connection.send(200, b'{"object": "list", "data": [{"id": "test", "object": "model"}]}')
        else:
            connection.send(404, error_body("no such page", "invalid_request_error"))

    async def _complete(self, request: HttpRequest, connection: Connection, shape: ServedProtocol) -> None:
        clock = asyncio.get_running_loop().time
        due = clock() + self._latency
        try:
            asked = shape.read(msgspec.json.decode(request.body, type=dict[str, Any]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            connection.send(400, error_body(f"bad request: {error}", "invalid_request_error"))
            return
        key = digest(asked.key)
        self.counts[key] += 1
        fault = self._fault(key)
        self.calls.append(ServedCall(key, self.counts[key], fault, request.body, request.headers))
        calls = tuple(self._call(asked.texts, asked.tools)) if asked.tools else ()
        text = canned_answers.THOUGHT if calls else self._answer(asked.texts)
        body = self._body_maker(shape, asked, calls)
        if self._latency:
            await asyncio.sleep(due - clock() - TICK / 2)
        if fault:
            await FAULTS[fault](Exchange(request, connection, text, body, self._retry_after))
            return
        self.answered[key] += 1
        connection.send(200, body(text))

    def _fault(self, key: str) -> str:
        if self._script:
            return self._script.popleft()
        if self._over_limit():
            return "429-retry-after"
        if not self._faults:
            return ""
        draw = int(digest(f"fault {key}"), 16)
        chosen = (draw % 10_000) < self._rate * 10_000
        if chosen and (self._times < 0 or self.counts[key] <= self._times):
            return self._faults[draw // 10_000 % len(self._faults)]
        return ""

    def _over_limit(self) -> bool:
        if self._per_second is None:
            return False
        second, seen = self._second
        now = int(asyncio.get_running_loop().time())
        self._second = (now, seen + 1 if now == second else 1)
        return self._second[1] > self._per_second

    def _body_maker(
        self, shape: ServedProtocol, asked: ServedQuestion, calls: tuple[ToolCall, ...]
    ) -> Callable[..., bytes]:
        def body(text: str, finish: str = "stop", **changes: Any) -> bytes:
            made = () if changes else calls
            counts = self._tokens or measured(asked.texts, text)
            served = self.served or asked.model
            return shape.write(ServedAnswer(text, made, served, counts, finish, self.fingerprint), **changes)

        return body


def measured(texts: tuple[str, ...], answer: str) -> Counts:
    """Return made-up counts of tokens, from the lengths."""
    return sum(map(len, texts)) // CHARACTERS_PER_TOKEN, len(answer) // CHARACTERS_PER_TOKEN, 0


def _one_call(texts: tuple[str, ...], tools: tuple[Action, ...]) -> list[ToolCall]:
    """Call one of the tools, chosen by the prompt."""
    return [canned_answers.tool_call(digest("\n\n".join(texts)), tools)]
