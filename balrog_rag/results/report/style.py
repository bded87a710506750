"""Plot style of an arm: colour, hatch, marker, line, and its label beside an axis."""

from typing import Any

from balrog_rag.util.palette import COLOURS, HATCHES, SETTINGS
from balrog_rag.util.terminal_safe import one_line

__all__ = ["SETTINGS", "colour", "filling", "hatch", "label", "line", "mark", "wide_scale"]

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")


def colour(place: int) -> str:
    """The colour of the arm with this index."""
    return COLOURS[place % len(COLOURS)]


def hatch(place: int) -> str:
    """The hatch of the arm with this index; it changes when colours repeat."""
    return HATCHES[(place + place // len(COLOURS)) % len(HATCHES)]


def mark(place: int) -> str:
    """The marker of the arm with this index."""
    return MARKS[(place + place // len(COLOURS)) % len(MARKS)]


def line(place: int) -> str:
    """The line style of the arm with this index."""
    return LINES[(place + place // len(COLOURS)) % len(LINES)]


def filling(place: int) -> str:
    """The fill style of the marker with this index: hollow when colours repeat."""
    return "full" if place // len(COLOURS) % 2 == 0 else "none"


def wide_scale(axis: Any) -> None:
    """Scale the x axis for values from 0 to millions: linear up to 100, then logarithmic."""
    axis.set_xscale("symlog", linthresh=100)
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


LINE = 34
"""Characters of a name per line."""


def label(name: str, width: int = LINE) -> str:
    """Shorten a name for an axis, on two lines if necessary, without control characters."""
    clean = one_line(name)
    if len(clean) > 2 * width:
        clean = clean[: 2 * width - 1] + "…"
    if len(clean) <= width:
        return clean
    cut = max(clean.rfind(sign, 0, width) for sign in " _-,") + 1 or width
    return f"{clean[:cut]}\n{clean[cut:]}"
