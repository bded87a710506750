"""What a page is made of, whatever it is written in: sections of sentences, tables and figures."""

import msgspec


class Link(msgspec.Struct, frozen=True):
    """Words that lead to a file."""

    text: str
    href: str


Cell = str | Link
WORDS = 60
"""Characters above which a cell is read as a sentence."""


class Table(msgspec.Struct):
    """Rows under headings; the first column names, the others count."""

    headings: list[str]
    rows: list[list[Cell]]
    note: str = ""
    marked: list[bool] = []
    """Which rows stand out; none where empty."""

    @property
    def wordy(self) -> list[bool]:
        """Which columns hold sentences rather than figures."""
        return [
            any(isinstance(cell, str) and len(cell) > WORDS for cell in (row[place] for row in self.rows))
            for place in range(len(self.headings))
        ]


class Section(msgspec.Struct):
    """A heading and what stands under it."""

    title: str
    sentences: list[str] = []
    tables: list[Table] = []
    figures: list[str] = []
    """Names of figures, in order."""


class ReportPage(msgspec.Struct):
    """A whole report."""

    title: str
    sections: list[Section]
