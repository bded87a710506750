"""The page: one HTML file with inline scripts and styles, allowed by their digests.

Nothing is loaded from elsewhere. Text of games, wikis and models is in compressed blocks, which the browser
cannot interpret as markup, and the scripts only create text nodes from it.
"""

from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files

SCRIPTS = (
    "text", "data", "screen", "marks", "curves", "levelmap", "difference", "reading", "expression", "search",
    "notes", "exports", "episode", "compare", "runhead", "runmap", "glances", "run", "main",
)  # fmt: skip
"""The page's scripts, in order."""


@cache
def asset(name: str) -> str:
    """Read a file of the page."""
    return files("balrog_rag.viewer").joinpath("assets", name).read_text("utf-8")


@cache
def _script() -> str:
    bodies = "\n".join(asset(f"{name}.js") for name in SCRIPTS)
    return f'\n(function () {{\n"use strict";\n{bodies}\n}})();\n'


def policy(served: bool) -> str:
    """The Content-Security-Policy: only its own script, images and server (if any)."""
    style, script = (f"'sha256-{_digest(text)}'" for text in (asset("style.css"), _script()))
    return (
        f"default-src 'none'; script-src {script}; worker-src blob:; style-src {style}; img-src data: blob:; "
        f"connect-src {chr(39)}{'self' if served else 'none'}{chr(39)}; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def page(blocks: Iterable[tuple[str, bytes]] = (), served: bool = False) -> Iterable[bytes]:
    """Yield the page piece by piece; `blocks` are packed documents by name, empty if served."""
    head, _, tail = asset("page.html").partition("<!-- data -->")
    head = head.replace("{{policy}}", policy(served)).replace("{{served}}", str(served).lower())
    yield head.replace("{{style}}", asset("style.css")).encode()
    for name, data in blocks:
        yield b'<script type="text/plain" id="block %s">%s</script>\n' % (name.encode(), b64encode(data))
    yield tail.replace("{{script}}", _script()).encode()
