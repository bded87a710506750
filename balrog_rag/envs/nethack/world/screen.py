"""One screen of NetHack, and the contents of its text."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

MORE_SIGN = b"--More--"
_COLUMNS = 80


class Screen:
    """NLE's raw arrays of one moment by name; every key press overwrites them."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Wrap the arrays without copying them."""
        self.arrays = arrays
        self.glyphs = arrays["glyphs"]
        self.blstats = arrays["blstats"]
        self.tty_chars = arrays["tty_chars"]
        self.tty_cursor = arrays["tty_cursor"]
        self.inv_strs = arrays["inv_strs"]
        self.inv_letters = arrays["inv_letters"]
        self._message = arrays["message"]
        self._waits = arrays["misc"] if "misc" in arrays else arrays["internal"][1:4]
        """Whether the game awaits: the answer to a question, a line of text, a page to be turned."""

    @property
    def message(self) -> str:
        """The message of this moment; empty for menus and long lists."""
        return self._message.tobytes().split(b"\0", 1)[0].decode("latin-1")

    @property
    def more(self) -> bool:
        """Whether a page waits to be turned."""
        if not self._waits[2]:
            return False
        row, column = self.tty_cursor.tolist()
        end = row * _COLUMNS + column + 1  # the sign may be broken between two lines
        return MORE_SIGN in self.tty_chars.ravel()[max(0, end - 10) : end].tobytes()

    @property
    def menu(self) -> bool:
        """Whether a menu or a list of text is open."""
        return bool(self._waits[2]) and not self.more

    @property
    def asks(self) -> bool:
        """Whether a question awaits one key."""
        return bool(self._waits[0])

    @property
    def asks_text(self) -> bool:
        """Whether a question awaits a line of text."""
        return bool(self._waits[1]) and not self.more

    @property
    def question(self) -> str:
        """The text of the open question, or empty."""
        if not (self.asks or self.asks_text):
            return ""
        rows = self.tty_chars[: int(self.tty_cursor[0]) + 1].tobytes().decode("latin-1")
        return " ".join(rows[: 3 * _COLUMNS].split())

    def lines(self) -> list[str]:
        """The lines of the terminal."""
        text = self.tty_chars.tobytes().decode("latin-1")
        return [text[at : at + _COLUMNS].rstrip() for at in range(0, len(text), _COLUMNS)]
