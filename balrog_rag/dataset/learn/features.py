"""Features of a terminal: the map around the hero, the words of the message, the numbers of the bottom lines.

Computed only from the screen, its colours and its cursor, which every recording has.
"""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEIGHT, WIDTH = 15, 21
"""Rows and columns of the crop around the hero."""
SIGNS = 128 * 16
"""Number of distinct characters with colours."""
WORDS, MOST_WORDS = 1024, 12
"""Number of hash buckets for words of a message (0: none), and how many words are used."""
NUMBERS = 20

_TOP, _BOTTOM = 1, 21
"""Rows of the map."""
_STATUS = re.compile(
    rb"Dlvl:(\d+).*?HP:(\d+)\((\d+)\).*?Pw:(\d+)\(\d+\).*?AC:(-?\d+) .*?(?:Xp|HD):(\d+).*?T:(\d+)(.*)"
)
_CONDITIONS = (
    b"Hungry",
    b"Weak",
    b"Faint",
    b"Satia",
    b"Conf",
    b"Stun",
    b"Blind",
    b"Hallu",
    b"Burd",
    b"Stress",
)
_CACHED = 20_000


class Eye:
    """Converts frames of several games, side by side, to features; remembers each hero's position."""

    def __init__(self, lanes: int) -> None:
        self.place = np.full((lanes, 2), (11, 40), np.int64)
        """Row and column of each game's hero; while a prompt has the cursor, the last known position."""
        self._words: dict[bytes, NDArray[np.int64]] = {}

    def see(self, chars: NDArray[Any], colors: NDArray[Any], cursor: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Compute the features of frames [lane, time, ...]."""
        lanes, length = chars.shape[:2]
        places = self._places(cursor)
        signs = (chars & 127).astype(np.int64) * 16 + (colors & 15)
        crops = _crops(signs.reshape(-1, *chars.shape[2:]), places.reshape(-1, 2))
        rows = chars.reshape(-1, *chars.shape[2:])
        words = np.stack([self._message(row[0].tobytes()) for row in rows])
        numbers = np.stack([_numbers(row[-1].tobytes(), row[-2].tobytes()) for row in rows])
        numbers[:, -3:-1] = places.reshape(-1, 2) / (rows.shape[1], rows.shape[2])
        numbers[:, -1] = _held(cursor)
        shape = (lanes, length)
        return {
            "crop": crops.reshape(*shape, HEIGHT, WIDTH),
            "words": words.reshape(*shape, MOST_WORDS),
            "numbers": numbers.reshape(*shape, NUMBERS),
        }

    def _places(self, cursor: NDArray[Any]) -> NDArray[np.int64]:
        places = np.empty(cursor.shape, np.int64)
        for time in range(cursor.shape[1]):
            now = cursor[:, time].astype(np.int64)
            on_map = (now[:, 0] >= _TOP) & (now[:, 0] <= _BOTTOM)
            self.place = np.where(on_map[:, None], now, self.place)
            places[:, time] = self.place
        return places

    def _message(self, line: bytes) -> NDArray[np.int64]:
        found = self._words.get(line)
        if found is None:
            if len(self._words) > _CACHED:
                self._words.clear()
            found = self._words[line] = _hashed(line)
        return found


def _held(cursor: NDArray[Any]) -> NDArray[Any]:
    """Whether the cursor is away from the map."""
    rows = cursor.reshape(-1, 2)[:, 0]
    return (rows < _TOP) | (rows > _BOTTOM)


_ROWS = np.arange(HEIGHT)[:, None] - HEIGHT // 2
_COLUMNS = np.arange(WIDTH)[None, :] - WIDTH // 2


def _crops(signs: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The map around each position; blank beyond the terminal's edge."""
    height, width = signs.shape[1:]
    rows = places[:, 0, None, None] + _ROWS
    columns = places[:, 1, None, None] + _COLUMNS
    inside = (rows >= _TOP) & (rows <= _BOTTOM) & (columns >= 0) & (columns < width)
    found = signs[np.arange(len(signs))[:, None, None], rows.clip(0, height - 1), columns.clip(0, width - 1)]
    return np.where(inside, found, 32 * 16)


_LETTERS = re.compile(rb"[A-Za-z]+|[\[\]?()]|\S")


def _hashed(line: bytes) -> NDArray[np.int64]:
    """The words of a message as numbers, the same on every machine."""
    numbers = np.zeros(MOST_WORDS, np.int64)
    for place, word in enumerate(_LETTERS.findall(line)[:MOST_WORDS]):
        value = 5381
        for letter in word:
            value = (value * 33 + letter) & 0xFFFFFFFF
        numbers[place] = 1 + value % (WORDS - 1)
    return numbers


def _numbers(last: bytes, above: bytes) -> NDArray[np.float32]:
    """The numbers of the bottom lines, scaled to about 0 to 1; the last three are filled in later."""
    values = np.zeros(NUMBERS, np.float32)
    match = _STATUS.search(last) or _STATUS.search(above)
    if match is None:
        return values
    depth, hp, most, power, armour, level, turn = (int(match[place]) for place in range(1, 8))
    values[:7] = (
        depth / 20, hp / max(most, 1), min(most, 200) / 100, min(power, 50) / 50,
        armour / 10, level / 14, min(turn, 20_000) / 20_000,
    )  # fmt: skip
    rest = match[8]
    values[7:17] = [condition in rest for condition in _CONDITIONS]
    return values
