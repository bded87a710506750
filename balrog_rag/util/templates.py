"""Prompt files that lie in a package's folder `prompts`."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType


@cache
def templates(package: str) -> Mapping[str, str]:
    """The texts of PACKAGE/prompts/*.j2 by name, without the ending."""
    folder = files(package).joinpath("prompts")
    found = sorted(
        (each for each in folder.iterdir() if each.name.endswith(".j2")), key=lambda each: each.name
    )
    return MappingProxyType({each.name[:-3]: each.read_text("utf-8") for each in found})
