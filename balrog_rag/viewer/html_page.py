"""The page: one HTML file whose scripts and styles are inline and named by their digests.

Nothing is loaded from anywhere; what a game, a wiki or a model wrote is in compressed blocks that no
browser takes for markup, and the scripts make text of it, never elements.
"""

from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files

SCRIPTS = (
    "text", "data", "screen", "marks", "curves", "difference", "reading", "search", "notes",
    "exports", "episode", "compare", "run", "main",
)  # fmt: skip
"""The page's scripts in the order in which they stand in it."""


@cache
def asset(name: str) -> str:
    """A file of the page."""
    return files("balrog_rag.viewer").joinpath("assets", name).read_text("utf-8")


@cache
def _script() -> str:
    bodies = "\n".join(asset(f"{name}.js") for name in SCRIPTS)
    return f'\n(function () {{\n"use strict";\n{bodies}\n}})();\n'


def policy(served: bool) -> str:
    """What the page may do: run its own script, show its own pictures, and ask its own server, if any."""
    style, script = (f"'sha256-{_digest(text)}'" for text in (asset("style.css"), _script()))
    return (
        f"default-src 'none'; script-src {script}; style-src {style}; img-src data: blob:; "
        f"connect-src {chr(39)}{'self' if served else 'none'}{chr(39)}; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def page(blocks: Iterable[tuple[str, bytes]] = (), served: bool = False) -> Iterable[bytes]:
    """The page, piece by piece; `blocks` are packed documents by name, none where a server has them."""
    head, _, tail = asset("page.html").partition("<!-- data -->")
    head = head.replace("{{policy}}", policy(served)).replace("{{served}}", str(served).lower())
    yield head.replace("{{style}}", asset("style.css")).encode()
    for name, data in blocks:
        yield b'<script type="text/plain" id="block %s">%s</script>\n' % (name.encode(), b64encode(data))
    yield tail.replace("{{script}}", _script()).encode()
