"""Where the data beside the package lies: in a checkout at its top, in a wheel inside the package."""

from functools import cache
from pathlib import Path


@cache
def data(name: str) -> Path:
    """The folder `conf`, `wiki_index` or `eval`."""
    package = Path(__file__).resolve().parents[1]
    packed = package / "_data" / name
    return packed if packed.is_dir() else package.parent / name
