"""Fixtures of the API tests: what a test registers is forgotten with it."""

from tests.api.conftest import forgotten as forgotten
