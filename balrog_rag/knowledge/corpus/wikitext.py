"""The NetHack wiki's address, and its markup as plain text: headings, tables as lines, templates."""

import re
from collections.abc import Sequence
from typing import Any

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.corpus.parser_functions import WORDS as _WORDS
from balrog_rag.knowledge.corpus.parser_functions import parser_function

ADDRESS = "https://nethackwiki.com/wiki/"
LICENCE = "NGPL (NetHack wiki)"

_DROPPED_TAGS = ("ref", "gallery", "script", "style")
_DROPPED_LINKS = re.compile(r"^(file|image|category|[a-z]{2,3}):", re.IGNORECASE)
_SPACE = re.compile(r"[ \t]+")
_BLANK = re.compile(r"\n{3,}")
_UNPARSED = re.compile(r"\{\{#[^{}]*\}\}")
"""Parser functions that the parser leaves as text, because of a < or > in them."""
_NAVIGATION = re.compile(r"^(nav|stub|reflist|references|clear|featured|spoiler|disambig)", re.IGNORECASE)


def parser() -> Any:
    """Return the parser of wiki markup, an optional package; call it before reading a long dump."""
    try:
        import mwparserfromhell
    except ImportError as error:
        raise KnowledgeError(
            "reading a wiki dump needs mwparserfromhell: pip install 'balrog_rag[wiki]'"
        ) from error
    return mwparserfromhell


def plain(markup: str) -> str:
    """Convert a page to text; its headings become `## name`, at which passages are cut."""
    return single_spaced(_UNPARSED.sub("", _nodes(parser().parse(_tables(markup)))))


def single_spaced(text: str) -> str:
    """Collapse repeated spaces and empty lines."""
    lines = [_SPACE.sub(" ", line).strip() for line in text.split("\n")]
    return _BLANK.sub("\n\n", "\n".join(lines)).strip()


def _nodes(code: Any) -> str:
    return "".join(_node(node) for node in code.nodes)


def _node(node: Any) -> str:
    kind = type(node).__name__
    if kind == "Text":
        return str(node.value)
    if kind == "Heading":
        return f"\n\n{'#' * max(2, int(node.level))} {_nodes(node.title).strip()}\n"
    if kind == "Wikilink":
        return _link(node)
    if kind == "ExternalLink":
        return _nodes(node.title) if node.title is not None else ""
    if kind == "Template":
        return _template(node)
    if kind == "Tag":
        return _tag(node)
    if kind == "HTMLEntity":
        return str(node.normalize())
    return ""  # comments, arguments of templates


def _link(node: Any) -> str:
    target = str(node.title).strip()
    if _DROPPED_LINKS.match(target):
        return ""
    return _nodes(node.text) if node.text is not None else target.split("#")[0].lstrip(":")


def _tag(node: Any) -> str:
    name = str(node.tag).lower()
    if name in _DROPPED_TAGS or node.contents is None:
        return "\n" if name in ("br", "hr") else ""
    inner = _nodes(node.contents)
    return f"\n- {inner}" if name in ("li", "dd", "dt") and not inner.strip() else inner


def _template(node: Any) -> str:
    """The text of a template as far as its arguments provide it; navigation templates are empty."""
    name = str(node.name).strip()
    if _NAVIGATION.match(name):
        return ""
    if name.startswith("#") or name.partition(":")[0].lower() in _WORDS:
        return parser_function(node, _nodes)
    if said := _function(name.lower(), node):
        return said
    parts = []
    for parameter in node.params:
        value = _nodes(parameter.value).strip()
        if value:
            parts.append(f"{str(parameter.name).strip()}: {value}" if parameter.showkey else value)
    if not parts:
        return name if name.islower() and len(name) > 1 else ""
    named = any(parameter.showkey for parameter in node.params)
    return f"\n{name}: {'; '.join(parts)}\n" if named else " ".join(parts[-1:])


def _function(name: str, node: Any) -> str:
    """The text of a template with a special meaning: a fraction, a plural, a die, a range."""
    given = [_nodes(each.value).strip() for each in node.params if not each.showkey]
    if name in ("convert", "cvt"):
        return _measurement(given)
    if name == "frac" and 1 <= len(given) <= 3:
        whole = [given.pop(0)] if len(given) == 3 else []
        return " ".join([*whole, "/".join(given if len(given) == 2 else ["1", *given])])
    if name in ("plural", "pl") and len(given) >= 2:
        several = given[2] if len(given) > 2 else f"{given[1]}s"
        return f"{given[0]} {given[1] if given[0] == '1' else several}"
    if name in _JOINED and given:
        return _JOINED[name].join(given)
    return ""


def _measurement(given: Sequence[str]) -> str:
    """`{{convert|5|to|10|ft|m}}` as it was measured, without the conversion; "" without number and unit."""
    if len(given) >= 4 and given[1] in _RANGES:
        return " ".join(given[:4])
    return " ".join(given[:2]) if len(given) >= 2 else ""


_RANGES = ("to", "-", "–", "and", "or", "by", "x", "+/-", "±")

_JOINED = {"d": "d", "range": " to ", "and": " and ", "or": " or ", "list": ", ", "dl": ", "}
"""Templates whose arguments all count, with the separator between them."""


def version(markup: str) -> str:
    """The game version that a page says it describes; empty if none."""
    found = _VERSION.search(markup)
    return ".".join(found.group(1)) if found else ""


_VERSION = re.compile(r"\{\{\s*nethack-?(\d{3})\s*[|}]", re.IGNORECASE)


def _tables(markup: str) -> str:
    """Convert wiki tables to one line per row, with cells separated by bars, before the rest is parsed."""
    lines: list[str] = []
    cells: list[str] | None = None
    for line in markup.split("\n"):
        text = line.strip()
        if text.startswith("{|"):
            cells = []
        elif cells is None:
            lines.append(line)
        elif text.startswith(("|}", "|-")):
            lines += [" | ".join(cells)] if cells else []
            cells = None if text.startswith("|}") else []
        elif text.startswith(("|+",)):
            lines.append(text[2:].strip())
        elif text.startswith(("|", "!")):
            cells += [_cell(part) for part in re.split(r"\|\||!!", text[1:])]
        elif text:
            cells.append(text)
    return "\n".join(lines + ([" | ".join(cells)] if cells else []))


_ATTRIBUTES = re.compile(
    r"""\s*+ (?: [a-z-]++ \s*+ = \s*+ (?: "[^"]*+" | '[^']*+' | [^\s"'|]++ ) \s*+ )++ \| (?!\|)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Attributes before a cell's text. Possessive, so that the time is linear in the cell's length."""


def _cell(text: str) -> str:
    """Return a cell without its attributes."""
    found = _ATTRIBUTES.match(text)
    return text[found.end() if found else 0 :].strip()
