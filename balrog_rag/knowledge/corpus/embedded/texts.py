"""Pages from NetHack's own texts: encyclopaedia, guidebook, help, manual page, oracles and rumours."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.passages import Page

_SECTION = re.compile(r"^ {10}(\d+(?:\.\d+)*)\.  (\S.*)$")
_PAGE_BREAK = re.compile(r"^ {10}NetHack (Guidebook|3\.6) +\S.*$")
_LEFT_OUT = ("9", "12")
"""Sections of the guidebook that are irrelevant to playing: options and their customization, credits."""


def short_texts(nle_files: Path) -> Iterator[Page]:
    """Return oracles, rumours, help and the manual page; `nle_files` is nle's folder of game files."""
    yield from _oracles(nle_files / "dat" / "oracles.txt")
    yield from _rumours(nle_files / "dat" / "rumors.tru")
    yield from _help(nle_files / "dat")
    yield from _manual(nle_files / "doc" / "nethack.txt")


def read(path: Path) -> str:
    """Read a text file of the game; the guidebook is compressed."""
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except OSError as error:
        hint = (
            "; it is in Debian's nethack-common (give --guidebook PATH)" if "Guidebook" in path.name else ""
        )
        raise KnowledgeError(f"cannot read {path}: {error.strerror or error}{hint}") from error
    return data.decode("latin-1")


def encyclopaedia(file: Path) -> Iterator[Page]:
    """Read data.base: names at the left margin, then their text indented by a tab."""
    names: list[str] = []
    lines: list[str] = []
    for line in [*read(file).splitlines(), "end"]:
        if line.startswith("#"):
            continue
        if line.startswith("\t") or not line.strip():
            lines.append(line[1:].replace("\t", "  ") if line.strip() else "")
            continue
        if lines:
            yield entry(names, lines)
            names, lines = [], []
        if not line.startswith("~"):
            names.append(line.strip().strip("*").strip())


def entry(names: list[str], lines: list[str]) -> Page:
    """Make a page of an encyclopaedia entry under its first name."""
    shown = [name.replace("*", " ").strip() for name in names if name.replace("*", "").strip()]
    title = shown[0] if shown else "entry"
    also = f"Also: {', '.join(shown[1:])}.\n\n" if len(shown) > 1 else ""
    return Page(title=f"{title} (encyclopaedia)", text=also + "\n".join(lines), path=f"encyclopaedia/{title}")


def guidebook_pages(file: Path) -> Iterator[Page]:
    """Return the guidebook's sections, without page breaks and reflowed."""
    number, title, lines = "", "", list[str]()
    for line in read(file).splitlines():
        found = _SECTION.match(line)
        if found and _places(found.group(1)) > _places(number):
            yield from _guidebook_page(number, title, lines)
            number, title, lines = found.group(1), found.group(2).strip(), []
        elif not _PAGE_BREAK.match(line):
            lines.append(line)
    yield from _guidebook_page(number, title, lines)


def _places(number: str) -> list[int]:
    """The position of a section's number; a number within a sentence is lower than the section's own."""
    return [int(part) for part in number.split(".") if part]


def _guidebook_page(number: str, title: str, lines: list[str]) -> Iterator[Page]:
    if number and number.split(".")[0] not in _LEFT_OUT:
        text = reflowed(lines)
        if text:
            yield Page(title=f"{title} (guidebook)", text=text, path=f"guidebook/{number}-{title}")


def reflowed(lines: list[str]) -> str:
    """Reflow paragraphs of justified text: single spaces, hyphenated words joined."""
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        if not line.strip():
            if paragraphs[-1]:
                paragraphs.append([])
            continue
        if line.startswith(" " * 14) and paragraphs[-1] and line[14] != " ":
            paragraphs.append([])  # an indented first line begins a paragraph after a page break, too
        paragraphs[-1].append(" ".join(line.split()))
    return "\n\n".join(re.sub(r"(?<=[a-z])- (?=[a-z])", "", " ".join(words)) for words in paragraphs if words)


def _oracles(file: Path) -> Iterator[Page]:
    parts = [part.strip() for part in read(file).split("-----")[1:]]
    for number, part in enumerate((part for part in parts if part), start=1):
        yield oracle(number, part)


def oracle(number: int, text: str) -> Page:
    """Make a page of one of the Oracle's sayings."""
    return Page(title=f"what the Oracle says, {number}", text=text, path=f"oracle/{number}")


def _rumours(file: Path) -> Iterator[Page]:
    for number, line in enumerate(read(file).splitlines(), start=1):
        if line.strip():
            yield rumour(number, line.strip())


def rumour(number: int, text: str) -> Page:
    """Make a page of one of the true rumours."""
    said = f"A true rumour (fortune cookie): {text}"
    return Page(title="true rumour", text=said, path=f"rumour/{number}")


def _help(folder: Path) -> Iterator[Page]:
    for name, title in (("help", "help: symbols and commands"), ("hh", "help: list of commands")):
        yield Page(title=title, text=read(folder / name), path=f"help/{name}")


def _manual(file: Path) -> Iterator[Page]:
    heading, lines = "", list[str]()
    for line in [*read(file).splitlines(), "END"]:
        if re.fullmatch(r"[A-Z][A-Z ]+", line.strip()) and not line.startswith(" "):
            if heading == "DESCRIPTION":
                yield Page(title="NetHack (manual page)", text=reflowed(lines), path="manual/description")
            heading, lines = line.strip(), []
        else:
            lines.append(line)


def keys(help_: str) -> Iterator[tuple[str, str]]:
    """Return each key with its effect, from `cmdhelp`, with letters for movement and without debugging."""
    shown, chosen = [True], [True]
    for line in help_.splitlines():
        if line.startswith("&?"):
            chosen.append(_holds(line))
            shown.append(shown[-1] and chosen[-1])
        elif line.startswith("&:") and len(shown) > 1:
            now = not chosen[-1] and _holds(line)
            chosen[-1], shown[-1] = chosen[-1] or now, shown[-2] and now
        elif line.startswith("&.") and len(shown) > 1:
            del shown[-1], chosen[-1]
        elif shown[-1] and "\t" in line and not line.startswith("&#"):
            key, _, words = line.partition("\t")
            yield key, words.strip()


def _holds(line: str) -> bool:
    """Whether a condition of `cmdhelp` is true in nle; a name alone means true."""
    name, _, values = line[2:].partition("#")[0].replace(" ", "").partition("=")
    return not name or (name == "number_pad" and "0" in values.split(","))
