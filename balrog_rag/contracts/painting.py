"""A moment of a game as shown to people: coloured text, or a picture.

An environment that supports this has a method `painted() -> Painting | None`. Agents never see its
result; only viewers call it, while a journal is replayed.
"""

from typing import Any, TypeAlias

import msgspec


class ColouredText(msgspec.Struct, frozen=True):
    """A screen of text, each character in one of a terminal's sixteen colours."""

    width: int
    """Characters per row."""
    text: str
    """All rows joined, without line ends."""
    colours: str
    """The colour of each character, as a hexadecimal digit."""
    cursor: tuple[int, int] | None = None
    """Row and column."""

    def rows(self) -> tuple[list[str], list[str]]:
        """Return the rows and their colours."""
        starts = range(0, len(self.text), self.width)
        return (
            [self.text[start : start + self.width] for start in starts],
            [self.colours[start : start + self.width] for start in starts],
        )


Painting: TypeAlias = ColouredText | bytes
"""Coloured text, or a picture as PNG."""


def painted(environment: Any) -> Painting | None:
    """Return the current picture of an environment; None if it paints nothing."""
    paint = getattr(environment, "painted", None)
    found: Painting | None = paint() if paint is not None else None
    return found
