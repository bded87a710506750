"""The names of TextWorld's rooms and things, from the grammars of its games, for `env.renamed`."""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.renaming import Name, Renaming, name_of
from balrog_rag.util.extras import require

OBJECTS = (
    "generator/data/text_grammars/house_obj.twg",
    "challenges/tw_cooking/textworld_data/text_grammars/house_obj.twg",
)
TEXTS = ("*.twg", "*.twl", "*.i7x", "*.i6t", "challenges/*.py")
"""Files whose words a game may print; none of them is invented."""
ORDINARY = frozenset(
    (
        *(
            "door",
            "room",
            "place",
            "water",
            "meal",
            "lunch",
            "dinner",
            "recipe",
            "vegetable",
            "pair",
            "block",
        ),
        *("bar", "board", "case", "chop", "cooking", "day", "display", "fly", "hot", "iron", "none", "stand"),
        *("study", "top"),
    )
)
"""Names that belong to the game's ordinary language, or that a sentence uses in another sense."""
COLOURS = frozenset(("red", "green", "blue", "yellow", "orange", "purple", "white", "black"))
"""Words before a name that distinguish things of one kind, and stay."""
_SYMBOL = re.compile(r"#([^#]+)#")


def renaming(game: GameSpec) -> Renaming | None:
    """Return the renaming that a game's options ask for."""
    seed = game.options.get("renamed")
    return _renaming(seed) if isinstance(seed, int) else None


@lru_cache(maxsize=8)
def _renaming(seed: int) -> Renaming:
    require("textworld", "textworld", "env.renamed with env=textworld")
    names = {name_of(text, COLOURS | ORDINARY) for text in (*_of_grammars(), *_of_the_cooking_game(), "coin")}
    heads = {Name(name.words[-1:], name.replaced[-1:]) for name in names if name.words}
    found = {name for name in names | heads if any(name.replaced)}
    ends = {name.words[-1] for name in found if name.replaced[-1]}
    plurals = {f"{word}s": word for word in ends if not word.endswith("s")}
    return Renaming({*found, *map(name_of, plurals)}, plurals, seed, _words_of_the_package())


def _of_grammars() -> Iterator[str]:
    """Return everything that the symbols for nouns can become."""
    for file in OBJECTS:
        rules = dict(_rules((_package() / file).read_text()))
        for symbol in rules:
            if "_noun" in symbol and "_adj" not in symbol:
                yield from _filled(f"#{symbol}#", rules)


def _rules(text: str) -> Iterator[tuple[str, list[str]]]:
    """Return a grammar's symbols with what each can become."""
    for line in text.splitlines():
        symbol, colon, values = line.partition(":")
        if colon and not line.startswith("#"):
            yield symbol.strip(), [value.strip() for value in values.split(";") if value.strip()]


def _filled(text: str, rules: Mapping[str, list[str]]) -> Iterator[str]:
    """Return every text that a text with symbols can become."""
    symbol = _SYMBOL.search(text)
    if symbol is None:
        yield text
        return
    for value in rules.get(symbol[1], ()):
        yield from _filled(text[: symbol.start()] + value + text[symbol.end() :], rules)


def _of_the_cooking_game() -> Iterator[str]:
    """Return what is named in the cooking game's own tables."""
    from textworld.challenges.tw_cooking import cooking

    yield from cooking.FOODS
    for entity in cooking.ENTITIES.values():
        yield from entity["names"]
    yield from chain.from_iterable(cooking.ROOMS)


@cache
def _words_of_the_package() -> frozenset[str]:
    texts = (path.read_text(errors="replace") for each in TEXTS for path in _package().rglob(each))
    return frozenset(word.lower() for text in texts for word in re.findall(r"[A-Za-z]+", text))


def _package() -> Path:
    import textworld

    return Path(textworld.__file__).parent
