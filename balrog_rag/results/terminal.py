"""Tables on a terminal: numbers are never broken, long names are broken between words."""

import os
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from balrog_rag.util.terminal_safe import terminal_safe

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 140
"""Default width if no terminal sets one."""
LEAST_NAME = 12
"""Minimum width of a column of names, unless all names are shorter."""
GAP = 2
"""Cells between two columns."""


def console() -> "Console":
    """Stdout with the terminal's width; files and pipes have unlimited width."""
    from rich.console import Console

    class OfACommand(Console):
        def on_broken_pipe(self) -> None:
            """Let the command handle it, which knows its exit code; rich would exit with 1."""
            raise BrokenPipeError

    narrow = sys.stdout.isatty() or "COLUMNS" in os.environ
    return OfACommand(width=None if narrow else WIDE)


def say(console: "Console", text: str) -> None:
    """Print text literally, never as markup; a terminal wraps lines if necessary."""
    console.print(terminal_safe(text), markup=False, highlight=False, soft_wrap=True)


def show_table(
    console: "Console", title: str, headings: Sequence[str], rows: Sequence[Sequence[str] | None],
    words: Collection[int] = (0,),
) -> None:  # fmt: skip
    """Print a table; the columns `words` contain names, the others numbers; a row of None draws a line.

    Only names are broken. If that is not enough, the table is wider than the terminal, which wraps its lines:
    a wrapped number can still be read, a cropped one cannot.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    head, *cells = _fitted([headings, *(row for row in rows if row is not None)], words, console.width)
    shown = Table(
        title=Text(terminal_safe(title)),
        title_justify="left",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
        width=_whole(_widths([head, *cells])),
    )
    for place, heading in enumerate(head):
        shown.add_column(Text(heading), justify="left" if place in words else "right", no_wrap=True)
    following = iter(cells)
    for row in rows:
        if row is None:
            shown.add_section()
        else:
            shown.add_row(*map(Text, next(following)))
    console.print(shown, crop=False)


def _fitted(rows: Sequence[Sequence[str]], words: Collection[int], width: int) -> list[list[str]]:
    """The cells for display, with names broken to fit the width."""
    plain = [[terminal_safe(cell).replace("\t", " ") for cell in row] for row in rows]
    rooms = _rooms(_widths(plain), words, width)
    return [
        [broken(cell, room) if room else cell for cell, room in zip(row, rooms, strict=True)] for row in plain
    ]


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    from rich.cells import cell_len

    return [
        max(cell_len(line) for cell in column for line in cell.split("\n"))
        for column in zip(*rows, strict=True)
    ]


def _whole(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _rooms(widths: Sequence[int], words: Collection[int], width: int) -> list[int]:
    """Maximum widths of the columns of names, with space from short ones given to others; 0: do not break."""
    rooms = [0] * len(widths)
    left = width - _whole([0 if place in words else wide for place, wide in enumerate(widths)])
    for done, place in enumerate(sorted(words, key=lambda place: widths[place])):
        rooms[place] = min(widths[place], max(LEAST_NAME, left // (len(words) - done)))
        left -= rooms[place]
    return rooms


def broken(name: str, room: int) -> str:
    """Break a name into lines of at most `room` characters, indenting all but the first."""
    rest = name.strip()
    lead = name[: len(name) - len(name.lstrip())]
    lines = []
    while rest and len(lead + rest) > room:
        fitting = max(1, room - len(lead))
        cut = _break_in(rest[:fitting])
        lines.append(lead + rest[:cut])
        lead, rest = f"  {lead}" if len(lines) == 1 else lead, rest[cut:]
    return "\n".join([*lines, lead + rest])


def _break_in(text: str) -> int:
    """Where to break: preferably between settings, otherwise between words, otherwise at the end."""
    for signs in (" ,/", "=_-"):
        if found := max(text.rfind(sign) for sign in signs) + 1:
            return found
    return len(text)
