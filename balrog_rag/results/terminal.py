"""Tables of results on a terminal: the numbers stay whole, and long names are broken between their words."""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDE = 140
"""Columns where no terminal sets the width."""
LEAST_NAME = 12
"""A column of names is never narrower, whatever else is cropped for it."""
GAP = 2
"""Cells between two columns."""


def console() -> "Console":
    """Stdout, as wide as the terminal; a file or a pipe has no width of its own."""
    from rich.console import Console

    class OfACommand(Console):
        def on_broken_pipe(self) -> None:
            """Leave it to the command, which knows its exit code; rich would end the process with 1."""
            raise BrokenPipeError

    narrow = sys.stdout.isatty() or "COLUMNS" in os.environ
    return OfACommand(width=None if narrow else WIDE)


def table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str] | None], width: int) -> "Table":
    """A column of names and columns of numbers; a row of None draws a line."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    shown = Table(
        title=Text(printable(title)),
        title_justify="left",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    shown.add_column(headings[0], overflow="fold")
    for heading in headings[1:]:
        shown.add_column(heading, justify="right", no_wrap=True)
    room = _room_for_names([headings, *(row for row in rows if row is not None)], width)
    for row in rows:
        if row is None:
            shown.add_section()
        else:
            shown.add_row(Text(broken(printable(row[0]), room)), *(Text(cell) for cell in row[1:]))
    return shown


def _room_for_names(rows: Sequence[Sequence[str]], width: int) -> int:
    from rich.cells import cell_len

    numbers = list(zip(*rows, strict=True))[1:]
    taken = sum(
        GAP + max(cell_len(line) for cell in column for line in cell.split("\n")) for column in numbers
    )
    return max(LEAST_NAME, width - taken)


def broken(name: str, room: int) -> str:
    """The name in lines of at most `room` characters, the later ones indented."""
    rest = name.strip()
    lead = name[: len(name) - len(name.lstrip())]
    lines = []
    while len(lead + rest) > room:
        fitting = max(1, room - len(lead))
        cut = _break_in(rest[:fitting])
        lines.append(lead + rest[:cut])
        lead, rest = f"  {lead}" if len(lines) == 1 else lead, rest[cut:]
    return "\n".join([*lines, lead + rest])


def _break_in(text: str) -> int:
    """Where to break: between settings if it can be, else between words, else at the end."""
    for signs in (",/", "=_-"):
        if found := max(text.rfind(sign) for sign in signs) + 1:
            return found
    return len(text)


def printable(text: str) -> str:
    """The text without control characters, which a terminal might obey."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "?" for sign in text)
