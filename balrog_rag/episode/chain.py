"""Hash chain of a journal: every line ends in a digest of itself and of the previous digest.

    {"t":"step","n":0,...,"chain":"<digest>"}

A line that was changed, removed, inserted or moved is therefore detected, by its number. The chain is not
keyed: anyone who can write the file can also recompute the chain. It detects damage, not forgery; only a
copy of the last digest, kept elsewhere, proves that a journal has not been rewritten.
"""

import os
import re
from hashlib import blake2b
from pathlib import Path

MARK = b',"chain":"'
DIGITS = 32
TAIL = len(MARK) + DIGITS + len(b'"}')
"""Bytes that the chain adds to an encoded entry (the closing brace is counted on both sides)."""
START = b""
"""The digest that precedes the first line."""
_WHOLE = re.compile(MARK + b'([0-9a-f]{%d})"}\r?\n?' % DIGITS)


def digest(before: bytes, entry: bytes) -> bytes:
    """Return the digest of a line that follows digest `before`; `entry` lacks its closing brace."""
    return blake2b(before + entry, digest_size=DIGITS // 2).hexdigest().encode()


def chained_line(before: bytes, encoded: bytes) -> tuple[bytes, bytes]:
    """Return the complete line of an encoded entry, and its digest."""
    entry = encoded[:-1]
    made = digest(before, entry)
    return b'%b%b%b"}\n' % (entry, MARK, made), made


def checked(before: bytes, line: bytes) -> bytes:
    """Return the digest at the end of a line (without newline) if it is correct, else b""."""
    said = line[-DIGITS - 2 : -2]
    if line[-TAIL : -DIGITS - 2] == MARK and line[-2:] == b'"}' and said == digest(before, line[:-TAIL]):
        return said
    if line.endswith(b"\r"):  # an editor converted the line ends; the entries are unchanged
        return checked(before, line[:-1])
    return b""


def last(tail: bytes) -> bytes | None:
    """Return the digest at the end of the last bytes of a journal; None if they end in no digest."""
    if not tail:
        return START
    found = _WHOLE.fullmatch(tail[tail.rfind(MARK) :]) if MARK in tail else None
    return found[1] if found else None


def last_of(path: Path) -> str:
    """Return the last digest of a journal, read from the end of the file; "" if its lines are not chained."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL - len(b"\r\n")))
        return (last(file.read()) or b"").decode()
