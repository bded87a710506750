"""Import MiniHack without pkg_resources, which would take a tenth of a second of every game process.

MiniHack asks it where its files and NLE's are, and nothing else.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

_NAME = "pkg_resources"


def import_minihack() -> None:
    """Import the package, which registers its tasks with Gymnasium."""
    with _places_only():
        import minihack  # noqa: F401


@contextmanager
def _places_only() -> Iterator[None]:
    """Stand in for pkg_resources, unless it is imported already."""
    if _NAME in sys.modules:
        yield
        return
    stand_in = ModuleType(_NAME)
    stand_in.resource_filename = _path  # type: ignore[attr-defined]
    sys.modules[_NAME] = stand_in
    try:
        yield
    finally:
        del sys.modules[_NAME]


def _path(package: str, name: str) -> str:
    """Return the path of a file of a package."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(package)
    return str(Path(spec.origin).parent / name)
