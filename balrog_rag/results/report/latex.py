"""A report's tables in LaTeX (booktabs), and what to cite in BibTeX."""

from collections.abc import Iterable, Sequence
from textwrap import wrap

from balrog_rag.results.report.document import Cell, ReportPage, Table, plain_cell
from balrog_rag.util.paths import data
from balrog_rag.util.terminal_safe import one_line

SECTIONS = ("Verdicts", "Scores", "What the experiment asks", "What the model adds", "Methods")
"""The sections whose content is for papers."""
_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "±": r"$\pm$", "–": "--", "<": "$<$",
    ">": "$>$",
}  # fmt: skip
_TABLE = str.maketrans(_SIGNS)
HEADING_WIDTH = 12
"""Characters in a line of a column's heading, which would otherwise make tables wider than a page."""


def tex_text(text: str) -> str:
    """Escape every character that LaTeX would interpret."""
    return one_line(text).translate(_TABLE)


def latex(page: ReportPage) -> str:
    """The page's main tables and its methods, to be included in a paper; needs booktabs and graphicx."""
    parts = [f"% {one_line(page.title)}", "% requires \\usepackage{booktabs,graphicx}"]
    for section in page.sections:
        if section.title not in SECTIONS:
            continue
        parts.append(f"% {section.title}")
        parts += [f"% {one_line(box.about)}: {one_line(box.sentence)}" for box in section.boxes]
        if section.title == "Methods":
            parts += [tex_text(sentence) for sentence in section.sentences]
        parts += [_table(table.filled()) for table in section.tables if table.rows]
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    columns = "".join("r" if right else "l" for right in table.numeric)
    rows = [" & ".join(_cell(cell) for cell in row) + r" \\" for row in table.rows]
    head = " & ".join(map(_heading, table.headings, table.numeric)) + r" \\"
    caption = [rf"\caption{{{tex_text(' '.join(filter(None, (table.caption, table.note))))}}}"]
    return "\n".join(
        [
            *(r"\begin{table}", r"\centering", r"\small", *(caption if table.caption or table.note else [])),
            # A table that is still too wide is made smaller.
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            *(rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule"),
            *(r"\end{tabular}}", r"\end{table}"),
        ]
    )


def _heading(text: str, numeric: bool) -> str:
    lines = [tex_text(line) for line in wrap(one_line(text), HEADING_WIDTH, break_long_words=False)]
    stacked = r" \\ ".join(lines)
    return rf"\shortstack[{'r' if numeric else 'l'}]{{{stacked}}}" if len(lines) > 1 else stacked


def _cell(cell: Cell) -> str:
    return tex_text(plain_cell(cell))


def bibtex(envs: Iterable[str]) -> str:
    """The entries of eval/references.bib for BALROG, this program and these environments."""
    wanted: Sequence[str] = ("balrog", "balrog_rag", *envs)
    entries = (data("eval") / "references.bib").read_text("utf-8").split("\n\n")
    keys = {entry.partition("{")[2].partition(",")[0]: entry.strip() for entry in entries}
    return "\n\n".join(keys[name] for name in dict.fromkeys(wanted) if name in keys) + "\n"
