"""Whether this Python can run balrog_rag; this file itself must be readable for older ones."""

from __future__ import annotations

import sys
from importlib.util import find_spec

LEAST, MOST = (3, 11), (3, 13)
"""As `requires-python` in pyproject.toml."""
NEEDED = ("msgspec", "hydra")
"""Packages that every command imports."""
REMEDY = "activate .venv (. .venv/bin/activate) or run make setup"


def refuse_wrong_python() -> None:
    """End a command with one line, or raise ImportError, if this Python is too old or lacks the packages."""
    problem = wrong_with(sys.version_info[:2], [name for name in NEEDED if find_spec(name) is None])
    if not problem:
        return
    if sys.argv[:1] == ["-m"]:  # python -m balrog_rag.X: a traceback would hide the line
        sys.exit(f"error: {problem}")
    raise ImportError(problem)


def wrong_with(version: tuple[int, int], missing: list[str]) -> str:
    """What is wrong with a Python of this version that lacks these packages; empty if nothing is."""
    if not LEAST <= version <= MOST:
        wanted = " to ".join(f"{major}.{minor}" for major, minor in (LEAST, MOST))
        own = f"{version[0]}.{version[1]}"
        return f"{sys.executable}: is Python {own}, balrog_rag needs Python {wanted}; {REMEDY}"
    if missing:
        return f"{sys.executable}: has no package {missing[0]}; {REMEDY}"
    return ""
