"""The page as one HTML file: no network, escaped text, embedded figures, one script that sorts tables."""

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from balrog_rag.results.report.document import ReportPage
from balrog_rag.util.terminal_safe import terminal_safe

TITLES = {
    "scores": "Scores of each arm: bars with intervals, with one point per episode",
    "progress_over_steps": "Mean progression over steps",
    "progress_over_dollars": "Mean progression over dollars",
    "scores_over_dollars": "Progression with intervals over dollars per episode",
    "survival": "Survival and depth over game time",
    "box_plots_by_role": "Scores, turns and depths by role, one box per set of games",
    "outcomes": "How episodes ended",
    "retrieval": "Tokens by purpose of the call, and use of retrieval",
}

LIGHT = "--ink: #1a1a1a; --paper: #fff; --line: #ddd;"
DARK = "--ink: #e6e8ea; --paper: #14171a; --line: #30363d;"
"""Colours of the page that its figures share."""
_SHARED = {"#000000": "var(--ink)", "#ffffff": "var(--paper)", "#dddddd": "var(--line)"}
_NEUTRAL = re.compile("(fill|stroke): (#000000|#ffffff|#dddddd)")
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
    figures = {name: b64encode(in_page_colours(svg)).decode() for name, svg in svgs.items()}
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, finalize=_shown,
    )  # fmt: skip
    script = (Path(__file__).parent / "tables.js").read_text("utf-8")
    digest = b64encode(sha256(script.encode()).digest()).decode()  # the policy allows only this script
    return environment.get_template("report.html.j2").render(
        page=page, figures=figures, title_of=title_of, script=Markup(script), digest=digest,
        light=LIGHT, dark=DARK,
    )  # fmt: skip


def _shown(value: Any) -> Any:
    """Remove control characters and direction marks from names of models and folders."""
    return terminal_safe(value) if type(value) is str else value


def in_page_colours(svg: bytes) -> bytes:
    """Replace black, white and grey in a figure by the page's colours in light and dark mode."""
    head, defs, rest = svg.decode().partition("<defs>")
    shared = _NEUTRAL.sub(lambda found: f"{found[1]}: {_SHARED[found[2]]}", rest)
    return f"{head}{defs}{_STYLE}{shared}".encode()
