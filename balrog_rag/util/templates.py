"""Load prompt templates from a package's `prompts` folder."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType


@cache
def templates(package: str) -> Mapping[str, str]:
    """Return the texts of PACKAGE/prompts/*.j2 by file name without the extension."""
    folder = files(package).joinpath("prompts")
    found = sorted(
        (each for each in folder.iterdir() if each.name.endswith(".j2")), key=lambda each: each.name
    )
    return MappingProxyType({each.name[:-3]: each.read_text("utf-8") for each in found})
