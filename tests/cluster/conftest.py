"""Fixtures of the run tests."""

from tests.run.conftest import server as server
