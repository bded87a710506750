"""Cheaper ways to show the same screen: a map without its trailing spaces, a map that is not repeated."""

from balrog_rag.contracts.data import Observation

STATUS_LINES = 2
"""NetHack's bottom lines, the last of every map; they change when nothing else does."""


def trimmed(observation: Observation) -> Observation:
    """The same moment with no space at the end of any map line; every column stays where it is."""
    lines = observation.text("map").split("\n")
    return observation.with_text("map", "\n".join(line.rstrip() for line in lines))


def picture(observation: Observation) -> str:
    """The map without its status lines."""
    return _parts(observation)[0]


def without_map(observation: Observation, notice: str) -> Observation:
    """The same moment with a word in the place of its map; its status lines stay."""
    return observation.with_text("map", "\n".join([notice, *_parts(observation)[1:]]) + "\n")


def _parts(observation: Observation) -> list[str]:
    return observation.text("map").removesuffix("\n").rsplit("\n", STATUS_LINES)
