"""A report's tables in LaTeX (booktabs), and what to cite in BibTeX."""

from collections.abc import Iterable, Sequence

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


def tex_text(text: str) -> str:
    """Escape every character that LaTeX would interpret."""
    return one_line(text).translate(_TABLE)


def latex(page: ReportPage) -> str:
    """The page's main tables and its methods, to be included in a paper; needs the package booktabs."""
    parts = [f"% {one_line(page.title)}", "% requires \\usepackage{booktabs}"]
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
    head = " & ".join(tex_text(heading) for heading in table.headings) + r" \\"
    caption = [rf"\caption{{{tex_text(' '.join(filter(None, (table.caption, table.note))))}}}"]
    return "\n".join(
        [
            *(r"\begin{table}", r"\centering", r"\small", *(caption if table.caption or table.note else [])),
            *(rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule"),
            *(r"\end{tabular}", r"\end{table}"),
        ]
    )


def _cell(cell: Cell) -> str:
    return tex_text(plain_cell(cell))


def bibtex(envs: Iterable[str]) -> str:
    """The entries of eval/references.bib for BALROG, this program and these environments."""
    wanted: Sequence[str] = ("balrog", "balrog_rag", *envs)
    entries = (data("eval") / "references.bib").read_text("utf-8").split("\n\n")
    keys = {entry.partition("{")[2].partition(",")[0]: entry.strip() for entry in entries}
    return "\n\n".join(keys[name] for name in dict.fromkeys(wanted) if name in keys) + "\n"
