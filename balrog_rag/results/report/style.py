"""How an arm is drawn: its colour, hatch, mark and line, and its name beside an axis."""

from typing import Any

from balrog_rag.util.palette import COLOURS, HATCHES, SETTINGS
from balrog_rag.util.terminal_safe import one_line

__all__ = ["SETTINGS", "colour", "filling", "hatch", "label", "line", "mark", "wide_scale"]

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")


def colour(place: int) -> str:
    """The colour of the arm at this place."""
    return COLOURS[place % len(COLOURS)]


def hatch(place: int) -> str:
    """The hatch of the arm at this place; the second round of colours has other hatches."""
    return HATCHES[(place + place // len(COLOURS)) % len(HATCHES)]


def mark(place: int) -> str:
    """The mark of the arm at this place."""
    return MARKS[(place + place // len(COLOURS)) % len(MARKS)]


def line(place: int) -> str:
    """The line style of the arm at this place."""
    return LINES[(place + place // len(COLOURS)) % len(LINES)]


def filling(place: int) -> str:
    """How the mark of the arm at this place is filled: the second round of colours has hollow ones."""
    return "full" if place // len(COLOURS) % 2 == 0 else "none"


def wide_scale(axis: Any) -> None:
    """Figures from 0 to millions along the foot of the axes: even up to 100, then by powers of ten."""
    axis.set_xscale("symlog", linthresh=100)
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


LINE = 34
"""Letters of a name on one line."""


def label(name: str) -> str:
    """A name that fits beside an axis, on two lines where it must; control characters never get through."""
    clean = one_line(name)
    if len(clean) > 2 * LINE:
        clean = clean[: 2 * LINE - 1] + "…"
    if len(clean) <= LINE:
        return clean
    cut = max(clean.rfind(sign, 0, LINE) for sign in " _-,") + 1 or LINE
    return f"{clean[:cut]}\n{clean[cut:]}"
