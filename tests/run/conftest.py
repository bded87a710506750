"""Servers for runs in processes of their own."""

from collections.abc import Iterator

import pytest

from tests.run.support import Server


@pytest.fixture
def server() -> Iterator[Server]:
    """A model server that answers within 10 ms."""
    server = Server("--latency", "0.01")
    yield server
    server.close()
