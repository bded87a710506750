"""Retry-After as a date: measured relative to the reply's own Date, since either clock may be wrong."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from balrog_rag.models.failures import FailedCall, Failure, Kind, seconds_to_wait
from balrog_rag.models.own_server import OwnServer
from balrog_rag.models.through_litellm import LiteLLMCall
from tests.models.support import model_config, question

THEIRS = 1_700_000_000
"""A server whose clock is years behind."""


class Busy(BaseHTTPRequestHandler):
    """Answers that it is too much, until 40 seconds after its own Date."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response_only(429)
        self.send_header("Date", formatdate(THEIRS, usegmt=True))
        self.send_header("Retry-After", formatdate(THEIRS + 40, usegmt=True))
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def busy() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Busy)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("way", [OwnServer, LiteLLMCall])
def test_a_server_with_another_clock_is_asked_again_when_it_wants(way: type) -> None:
    async def asked(address: str) -> Failure:
        call = way(model_config("vllm", name="hosted_vllm/test", base_url=address))
        call.open()
        try:
            with pytest.raises(FailedCall) as failed:
                await call(question().messages)
            return failed.value.failure
        finally:
            await call.close()

    with busy() as address:
        failure = asyncio.run(asked(address))
    assert (failure.kind, failure.retry_after) == (Kind.RATE_LIMIT, 40.0)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "7", "date": formatdate(0, usegmt=True)}, 7.0),
        ({"retry-after": formatdate(90, usegmt=True), "date": formatdate(50, usegmt=True)}, 40.0),
        ({"retry-after": formatdate(50, usegmt=True), "date": formatdate(90, usegmt=True)}, 0.0),
        ({"retry-after": "soon", "date": formatdate(50, usegmt=True)}, None),
        ({"date": formatdate(50, usegmt=True)}, None),
        ({}, None),
    ],
)
def test_seconds_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds_to_wait(headers) == seconds


@pytest.mark.parametrize("date", [{}, {"date": "yesterday"}])
def test_without_a_good_date_the_local_clock_counts(date: dict[str, str]) -> None:
    waits = seconds_to_wait({"retry-after": formatdate(time.time() + 1000, usegmt=True), **date})
    assert waits is not None
    assert 0 < waits <= 1000
