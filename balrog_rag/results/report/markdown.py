"""The page in Markdown, for repositories and appendices of papers."""

import re
from collections.abc import Mapping, Sequence

from balrog_rag.results.report.document import Cell, ReportPage, Table, VerdictBox, plain_cell
from balrog_rag.results.report.html import title_of
from balrog_rag.util.terminal_safe import one_line

_SIGNS = re.compile(r"([\\`*_{}\[\]<>|#~])")


def markdown(page: ReportPage, files: Mapping[str, str]) -> str:
    """Write the page; `files` maps figures to paths."""
    parts = [f"# {escaped(page.title)}"]
    if page.card:
        parts.append("\n".join(f"- **{label}**: {escaped(fact)}" for label, fact in page.card))
    for section in page.sections:
        parts.append(f"## {escaped(section.title)}")
        parts += [_figure(page, name, files) for name in section.first]
        parts += [_verdict(box) for box in section.boxes]
        parts += [escaped(sentence) for sentence in section.sentences]
        parts += [_figure(page, name, files) for name in section.figures]
        parts += [_table(table.filled()) for table in section.tables if table.rows]
    return "\n\n".join(parts) + "\n"


def _figure(page: ReportPage, name: str, files: Mapping[str, str]) -> str:
    caption = page.captions.get(name, "")
    return f"![{title_of(name)}]({files[name]})" + (f"\n\n*{escaped(caption)}*" if caption else "")


def _verdict(box: VerdictBox) -> str:
    return f"{box.sign} {escaped(box.about)}: **{escaped(box.word)}**{escaped(box.rest)}"


def escaped(text: str) -> str:
    """Escape every character that Markdown, HTML or a terminal would interpret."""
    return _SIGNS.sub(r"\\\1", one_line(text)).replace("&", "&amp;")


def _table(table: Table) -> str:
    lines = [_row(table.headings), _row([], ["---:" if right else ":---" for right in table.numeric])]
    marked = table.marked or [False] * len(table.rows)
    lines += [_row(row, strong=strong) for row, strong in zip(table.rows, marked, strict=True)]
    caption = [f"*{escaped(table.caption)}*"] if table.caption else []
    note = [escaped(table.note)] if table.note else []
    return "\n\n".join([*caption, "\n".join(lines), *note])


def _row(cells: Sequence[Cell], ready: Sequence[str] = (), strong: bool = False) -> str:
    shown = ready or [_cell(cell) for cell in cells]
    return "| " + " | ".join(f"**{text}**" if strong and text else text for text in shown) + " |"


def _cell(cell: Cell) -> str:
    text = escaped(plain_cell(cell))
    return text if isinstance(cell, str) or not cell.href else f"[{text}](<{cell.href}>)"
