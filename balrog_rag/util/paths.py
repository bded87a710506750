"""Locate data folders: at the top of a checkout, or inside the package in a wheel."""

from functools import cache
from pathlib import Path


@cache
def data(name: str) -> Path:
    """Return the path of the folder `conf`, `wiki_index` or `eval`."""
    package = Path(__file__).resolve().parents[1]
    packed = package / "_data" / name
    return packed if packed.is_dir() else package.parent / name
