"""The names of NetHack's world, from the game's own tables, for `env.renamed`."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.renaming import SHORT, Name, NamesInPlace, Renaming, name_of
from balrog_rag.envs.nethack import library_tables as tables
from balrog_rag.envs.nethack.options import nethack_options

CLASSES = {each: f"{each}s" for each in ("potion", "scroll", "wand", "ring", "spellbook")}
"""Classes of items whose names follow `of`, and whose appearances stand before the class."""
AFTER_APPEARANCE = {**CLASSES, "amulet": "amulets", "gem": "gems", "stone": "stones"}
KEPT = frozenset(
    (
        *(*AFTER_APPEARANCE, *AFTER_APPEARANCE.values(), "spell", "spells"),
        *("water", "labeled", "unlabeled", "stamped"),
    )
)
"""Words of names that belong to the game's ordinary language, as door and stairs do."""
ORDINARY = frozenset(
    (
        *("guide", "page", "master", "eye", "light", "cloud", "lord", "king", "queen", "tail", "thing"),
        "sting",
    )
)
"""Names of one word that the interface or the texts use in another sense."""
IN_WORDS = frozenset(
    (
        *("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest", "near"),
        *("far", "adjacent", "area", "dark", "lit", "very", "yourself", "inventory", "language", "message"),
        *("map", "observation", "cursor", "statistics", "action", "answer", "none", "take", "tool", "call"),
    )
)
"""Words of observations that are not in the game's library."""
IRREGULAR = {
    **{"baluchitherium": "baluchitheria", "djinni": "djinn", "dwarf": "dwarves", "elf": "elves"},
    **{"foot": "feet", "homunculus": "homunculi", "knife": "knives", "leaf": "leaves", "loaf": "loaves"},
    **{"mumak": "mumakil", "staff": "staves", "thief": "thieves", "tooth": "teeth", "vortex": "vortices"},
    **{"werewolf": "werewolves", "wolf": "wolves", "child": "children"},
}


def renaming(game: GameSpec) -> Renaming | None:
    """Return the renaming that a game's options ask for."""
    seed = nethack_options(game).renamed
    return _renaming(seed) if isinstance(seed, int) else None


@lru_cache(maxsize=8)
def _renaming(seed: int) -> Renaming:
    avoid = {*words_of_the_library(), *IN_WORDS}
    return Renaming(names(), plural_words(), seed, avoid, names_in_place())


@cache
def names() -> frozenset[Name]:
    """Return every name in the forms in which texts have it."""
    return frozenset((*_of_creatures(), *_of_things(), *_of_artifacts(), *_of_people()))


@cache
def names_in_place() -> tuple[NamesInPlace, ...]:
    """Return the words that are names only where the game writes names, since they mean other things too."""
    monsters = {tables.text(monster.name).lower() for monster in tables.monsters()}
    people = frozenset(monsters & ORDINARY)
    ranks = frozenset(text for text in _ranks() if text in ORDINARY)
    spells = {thing.name for thing in tables.objects() if _class_of(thing) == "spellbook"}
    short = {thing.name for thing in tables.objects() if 0 < len(thing.name) <= SHORT}
    labels = [thing.appearance.lower().split() for thing in tables.objects() if _class_of(thing) == "scroll"]
    short_labels = {words[0] for words in labels if words and all(len(word) <= SHORT for word in words)}
    artifacts = frozenset(name.lower() for name in tables.artifacts()) & ORDINARY
    state = "an?|the|your|blessed|uncursed|cursed|poisoned|rusty|corroded|rustproof"
    return (
        NamesInPlace(people, before=r"\b(?:the|your|peaceful|tame|poor|invisible) "),
        NamesInPlace(people, after=r" (?:very )?(?:far|near|adjacent)\b|(?:'s)? corpses?\b"),
        NamesInPlace(ranks, before=r"\bthe ", after=r" +St:"),
        NamesInPlace(frozenset(filter(str.isalpha, spells)), before=r"\b[a-z] - ", after=r" +\d"),
        NamesInPlace(frozenset(short), before=rf"(?:\b(?:{state}|\d+)|[+-]\d+) "),
        NamesInPlace(artifacts, before=r"\bnamed "),
        NamesInPlace(frozenset(short_labels), before=r"\blabeled "),
    )


def _of_creatures() -> Iterator[Name]:
    found = [tables.text(monster.name) for monster in tables.monsters()]
    heads = [text.split()[-1].lower() for text in found if " " in text]
    several = {head for head in heads if heads.count(head) > 1 and len(head) > 2}
    for text in (*found, *sorted(several)):
        if text.lower() not in ORDINARY:
            yield from _with_plurals(name_of(text))


def _of_things() -> Iterator[Name]:
    for thing in tables.objects():
        kind = _class_of(thing)
        for text, before in ((thing.name, True), (thing.appearance, False)):
            if text:
                for form in _forms(text, kind, before):
                    yield from _with_plurals(name_of(form, KEPT))
        if kind == "gem":  # BALROG's texts have its colour before its name
            yield from _with_plurals(name_of(f"{thing.appearance} {thing.name}", KEPT))


def _class_of(thing: tables.ObjectEntry) -> str:
    return tables.object_classes()[thing.data.class_][2].split()[0].lower() if thing.data.class_ else ""


def _of_artifacts() -> Iterator[Name]:
    """The names of artifacts, and those that begin with an article without it, as they are wished for."""
    for text in tables.artifacts():
        if text.lower() not in ORDINARY:
            yield name_of(text)
            yield name_of(text.removeprefix("The "))


def _forms(text: str, kind: str, identified: bool) -> Iterator[str]:
    """Return a name or an appearance as the game writes it for an item of that class."""
    words = text.split()
    if kind in CLASSES and identified:
        yield f"{kind} of {text}"
        if kind == "spellbook":
            yield f"spell of {text}"
        if len(words) > 1:  # as spells and lists have it; a single word may mean anything
            yield text
    elif kind == "scroll":
        yield text  # what it is labeled with
    elif kind in AFTER_APPEARANCE and not identified:
        yield f"{text} {kind}"
        if kind == "gem":
            yield f"{text} stone"
    else:
        yield text


def _of_people() -> Iterator[Name]:
    """Roles, their ranks and gods, and races."""
    for text in _ranks():
        if text not in ORDINARY:
            yield from _with_plurals(name_of(text))
    yield name_of(tables.god_of_none())
    for role in tables.roles():
        for god in role.gods:
            yield name_of(tables.text(god).lstrip("_"))
    for race in tables.races():
        for text in (race.noun, race.adjective, race.individual.male, race.individual.female):
            yield from _with_plurals(name_of(tables.text(text)))


def _ranks() -> Iterator[str]:
    """The names of roles and of their ranks, in lower case."""
    for role in tables.roles():
        for named in (role.name, *role.ranks):
            yield from filter(None, (tables.text(named.male).lower(), tables.text(named.female).lower()))


def _with_plurals(name: Name) -> Iterator[Name]:
    """Return a name and its plural, whose ending is at its last word or at the word before `of`."""
    if not name.words:
        return
    yield name
    heads = [name.words.index("of") - 1] if "of" in name.words[1:] else [len(name.words) - 1]
    for head in heads:
        for many in plurals(name.words[head]):
            yield Name((*name.words[:head], many, *name.words[head + 1 :]), name.replaced)


@cache
def plurals(word: str) -> tuple[str, ...]:
    """Return the plurals of a word, the game's own first."""
    if word in AFTER_APPEARANCE:
        return (AFTER_APPEARANCE[word],)
    if word.endswith("man") and word not in ("human", "shaman", "caiman"):
        return (f"{word[:-3]}men",)
    regular = f"{word}es" if re.search(r"(s|x|z|ch|sh)$", word) else f"{word}s"
    regular = f"{word[:-1]}ies" if re.search(r"[^aeiou]y$", word) else regular
    return tuple(dict.fromkeys((IRREGULAR.get(word, regular), regular)))


@cache
def plural_words() -> dict[str, str]:
    """Return the singular of every plural word of a name."""
    words = {word for name in names() for word, out in zip(*name, strict=True) if out}
    return {many: one for one in sorted(words) for many in plurals(one) if many in words}


@cache
def words_of_the_library() -> frozenset[str]:
    """Return every word in the texts of the game's library, none of which is invented."""
    import nle

    data = (Path(nle.__file__).parent / "libnethack.so").read_bytes()
    texts = [text.decode("ascii") for text in data.split(b"\0") if len(text) > 3 and _TEXT.fullmatch(text)]
    return frozenset(word.lower() for text in texts for word in re.findall(r"[A-Za-z]+", text))


_TEXT = re.compile(rb"[\x20-\x7e\n]+")
