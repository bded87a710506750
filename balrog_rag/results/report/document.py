"""The format-independent parts of a page: sections of sentences, verdicts, tables and figures."""

import re
from collections.abc import Sequence

import msgspec

_FIGURE = re.compile(r"[-+<±]?\d[\d,]*(\.\d+)?[kM%]?(?![\w-])|[–-]$|(none|free|unknown|too few)\b")
"""The beginning of a cell that is a number, or says that there is none."""


class Link(msgspec.Struct, frozen=True):
    """Text that links to a file."""

    text: str
    href: str


class FigureCell(msgspec.Struct, frozen=True):
    """A number with its interval below it, and optionally a bar."""

    text: str
    around: str = ""
    """Its interval, count or corrected value, in smaller type."""
    below: str = ""
    """More of that, on a line of its own."""
    href: str = ""
    bar: tuple[float, float, float] | None = None
    """Low end, mean and high end as shares of the scale."""

    @property
    def plain(self) -> str:
        """All of it on one line."""
        return f"{self.text} {', '.join(filter(None, (self.around, self.below)))}".rstrip()


Cell = str | Link | FigureCell
WORDS = 60
"""Length from which a cell is formatted as a sentence."""


def plain_cell(cell: Cell) -> str:
    """A cell's text without its link."""
    return cell if isinstance(cell, str) else cell.text if isinstance(cell, Link) else cell.plain


class Table(msgspec.Struct):
    """Rows under headings; the first column contains names."""

    headings: list[str]
    rows: list[list[Cell]]
    note: str = ""
    marked: list[bool] = []
    """Which rows are highlighted; empty: none."""
    caption: str = ""

    @property
    def wordy(self) -> list[bool]:
        """Which columns contain sentences rather than numbers."""
        return [
            any(isinstance(cell, str) and len(cell) > WORDS for cell in column) for column in self._columns()
        ]

    @property
    def numeric(self) -> list[bool]:
        """Which columns contain numbers, and are aligned to the right."""
        wordy = self.wordy
        return [
            place > 0 and not wordy[place] and _are_figures([plain_cell(cell) for cell in column])
            for place, column in enumerate(self._columns())
        ]

    def _columns(self) -> list[list[Cell]]:
        return [[row[place] for row in self.rows] for place in range(len(self.headings))]

    def filled(self) -> "Table":
        """The table without columns, other than the first, in which every cell is empty."""
        kept = [
            place
            for place, column in enumerate(self._columns())
            if place == 0 or any(plain_cell(cell) for cell in column)
        ]
        rows = [[row[place] for place in kept] for row in self.rows]
        return msgspec.structs.replace(self, headings=[self.headings[place] for place in kept], rows=rows)


def _are_figures(texts: Sequence[str]) -> bool:
    known = [text for text in texts if text]
    return bool(known) and 2 * sum(bool(_FIGURE.match(text)) for text in known) > len(known)


class VerdictBox(msgspec.Struct, frozen=True):
    """A comparison in one sentence, which begins with its claim."""

    about: str
    word: str
    """The claim, such as `higher more often`; `no verdict` if there is none."""
    sentence: str

    @property
    def look(self) -> str:
        """The name of the claim's look."""
        return self.word.replace(" ", "-") if self.word in SIGNS else "no-verdict"

    @property
    def sign(self) -> str:
        """The sign of the claim."""
        return SIGNS.get(self.word, "–")

    @property
    def rest(self) -> str:
        """The sentence after its claim."""
        return self.sentence.removeprefix(self.word)


SIGNS = {
    "higher": "▲",
    "higher more often": "△",
    "undecided": "○",
    "lower more often": "▽",
    "lower": "▼",
}
"""A sign for each claim; hollow triangles for claims about the order alone."""


class Section(msgspec.Struct):
    """A heading and its content."""

    title: str
    sentences: list[str] = []
    tables: list[Table] = []
    figures: list[str] = []
    """Names of figures, in order."""
    boxes: list[VerdictBox] = []
    first: list[str] = []
    """Names of figures shown before everything else."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.sentences or self.tables or self.boxes)


class ReportPage(msgspec.Struct):
    """A whole report."""

    title: str
    sections: list[Section]
    card: list[tuple[str, str]] = []
    """The summary on top: labels and facts."""
    captions: dict[str, str] = {}
    """What a figure shows, by its name."""
