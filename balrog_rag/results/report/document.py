"""The format-independent parts of a page: sections of sentences, tables and figures."""

import msgspec


class Link(msgspec.Struct, frozen=True):
    """Text that links to a file."""

    text: str
    href: str


Cell = str | Link
WORDS = 60
"""Length from which a cell is formatted as a sentence."""


class Table(msgspec.Struct):
    """Rows under headings; the first column contains names, the others numbers."""

    headings: list[str]
    rows: list[list[Cell]]
    note: str = ""
    marked: list[bool] = []
    """Which rows are highlighted; empty: none."""

    @property
    def wordy(self) -> list[bool]:
        """Which columns contain sentences rather than numbers."""
        return [
            any(isinstance(cell, str) and len(cell) > WORDS for cell in (row[place] for row in self.rows))
            for place in range(len(self.headings))
        ]


class Section(msgspec.Struct):
    """A heading and its content."""

    title: str
    sentences: list[str] = []
    tables: list[Table] = []
    figures: list[str] = []
    """Names of figures, in order."""


class ReportPage(msgspec.Struct):
    """A whole report."""

    title: str
    sections: list[Section]
