"""Read Debian's nethack-common: the Guidebook of its NetHack, and the texts of its data archive.

From the archive come the encyclopaedia, the Oracle's statements, true rumours, the help files and the
history. False rumours would be quoted as advice, and engravings, epitaphs, quest speeches and tributes answer
no question of play, so they are left out.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.corpus import dlb
from balrog_rag.knowledge.corpus.debian import files
from balrog_rag.knowledge.corpus.embedded.texts import entry, guidebook_pages, keys, oracle, rumour
from balrog_rag.knowledge.passages import Page, slug

DOCUMENTS, GAME = "usr/share/doc/nethack-common", "usr/lib/games/nethack"
HELP = {
    "help": "help: symbols and commands",
    "hh": "help: list of commands",
    "cmdhelp": "help: what each key does",
    "keyhelp": "help: keys that do not reach the game",
    "opthelp": "help: options",
    "history": "history of NetHack",
}
MOST_ENTRIES, MOST_OF_ONE = 5_000, 1 << 16
"""Maximum number of entries of the encyclopaedia, and size of one in bytes."""


def pages(source: Path) -> Iterator[Page]:
    """Return the sections of the Guidebook, then the archive's texts."""
    archive = dlb.members(_file(source, GAME, "nhdat"), f"{source}: nhdat")
    guidebook = _file(source, DOCUMENTS, "Guidebook.txt")
    version = _version(archive)
    for page in (*_guidebook(guidebook), *archive_pages(archive)):
        path = "/".join(slug(part) for part in page.path.split("/"))
        yield replace(page, licence="NGPL", path=path, plain=True, version=version)


def archive_pages(archive: Mapping[str, bytes]) -> Iterator[Page]:
    """Return the texts of a data archive; missing files are skipped."""
    try:
        yield from _encyclopaedia(archive.get("data", b""))
        yield from _oracles(archive.get("oracles", b""))
        yield from _rumours(archive.get("rumors", b""))
    except ValueError as error:
        raise KnowledgeError(f"nhdat: a text's index is wrong: {error}") from error
    for name, title in HELP.items():
        if name not in archive:
            continue
        text = archive[name].decode("latin-1")
        told = "\n".join(f"{key}  {words}" for key, words in keys(text)) if name == "cmdhelp" else text
        yield Page(title=title, text=told, path=f"help/{name}")


def _file(source: Path, under: str, wanted: str) -> bytes:
    for name, content in files(source, under):
        if name.rpartition("/")[2] == wanted:
            return content
    raise KnowledgeError(f"{source}: contains no {wanted}; is it nethack-common?")


def _version(archive: Mapping[str, bytes]) -> str:
    """The game version stated in the archive; empty if there is none."""
    found = re.search(rb"NetHack version (\d+(?:\.\d+)+)", archive.get("options", b""))
    return found.group(1).decode() if found else ""


def _guidebook(text: bytes) -> list[Page]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "Guidebook.txt"
        file.write_bytes(text)
        return list(guidebook_pages(file))


def _encyclopaedia(data: bytes) -> Iterator[Page]:
    """Parse the encyclopaedia: the offset of its texts (hexadecimal), then names with offsets and counts."""
    lines = data[:MOST_OF_ONE].split(b"\n", 2)
    if len(lines) < 3:
        return
    begin, names, entries = int(lines[1], 16), list[str](), 0
    for line in data[len(lines[0]) + len(lines[1]) + 2 : begin].decode("latin-1").splitlines():
        found = re.fullmatch(r"(\d{1,9}),(\d{1,5})", line)
        if found is None:
            names.append(line)
            continue
        entries += 1
        if entries > MOST_ENTRIES:
            raise ValueError(f"more than {MOST_ENTRIES} entries")
        place, count = begin + int(found.group(1)), int(found.group(2))
        text = data[place : place + MOST_OF_ONE].decode("latin-1").splitlines()[:count]
        if text:
            shown = [name for name in names if not name.startswith("~")]
            yield entry(shown, [each[1:].replace("\t", "  ") for each in text])
        names = []


def _oracles(data: bytes) -> Iterator[Page]:
    """Parse sayings between lines of dashes, after an index and the Oracle's delirious sayings."""
    for number, part in enumerate(data.split(b"---\n")[2:], start=1):
        if text := dlb.deciphered(part).strip():
            yield oracle(number, text)


def _rumours(data: bytes) -> Iterator[Page]:
    """Parse the true rumours: the second line begins with their number, size and offset (in hexadecimal)."""
    index = data[:200].split(b"\n")
    if len(index) < 3:
        return
    _, size, place = index[1].partition(b";")[0].split(b",")
    begin = int(place, 16)
    if min(begin, int(size)) < 0:
        raise ValueError("it points before the text")
    for number, line in enumerate(dlb.deciphered(data[begin : begin + int(size)]).splitlines(), start=1):
        if text := line.rstrip("_").strip():
            yield rumour(number, text)
