"""The page as one HTML file: no network, every text escaped, figures inside, one script that sorts tables."""

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from balrog_rag.results.report.document import ReportPage
from balrog_rag.util.terminal_safe import terminal_safe

TITLES = {
    "scores": "Scores of each arm: bars with intervals, every episode a point",
    "progress_over_steps": "Mean progression over steps",
    "progress_over_dollars": "Mean progression over dollars",
    "scores_over_dollars": "Progression with intervals over the dollars of an episode",
    "survival": "Who is alive, and how deep, over the game's own time",
    "box_plots_by_role": "Scores, turns and depths by role, a box for each set of games",
    "outcomes": "How episodes ended",
    "retrieval": "Tokens by purpose of the call, and retrieval's shares",
}

LIGHT = "--ink: #1a1a1a; --paper: #fff; --line: #ddd;"
DARK = "--ink: #e6e8ea; --paper: #14171a; --line: #30363d;"
"""The page's colours that its figures share."""
_SHARED = {"#000000": "var(--ink)", "#ffffff": "var(--paper)", "#dddddd": "var(--line)"}
_NEUTRAL = re.compile("(fill|stroke): (#000000|#ffffff|#dddddd)")
_STYLE = f"""<style>:root {{ {LIGHT} fill: var(--ink); }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}</style>
"""


def title_of(figure: str) -> str:
    """A figure in words; one that is not listed is called by its name."""
    return TITLES.get(figure, figure.replace("_", " ").capitalize())


def html(page: ReportPage, svgs: Mapping[str, bytes]) -> str:
    """Write the page; `svgs` are the figures by name."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    # figures go in as images, where a browser runs no script of theirs
    figures = {name: b64encode(in_page_colours(svg)).decode() for name, svg in svgs.items()}
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, finalize=_shown,
    )  # fmt: skip
    script = (Path(__file__).parent / "tables.js").read_text("utf-8")
    digest = b64encode(sha256(script.encode()).digest()).decode()  # a browser runs this script and no other
    return environment.get_template("report.html.j2").render(
        page=page, figures=figures, title_of=title_of, script=Markup(script), digest=digest,
        light=LIGHT, dark=DARK,
    )  # fmt: skip


def _shown(value: Any) -> Any:
    """Names of models and folders without control characters and signs that turn the writing round."""
    return terminal_safe(value) if type(value) is str else value


def in_page_colours(svg: bytes) -> bytes:
    """A figure whose black, white and lines are the page's, by day and by night; an arm's colour stays."""
    head, defs, rest = svg.decode().partition("<defs>")
    shared = _NEUTRAL.sub(lambda found: f"{found[1]}: {_SHARED[found[2]]}", rest)
    return f"{head}{defs}{_STYLE}{shared}".encode()
