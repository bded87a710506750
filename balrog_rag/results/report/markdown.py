"""The page in Markdown, for repositories and appendices of papers."""

import re
from collections.abc import Mapping, Sequence

from balrog_rag.results.report.document import Cell, ReportPage, Table
from balrog_rag.results.report.html import title_of
from balrog_rag.util.terminal_safe import one_line

_SIGNS = re.compile(r"([\\`*_{}\[\]<>|#~])")


def markdown(page: ReportPage, files: Mapping[str, str]) -> str:
    """Write the page; `files` maps figures to paths."""
    parts = [f"# {escaped(page.title)}"]
    for section in page.sections:
        parts.append(f"## {escaped(section.title)}")
        parts += [escaped(sentence) for sentence in section.sentences]
        parts += [f"![{title_of(name)}]({files[name]})" for name in section.figures]
        parts += [_table(table) for table in section.tables]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Escape every character that Markdown, HTML or a terminal would interpret."""
    return _SIGNS.sub(r"\\\1", one_line(text)).replace("&", "&amp;")


def _table(table: Table) -> str:
    lines = [_row(table.headings), _row([], [":---", *["---:"] * (len(table.headings) - 1)])]
    marked = table.marked or [False] * len(table.rows)
    lines += [_row(row, strong=strong) for row, strong in zip(table.rows, marked, strict=True)]
    return "\n".join(lines) + (f"\n\n{escaped(table.note)}" if table.note else "")


def _row(cells: Sequence[Cell], ready: Sequence[str] = (), strong: bool = False) -> str:
    shown = ready or [_cell(cell) for cell in cells]
    return "| " + " | ".join(f"**{text}**" if strong and text else text for text in shown) + " |"


def _cell(cell: Cell) -> str:
    return escaped(cell) if isinstance(cell, str) else f"[{escaped(cell.text)}](<{cell.href}>)"
