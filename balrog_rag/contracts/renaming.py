"""A world with other names: invented words in place of a game's names, exchanged in texts and back again.

Every word of a name has one invented word of the same length, drawn from a seed, and no two words share one.
So texts keep their columns, and putting the original words back restores a text byte for byte. Names are
found as phrases, the longest first, so a word that is only a part of names stays where it is used by itself.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

from balrog_rag.contracts.errors import ConfigError

KEPT = frozenset(["of", "the", "from", "for", "with", "and", "in", "to", "a", "an"])
"""Words of names that are never replaced."""
VOWELS, CONSONANTS = "aeiou", "bdfgklmnprstvxz"
SUFFIXES = ("ing", "ed", "ly", "s")
"""Endings that say which class of word it is; an invented word keeps them."""
SHORT = 2
"""Letters of a word that somebody may type by chance."""
MOST_TRIES = 20_000
_WORD = re.compile(r"(?<![^\W_])[A-Za-z]+(?![^\W_])")
"""A word; letters beside digits or other letters are none, such as those that somebody typed at random."""
_BETWEEN = re.compile(r"[ '_-]{1,3}|[ ]*\n[ ]*")
"""What may stand between two words of a name: it can be broken at the end of a line."""
_END = ""
"""The key in a node of the tree under which the words to replace are."""


class Name(NamedTuple):
    """A name as texts have it: its words in lower case, and which of them are replaced."""

    words: tuple[str, ...]
    replaced: tuple[bool, ...]


class NamesInPlace(NamedTuple):
    """Single words that are names only beside certain other words, which are never names themselves.

    Words of two letters are put back only there, too: elsewhere somebody may have typed them by chance.
    """

    words: frozenset[str]
    before: str = ""
    """The pattern that precedes such a name."""
    after: str = ""
    """The pattern that follows it."""

    def pattern(self, words: Iterable[str]) -> re.Pattern[str]:
        """Return the pattern of these words in that place; the group `name` is the word."""
        choice = "|".join(sorted(words))
        return re.compile(rf"(?:{self.before})\b(?P<name>{choice})\b(?={self.after})", re.IGNORECASE)


def name_of(text: str, kept: Collection[str] = ()) -> Name:
    """Return a name whose words are replaced, except `kept` ones, the shortest and words such as `of`."""
    words = tuple(word.lower() for word in re.findall("[A-Za-z]+", text))
    # What is typed by chance may be a word of two letters: putting names back would change it.
    return Name(words, tuple(len(word) > SHORT and word not in KEPT and word not in kept for word in words))


class Renaming:
    """Exchanges a world's names in texts."""

    def __init__(
        self,
        names: Iterable[Name],
        plurals: Mapping[str, str],
        seed: int,
        avoid: Collection[str],
        in_place: Sequence[NamesInPlace] = (),
    ) -> None:
        """`plurals` maps plural words of names to their singulars; no word of `avoid` is invented."""
        found = sorted(set(names))
        words = {word for name in found for word, out in zip(*name, strict=True) if out}
        words.update(*(each.words for each in in_place))
        known = {*avoid, *(word for name in found for word in name.words), *KEPT}
        self._invented = _Inventor(seed, known).all(words, plurals)
        self._original = {invented: word for word, invented in self._invented.items()}
        self._in_place = [each.pattern(each.words) for each in in_place]
        self._put_back = [each.pattern(map(self._invented.__getitem__, each.words)) for each in in_place]
        self._tree: dict[str, object] = {}
        for name in found:
            node = self._tree
            for word in name.words:
                node = node.setdefault(word, {})  # type: ignore[assignment]
            node[_END] = name.replaced
        self._renamed = lru_cache(maxsize=4096)(self._rename)

    @property
    def words(self) -> Mapping[str, str]:
        """The invented word of every word."""
        return self._invented

    @property
    def originals(self) -> Mapping[str, str]:
        """The original word of every invented word."""
        return self._original

    def rename(self, text: str) -> str:
        """Return the text with invented names; cached, since prompts show the same texts again and again."""
        return self._renamed(text)

    def restore(self, text: str) -> str:
        """Return the text with the original names."""

        def original(found: re.Match[str]) -> str:
            word = self._original.get(found[0].lower())
            return found[0] if word is None or len(word) <= SHORT else _cased(word, found[0])

        return _WORD.sub(original, _exchanged(text, self._put_back, self._original))

    def _rename(self, text: str) -> str:
        # Before other names, since these words are recognised by what is beside them.
        text = _exchanged(text, self._in_place, self._invented)
        tokens = list(_WORD.finditer(text))
        lowered = [token[0].lower() for token in tokens]
        pieces: list[str] = []
        done = place = 0
        while place < len(tokens):
            replaced = self._longest(text, tokens, lowered, place)
            for token, word, out in zip(tokens[place:], lowered[place:], replaced, strict=False):
                if out:
                    pieces += (text[done : token.start()], _cased(self._invented[word], token[0]))
                    done = token.end()
            place += max(1, len(replaced))
        return "".join([*pieces, text[done:]])

    def _longest(
        self, text: str, tokens: Sequence[re.Match[str]], lowered: Sequence[str], place: int
    ) -> tuple[bool, ...]:
        """Return which words are replaced of the longest name that begins at this word; () if none does."""
        node, best = self._tree.get(lowered[place]), ()
        while isinstance(node, dict):
            best = node.get(_END, best)
            place += 1
            if place == len(tokens):
                break
            between = text[tokens[place - 1].end() : tokens[place].start()]
            if not _BETWEEN.fullmatch(between):
                break
            node = node.get(lowered[place])
        return best


def _exchanged(text: str, patterns: Iterable[re.Pattern[str]], words: Mapping[str, str]) -> str:
    """Return the text with the words that these patterns find exchanged."""

    def other(found: re.Match[str]) -> str:
        before = found[0][: -len(found["name"])]
        return before + _cased(words[found["name"].lower()], found["name"])

    for pattern in patterns:
        text = pattern.sub(other, text)
    return text


def _cased(word: str, like: str) -> str:
    """Return a word with the capitals of another word of the same length."""
    if like.islower():
        return word
    return "".join(new.upper() if old.isupper() else new for new, old in zip(word, like, strict=True))


class _Inventor:
    """Invents words, none twice and none that exists."""

    def __init__(self, seed: int, known: Collection[str]) -> None:
        self._seed, self._taken = seed, set(known)

    def all(self, words: Collection[str], plurals: Mapping[str, str]) -> dict[str, str]:
        """Return an invented word for each word; plurals are made from their singulars."""
        found: dict[str, str] = {}
        # In a fixed order, since each word that is taken narrows the choice of the next.
        for word in sorted(words - plurals.keys()):
            found[word] = self._take(word, self._drawn(word))
        for word in sorted(words & plurals.keys()):
            singular = found.get(plurals[word])
            given = [_plural(singular, len(word))] if singular else []
            found[word] = self._take(word, chain(given, self._drawn(word)))
        return found

    def _take(self, word: str, candidates: Iterable[str]) -> str:
        for candidate in candidates:
            if candidate not in self._taken:
                self._taken.add(candidate)
                return candidate
        raise ConfigError(f"env.renamed={self._seed}: no word is left for {word!r}; use another seed")

    def _drawn(self, word: str) -> Iterable[str]:
        suffix = next((each for each in SUFFIXES if word.endswith(each) and len(word) - len(each) >= 3), "")
        for attempt in range(MOST_TRIES):
            draw = blake2b(f"{self._seed}/{word}/{attempt}".encode(), digest_size=64).digest()
            yield _spoken(len(word) - len(suffix), takes_an(word), draw) + suffix


def takes_an(word: str) -> bool:
    """Whether the game writes `an` before a word."""
    return word[0] in VOWELS and not word.startswith(("uni", "ura", "use", "eu", "one"))


def _spoken(length: int, vowel: bool, draw: bytes) -> str:
    """Return a word that can be spoken: vowels and consonants in turn, now and then a doubled sound."""
    letters = ""
    for place in range(length):
        kind = VOWELS if vowel else CONSONANTS
        letters += kind[draw[place % 32] % len(kind)]
        # A consonant may be followed by another, never three in a row and never at the beginning.
        again = 0 < place < length - 1 and not vowel and draw[32 + place % 32] < 40 and letters[-2] in VOWELS
        vowel = vowel if again else not vowel
    return letters


def _plural(singular: str, length: int) -> str:
    """Return the plural of an invented word, with that many letters."""
    stem = singular[: length - 1]
    return stem + "e" * (length - 1 - len(stem)) + "s"
