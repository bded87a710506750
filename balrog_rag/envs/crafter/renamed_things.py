"""The names of Crafter's world, from the game's own tables, for `env.renamed`."""

from functools import lru_cache

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.renaming import Renaming, name_of

ORDINARY = frozenset(("water", "grass", "path", "sand", "lava", "health", "food", "drink", "energy"))
"""Words that stay: the ground, and what a body needs."""
CREATURES = ("zombie", "skeleton", "cow", "plant", "arrow")
"""The game's classes of things that move or grow."""


def renaming(game: GameSpec) -> Renaming | None:
    """Return the renaming that a game's options ask for."""
    seed = game.options.get("renamed")
    return _renaming(seed) if isinstance(seed, int) else None


@lru_cache(maxsize=8)
def _renaming(seed: int) -> Renaming:
    from crafter import constants

    things = {*constants.materials, *constants.items, *CREATURES} - ORDINARY
    names = {name_of(thing) for thing in things}
    names |= {name_of(word) for name in names for word in name.words}  # an action may name a part
    words = {word for name in names for word in name.words}
    plurals = {f"{word}s": word for word in words}
    return Renaming({*names, *map(name_of, plurals)}, plurals, seed, ORDINARY)
