"""Damage of weapons: the tables' dice, and those that the game's code adds for some kinds."""

from balrog_rag.envs.nethack.library_tables import ObjectEntry

_ADDED = {
    "+1": (
        "mace, war hammer, flail, spetum, trident, crossbow bolt",
        "morning star, partisan, runesword, elven broadsword, broadsword, crossbow bolt",
    ),
    "+d4": (
        "battle-axe, bardiche, bill-guisarme, guisarme, lucern hammer, morning star, ranseur, broadsword, "
        "elven broadsword, runesword, voulge",
        "flail, ranseur, voulge",
    ),
    "+d6": ("", "halberd, spetum"),
    "+2d4": ("", "battle-axe, bardiche, trident"),
    "+2d6": ("", "tsurugi, dwarvish mattock, two-handed sword"),
}
"""Added dice, with the weapons that get them against small and against large monsters."""


def damage(thing: ObjectEntry) -> str:
    """Describe the dice against small and against large monsters."""
    small, large = (
        "".join(more for more, named in _ADDED.items() if thing.name in named[size].split(", "))
        for size in (0, 1)
    )
    data = thing.data
    return f"d{data.small_damage}{small} damage to small and d{data.large_damage}{large} to large monsters"
