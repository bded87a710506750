"""A moment of a game as people are shown it: text in colours, or a picture.

An environment that can do so has a method `painted() -> Painting | None`. Agents never see what it gives;
it is asked for by viewers alone, while a journal is replayed.
"""

from typing import Any, TypeAlias

import msgspec


class ColouredText(msgspec.Struct, frozen=True):
    """A screen of text, each sign in one of a terminal's sixteen colours."""

    width: int
    """Signs in a row."""
    text: str
    """All rows, one behind the other, without line ends."""
    colours: str
    """The colour of each of these signs, as a hexadecimal digit."""
    cursor: tuple[int, int] | None = None
    """Row and column."""

    def rows(self) -> tuple[list[str], list[str]]:
        """The rows and their colours."""
        starts = range(0, len(self.text), self.width)
        return (
            [self.text[start : start + self.width] for start in starts],
            [self.colours[start : start + self.width] for start in starts],
        )


Painting: TypeAlias = ColouredText | bytes
"""Coloured text, or a picture as PNG."""


def painted(environment: Any) -> Painting | None:
    """The present moment of an environment; None where it paints nothing."""
    paint = getattr(environment, "painted", None)
    found: Painting | None = paint() if paint is not None else None
    return found
