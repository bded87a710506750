"""Results on a terminal: the numbers of a table stay whole, long names are broken between their words."""

import os
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from balrog_rag.util.terminal_safe import terminal_safe

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 140
"""Columns where no terminal sets the width."""
LEAST_NAME = 12
"""A column of names is never narrower, unless they all are."""
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


def say(console: "Console", text: str) -> None:
    """Print words as they are, never as markup; a terminal breaks the line where it must."""
    console.print(terminal_safe(text), markup=False, highlight=False, soft_wrap=True)


def show_table(
    console: "Console", title: str, headings: Sequence[str], rows: Sequence[Sequence[str] | None],
    words: Collection[int] = (0,),
) -> None:  # fmt: skip
    """Print a table whose columns `words` hold names, the others numbers; a row of None draws a line.

    Only names are broken. Where that is not enough, the table is wider than the terminal, which wraps its
    lines: a wrapped number can be read, a cropped one cannot.
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
    """The cells as they are shown, names broken to fit the width."""
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
    """How wide each column of names may be, short ones leaving theirs to the others; 0: not to be broken."""
    rooms = [0] * len(widths)
    left = width - _whole([0 if place in words else wide for place, wide in enumerate(widths)])
    for done, place in enumerate(sorted(words, key=lambda place: widths[place])):
        rooms[place] = min(widths[place], max(LEAST_NAME, left // (len(words) - done)))
        left -= rooms[place]
    return rooms


def broken(name: str, room: int) -> str:
    """The name in lines of at most `room` characters, the later ones indented."""
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
    """Where to break: between settings if it can be, else between words, else at the end."""
    for signs in (" ,/", "=_-"):
        if found := max(text.rfind(sign) for sign in signs) + 1:
            return found
    return len(text)
