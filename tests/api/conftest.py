"""Registrations by a test are undone after it."""

import pytest

from balrog_rag.contracts import registry


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add registrations to copies for the duration of one test."""
    for kind in vars(registry).values():
        if isinstance(kind, registry.Registry):
            monkeypatch.setattr(kind, "_added", dict(kind._added))
