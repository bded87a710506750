"""Check that this Python can run balrog_rag. Older Pythons must be able to parse this file."""

from __future__ import annotations

import sys
from importlib.util import find_spec

LEAST, MOST = (3, 11), (3, 13)
"""As `requires-python` in pyproject.toml."""
NEEDED = ("msgspec", "hydra")
"""Packages that every command imports."""
REMEDY = "activate .venv (. .venv/bin/activate) or run make setup"


def refuse_wrong_python() -> None:
    """Exit a command with one line, or raise ImportError, if Python is too old or packages are missing."""
    problem = wrong_with(sys.version_info[:2], [name for name in NEEDED if find_spec(name) is None])
    if not problem:
        return
    if sys.argv[:1] == ["-m"]:  # python -m balrog_rag.X: a traceback would hide the message
        sys.exit(f"error: {problem}")
    raise ImportError(problem)


def wrong_with(version: tuple[int, int], missing: list[str]) -> str:
    """Describe why this Python version, lacking these packages, cannot be used; empty if it can."""
    if not LEAST <= version <= MOST:
        wanted = " to ".join(f"{major}.{minor}" for major, minor in (LEAST, MOST))
        own = f"{version[0]}.{version[1]}"
        return f"{sys.executable}: Python {own}, but balrog_rag needs Python {wanted}; {REMEDY}"
    if missing:
        return f"{sys.executable}: package {missing[0]} is missing; {REMEDY}"
    return ""
