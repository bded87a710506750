"""The page as one HTML file: no network, escaped text, embedded figures, one script that sorts tables."""

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from balrog_rag.results.report.document import Cell, ReportPage, plain_cell
from balrog_rag.util.terminal_safe import terminal_safe

TITLES = {
    "forest": "Differences from the baseline with 95 % intervals, by arm, environment and task",
    "scores": "Scores of each arm: bars with intervals, with one point per episode",
    "progress_over_steps": "Mean progression over steps",
    "progress_over_dollars": "Mean progression over dollars",
    "scores_over_dollars": "Progression with intervals over dollars per episode",
    "survival": "Survival and depth over game time",
    "box_plots_by_role": "Scores, turns and depths by role, one box per set of games",
    "outcomes": "How episodes ended",
    "retrieval": "Tokens by purpose of the call, and use of retrieval",
}

LIGHT = "--ink: #1a1a1a; --paper: #fff; --line: #ddd; --better: #0072b2; --worse: #b34e00; --even: #666;"
DARK = (
    "--ink: #e6e8ea; --paper: #14171a; --line: #30363d; --better: #66b3ec; --worse: #f0935f; --even: #9aa5b1;"
)
"""Colours of the page that its figures share."""
_SHARED = {"#000000": "var(--ink)", "#ffffff": "var(--paper)", "#dddddd": "var(--line)"}
_CLAIMS = {"#0072b2": "var(--better)", "#d55e00": "var(--worse)", "#777777": "var(--even)"}
"""Colours of claims, of figures that draw no arms."""
_COLOUR = re.compile("(fill|stroke): (#[0-9a-f]{6})")
_WIDTH = re.compile(rb'<svg [^>]*?width="([\d.]+)pt"')
ONE_LINE = 28
"""Length below which a cell is not broken."""
WIDE = 300.0
"""Width in points from which a figure fills both columns."""
_STYLE = f"""<style>:root {{ {LIGHT} fill: var(--ink); }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}</style>
"""


def title_of(figure: str) -> str:
    """The title of a figure; by default derived from its name."""
    return TITLES.get(figure, figure.replace("_", " ").capitalize())


def html(page: ReportPage, svgs: Mapping[str, bytes]) -> str:
    """Write the page; `svgs` are the figures by name."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    # figures are embedded as images, in which browsers do not run scripts
    coloured = {name: in_page_colours(svg, name == "forest") for name, svg in svgs.items()}
    figures = {name: b64encode(svg).decode() for name, svg in coloured.items()}
    wide = {name for name, svg in svgs.items() if (found := _WIDTH.search(svg)) and float(found[1]) > WIDE}
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, finalize=_shown,
    )  # fmt: skip
    script = (Path(__file__).parent / "tables.js").read_text("utf-8")
    digest = b64encode(sha256(script.encode()).digest()).decode()  # the policy allows only this script
    return environment.get_template("report.html.j2").render(
        page=page, figures=figures, wide=wide, title_of=title_of, shorter=_on_one_line, light=LIGHT,
        dark=DARK, script=Markup(script), digest=digest,
    )  # fmt: skip


def _on_one_line(cell: Cell) -> bool:
    return len(plain_cell(cell)) < ONE_LINE


def _shown(value: Any) -> Any:
    """Remove control characters and direction marks from names of models and folders."""
    return terminal_safe(value) if type(value) is str else value


def in_page_colours(svg: bytes, claims: bool = False) -> bytes:
    """Replace neutral colours, and those of claims, by the page's in light and dark mode."""
    known = _SHARED | (_CLAIMS if claims else {})
    head, defs, rest = svg.decode().partition("<defs>")
    shared = _COLOUR.sub(lambda found: f"{found[1]}: {known.get(found[2], found[2])}", rest)
    return f"{head}{defs}{_STYLE}{shared}".encode()
