"""NetHack's characters."""

from itertools import product

from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError

_RACE_ALIGNMENTS = {"hum": "law neu cha", "dwa": "law", "gno": "neu", "elf": "cha", "orc": "cha"}
_ROLES = {
    "arc": ("hum dwa gno", "law neu"),
    "bar": ("hum orc", "neu cha"),
    "cav": ("hum dwa gno", "law neu"),
    "hea": ("hum gno", "neu"),
    "kni": ("hum", "law"),
    "mon": ("hum", "law neu cha"),
    "pri": ("hum elf", "law neu cha"),
    "ran": ("hum elf gno orc", "neu cha"),
    "rog": ("hum orc", "cha"),
    "sam": ("hum", "law"),
    "tou": ("hum", "neu"),
    "val": ("hum dwa", "law neu"),
    "wiz": ("hum elf gno orc", "neu cha"),
}
"""By role: its possible races and alignments."""


def characters() -> list[str]:
    """Every possible character, as role-race-alignment-gender."""
    return [
        f"{role}-{race}-{alignment}-{gender}"
        for role, (races, alignments) in _ROLES.items()
        for race, alignment in product(races.split(), alignments.split())
        for gender in (("fem",) if role == "val" else ("mal", "fem"))
        if alignment in _RACE_ALIGNMENTS[race]
    ]


def check_character(character: str) -> None:
    """Raise a ConfigError for a character that NetHack would not accept unchanged."""
    if character == "@":
        return
    known = characters()
    if character not in known:
        near = registry.nearest(character, known, "write @ for any, or e.g. val-dwa-law-fem")
        raise ConfigError(
            f"env.character: unknown character {character!r}{near} "
            "(role-race-alignment-gender, three letters each)"
        )
