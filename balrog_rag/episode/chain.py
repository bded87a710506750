"""The chain of a journal: every line ends in a digest of itself and of the digest before it.

    {"t":"step","n":0,...,"chain":"<digest>"}

So a line that was changed, taken out, put in or moved is found, by its number. The chain holds no key: who
can write the file can also make another chain. It proves damage, not honesty; only a last digest that is
kept elsewhere proves that a journal is still the one it was taken from.
"""

import os
import re
from hashlib import blake2b
from pathlib import Path

MARK = b',"chain":"'
DIGITS = 32
TAIL = len(MARK) + DIGITS + len(b'"}')
"""Bytes by which a line is longer than its entry, less the entry's own closing brace."""
START = b""
"""What stands in place of a digest before the first line."""
_WHOLE = re.compile(MARK + b'([0-9a-f]{%d})"}\r?\n?' % DIGITS)


def digest(before: bytes, entry: bytes) -> bytes:
    """The digest of a line behind the one with the digest `before`; `entry` lacks its closing brace."""
    return blake2b(before + entry, digest_size=DIGITS // 2).hexdigest().encode()


def linked(before: bytes, encoded: bytes) -> tuple[bytes, bytes]:
    """The whole line of an encoded entry, and its digest."""
    entry = encoded[:-1]
    made = digest(before, entry)
    return b'%b%b%b"}\n' % (entry, MARK, made), made


def checked(before: bytes, line: bytes) -> bytes:
    """The digest that a line without its end ends in, where it is the right one; else nothing."""
    said = line[-DIGITS - 2 : -2]
    if line[-TAIL : -DIGITS - 2] == MARK and line[-2:] == b'"}' and said == digest(before, line[:-TAIL]):
        return said
    if line.endswith(b"\r"):  # an editor's doing, which changes nothing
        return checked(before, line[:-1])
    return b""


def last(tail: bytes) -> bytes | None:
    """The digest at the end of these last bytes of a journal; None where they hold none."""
    if not tail:
        return START
    found = _WHOLE.fullmatch(tail[tail.rfind(MARK) :]) if MARK in tail else None
    return found[1] if found else None


def last_of(path: Path) -> str:
    """The digest at the end of a journal, read from its last bytes; empty where its lines are not chained."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL - len(b"\r\n")))
        return (last(file.read()) or b"").decode()
