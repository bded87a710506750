"""How an episode is laid out for a page: tables of texts, screens as changes, chunks of compressed JSON.

A chunk holds CHUNK moments: its first screen whole, the others as what changed, so that a page unpacks one
chunk to show any moment. A text that stands in many prompts is written into the chunk where it is first
needed and named by its number everywhere else.
"""

import json
import math
import zlib
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from balrog_rag.contracts.painting import ColouredText

CHUNK = 64
"""Moments in a chunk."""

Change = list[Any]
"""Row, first sign, signs dropped there, text put there, and its colours."""


def packed(document: Any, level: int = 6) -> bytes:
    """A document as compressed JSON: half characters of a broken text stay as escapes, NaN becomes null."""
    try:
        text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(document), separators=(",", ":"))
    return zlib.compress(text.encode("ascii"), level)


def _finite(value: Any) -> Any:
    """The same with null for numbers that JSON has not."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def unpacked(data: bytes) -> Any:
    """The document again."""
    return json.loads(zlib.decompress(data))


class PackedScreen(NamedTuple):
    """A screen as rows; `colours` is empty where it has none."""

    rows: Sequence[str]
    colours: Sequence[str] = ()
    cursor: tuple[int, int] | None = None
    picture: int | None = None
    """The number of its picture."""

    @property
    def whole(self) -> dict[str, Any]:
        """Written out."""
        return {"rows": list(self.rows), "colours": list(self.colours)}


def screen_of(painting: ColouredText) -> PackedScreen:
    """The screen of a coloured text."""
    rows, colours = painting.rows()
    return PackedScreen(rows, colours, painting.cursor)


def changes(before: PackedScreen, now: PackedScreen) -> list[Change]:
    """What makes one screen of another; one of another height is written anew, row by row."""
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
    """The part of a row between what both have in common at its two ends."""
    olds, news = _signs(old, old_colours), _signs(new, new_colours)
    shorter = min(len(olds), len(news))
    start = next((at for at in range(shorter) if olds[at] != news[at]), shorter)
    end = next((at for at in range(shorter - start) if olds[-1 - at] != news[-1 - at]), shorter - start)
    text, colours = new[start : len(new) - end], new_colours[start : len(new_colours) - end]
    return [row, start, len(old) - end - start, text, *([colours] if colours else [])]


def _signs(row: str, colours: str) -> Sequence[Any]:
    return list(zip(row, colours, strict=True)) if colours else row


class NumberedValues:
    """Texts and pictures numbered in the order in which chunks first need them."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._new: list[Any] = []
        self.firsts: list[int] = [0]
        """The number of the first entry of each chunk."""

    def number(self, key: Hashable, made: Any) -> int:
        """The number of what has this key; `made` is written where it is new."""
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = len(self._numbers)
            self._new.append(made)
        return known

    def known(self, key: Hashable) -> int | None:
        """Its number, if it has one."""
        return self._numbers.get(key)

    @property
    def new(self) -> list[Any]:
        """What the open chunk holds of it."""
        return self._new

    def close_chunk(self) -> None:
        """Begin the next chunk."""
        self._new = []
        self.firsts.append(len(self._numbers))


def steps_between(numbers: Sequence[int]) -> list[int]:
    """Numbers as differences, which repeat themselves where a window of messages moves on."""
    return [now - before for before, now in zip([0, *numbers], numbers, strict=False)]
