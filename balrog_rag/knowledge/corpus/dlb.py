"""Read NetHack's data archive (`nhdat`) in memory.

The format: a line of five numbers (revision, number of files, size of the directory, offset of the first
file, total size), a directory with the name and offset of each file, then the files one after another.
Nothing is written and no name is used as a path; malformed archives are rejected.
"""

from balrog_rag.contracts.errors import KnowledgeError

MOST_FILES = 10_000
_REVISION, _NUMBERS = 1, 5
_AS_IT_IS = "n"
"""Prefix of a name in the directory if its file is uncompressed, which all files are."""
_SEEN = 0x60
"""Characters with one of these bits are ciphered; the others are control characters, digits and symbols."""
_LAST_MASK = 0x10


def members(archive: bytes, name: str) -> dict[str, bytes]:
    """Return the archive's files by name; `name` is the archive's name, for error messages."""
    try:
        return _members(archive)
    except ValueError as error:
        raise KnowledgeError(f"{name}: not a data archive of NetHack 3.6: {error}") from error


def _members(archive: bytes) -> dict[str, bytes]:
    first = archive[:200].partition(b"\n")[0]
    numbers = [int(word) for word in first.split()]
    if len(numbers) != _NUMBERS or numbers[0] != _REVISION:
        raise ValueError("its first line has unexpected numbers")
    _, count, _, begin, size = numbers
    if size != len(archive) or not len(first) < begin <= size or not 0 < count <= MOST_FILES:
        raise ValueError("it is truncated, or its first line is wrong")
    lines = archive[len(first) + 1 : begin].decode("latin-1").splitlines()
    places = sorted(_place(line, begin, size) for line in lines[1:count])  # the first entry is the directory
    if not places:
        raise ValueError("its directory is empty")
    ends = [*(place for place, _ in places[1:]), size]
    return {name: archive[place:end] for (place, name), end in zip(places, ends, strict=True)}


def _place(line: str, begin: int, size: int) -> tuple[int, str]:
    name, _, at = line.rpartition(" ")
    place = int(at)
    if not name.startswith(_AS_IT_IS) or not begin <= place <= size:
        raise ValueError(f"its directory has a wrong line, {line[:40]!r}")
    return place, name[len(_AS_IT_IS) :].strip()


def deciphered(text: bytes) -> str:
    """Decipher a file: NetHack flips one bit of each character, a different one each time."""
    return "\n".join(_line(line) for line in text.split(b"\n"))


def _line(line: bytes) -> str:
    plain, mask = bytearray(line), 1
    for place, character in enumerate(line):
        if character & _SEEN:
            plain[place] = character ^ mask
        mask = mask << 1 if mask < _LAST_MASK else 1
    return plain.decode("latin-1")
