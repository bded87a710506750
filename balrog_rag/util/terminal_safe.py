"""Make text of games, models and pages safe for a terminal: remove anything that moves the cursor, rings,
changes colours or reverses the text direction."""

from unicodedata import category


class _Harmless(dict[int, str]):
    """Maps each character that a terminal might act on to a replacement, and caches the result."""

    def __init__(self, instead: str, blank: str) -> None:
        """`blank` replaces unusual blanks, such as a non-breaking space."""
        super().__init__()
        self._instead, self._blank = instead, blank

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = character.isprintable() or character in "\n\t"
        self[code] = character if plain else self._blank if category(character) == "Zs" else self._instead
        return self[code]


_MARKED, _REMOVED = _Harmless("·", "·"), _Harmless("", " ")


def terminal_safe(text: str) -> str:
    """Return the text safe for display: a dot replaces every character that a terminal might act on."""
    return text.translate(_MARKED)


def one_line(text: str) -> str:
    """Return the text safe for display on one line, with runs of blanks joined."""
    return " ".join(terminal_safe(text).split())


def cleaned(text: str) -> str:
    """Return the text safe for storage: no such characters, plain blanks, uniform line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_REMOVED)
