"""Text of games, models and pages made harmless for a terminal: nothing moves a cursor, rings, colours or
turns the writing round."""

from unicodedata import category


class _Harmless(dict[int, str]):
    """Maps each character that a terminal might act on to another text; remembers what it has met."""

    def __init__(self, instead: str, blank: str) -> None:
        """`blank` stands for odd blanks, such as one that no line is broken at."""
        super().__init__()
        self._instead, self._blank = instead, blank

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = character.isprintable() or character in "\n\t"
        self[code] = character if plain else self._blank if category(character) == "Zs" else self._instead
        return self[code]


_MARKED, _REMOVED = _Harmless("·", "·"), _Harmless("", " ")


def terminal_safe(text: str) -> str:
    """The text as it may be shown: a dot for whatever a terminal might act on."""
    return text.translate(_MARKED)


def one_line(text: str) -> str:
    """The same on one line, blanks joined."""
    return " ".join(terminal_safe(text).split())


def cleaned(text: str) -> str:
    """The text as it may be kept: without such characters, any blank a plain one, lines ended in one way."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_REMOVED)
