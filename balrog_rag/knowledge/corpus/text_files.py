"""Any folder of Markdown or text files: one file, one page."""

from collections.abc import Iterator
from pathlib import Path

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.passages import Page

SUFFIXES = (".md", ".markdown", ".txt")
LARGEST = 256 << 20


def pages(folder: Path) -> Iterator[Page]:
    """Return the folder's files as pages, ordered by path; hidden files and other types are skipped."""
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    shown = [path for path in files if not _hidden(path.relative_to(folder))]
    if not shown:
        raise KnowledgeError(f"{folder}: contains no {', '.join(SUFFIXES)} file")
    for path in shown:
        _refuse_leading_out(path, folder)
        name = path.relative_to(folder).with_suffix("").as_posix()
        plain = path.suffix.lower() == ".txt"
        title, text = ("", read_text(path)) if plain else _titled(read_text(path))
        yield Page(title=title or path.stem, text=text, path=name, plain=plain)


def _refuse_leading_out(path: Path, folder: Path) -> None:
    """Reject links that lead out of the folder: a model would read files that nobody put there."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise KnowledgeError(f"{path} is a link that leads out of {folder}; copy the file, or leave it out")


def read_text(path: Path) -> str:
    """Read a text file in UTF-8; raise an error that names the file otherwise."""
    try:
        if path.stat().st_size > LARGEST:
            raise KnowledgeError(f"{path} is larger than {LARGEST >> 20} MB: split it")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise KnowledgeError(f"cannot read {path}: {error.strerror}; correct it, or leave it out") from error
    except UnicodeDecodeError as error:
        raise KnowledgeError(
            f"{path} is not UTF-8 text (byte {error.start}); convert it, e.g. with iconv"
        ) from error


def _titled(text: str) -> tuple[str, str]:
    """Split off the heading at the start of a page."""
    first, _, rest = text.lstrip().partition("\n")
    return (first.lstrip("#").strip(), rest) if first.startswith("#") else ("", text)


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
