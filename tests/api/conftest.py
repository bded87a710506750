"""What a test registers is forgotten with it."""

import pytest

from balrog_rag.contracts import registry


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is added goes into copies, for the time of one test."""
    for kind in vars(registry).values():
        if isinstance(kind, registry.Registry):
            monkeypatch.setattr(kind, "_added", dict(kind._added))
