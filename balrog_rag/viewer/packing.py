"""Pack an episode for a page: tables of texts, screens as differences, chunks of compressed JSON.

A chunk contains CHUNK moments: its first screen in full, the others as differences, so that a page unpacks
one chunk to show any moment. A text that occurs in many prompts is stored in the first chunk that needs it,
and referenced by number everywhere else.
"""

import json
import math
import zlib
from collections.abc import Hashable, Sequence
from operator import sub
from typing import Any, NamedTuple

import msgspec

from balrog_rag.contracts.painting import ColouredText

CHUNK = 64
"""Moments per chunk."""

Change = list[Any]
"""Row, first character, number of characters removed, text inserted, and its colours."""


def packed(document: Any, level: int = 6) -> bytes:
    """Compress a document as JSON: lone surrogates stay escaped, NaN becomes null."""
    try:
        text = msgspec.json.encode(document)
    except UnicodeEncodeError:  # a lone surrogate, which UTF-8 does not have
        text = json.dumps(_finite(document), separators=(",", ":")).encode("ascii")
    return zlib.compress(text, level)


def _finite(value: Any) -> Any:
    """Copy a document with null for numbers that JSON cannot represent."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def unpacked(data: bytes) -> Any:
    """Decompress a document."""
    return json.loads(zlib.decompress(data))


class PackedScreen(NamedTuple):
    """A screen as rows; `colours` is empty for a screen without colours."""

    rows: Sequence[str]
    colours: Sequence[str] = ()
    cursor: tuple[int, int] | None = None
    picture: int | None = None
    """The number of its image."""

    @property
    def whole(self) -> dict[str, Any]:
        """The full form of the screen."""
        return {"rows": list(self.rows), "colours": list(self.colours)}


def screen_of(painting: ColouredText) -> PackedScreen:
    """Convert coloured text to a screen."""
    rows, colours = painting.rows()
    return PackedScreen(rows, colours, painting.cursor)


def changes(before: PackedScreen, now: PackedScreen) -> list[Change]:
    """The changes from one screen to the next; if the height differs, all rows are replaced."""
    if len(before.rows) != len(now.rows) or bool(before.colours) != bool(now.colours):
        return [[-1, 0, 0, *now.whole.values()]]
    blank = [""] * len(now.rows)
    old_colours, new_colours = before.colours or blank, now.colours or blank
    return [
        _change(row, *pair)
        for row, pair in enumerate(zip(before.rows, now.rows, old_colours, new_colours, strict=True))
        if pair[0] != pair[1] or pair[2] != pair[3]
    ]


def _change(row: int, old: str, new: str, old_colours: str, new_colours: str) -> Change:
    """The changed part of a row, without the common prefix and suffix."""
    shorter = min(len(old), len(new))
    start = _common(old, new, shorter)
    if new_colours:
        start = _common(old_colours, new_colours, start)
    end = _common(old[::-1], new[::-1], shorter - start)
    if new_colours:
        end = _common(old_colours[::-1], new_colours[::-1], end)
    text, colours = new[start : len(new) - end], new_colours[start : len(new_colours) - end]
    return [row, start, len(old) - end - start, text, *([colours] if colours else [])]


def _common(one: str, other: str, most: int) -> int:
    """The length of their common prefix, up to `most`; halving it compares whole slices at a time."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


class NumberedValues:
    """Texts and images, numbered in the order in which chunks first need them."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        """The number of each key."""
        self._new: list[Any] = []
        self.firsts: list[int] = [0]
        """The first number of each chunk."""

    def number(self, key: Hashable, made: Any) -> int:
        """Return the number of `key`; if it is new, store `made`."""
        known = self.numbers.get(key)
        if known is None:
            known = self.numbers[key] = len(self.numbers)
            self._new.append(made)
        return known

    @property
    def new(self) -> list[Any]:
        """The entries that the open chunk adds."""
        return self._new

    def close_chunk(self) -> None:
        """Start the next chunk."""
        self._new = []
        self.firsts.append(len(self.numbers))


def steps_between(numbers: Sequence[int]) -> list[int]:
    """Encode numbers as differences, which compress well when a window of messages slides."""
    return list(map(sub, numbers, [0, *numbers]))
