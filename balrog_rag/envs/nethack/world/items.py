"""Items carried, parsed from the lines of the inventory."""

import re
from functools import lru_cache
from typing import NamedTuple

_LINE = re.compile(
    r"(?P<count>an?|the|\d+) (?P<curse>blessed |uncursed |cursed )?(?P<rest>.*?)(?P<use>(?: \([^()]*\))*)$"
)
_ENCHANTMENT = re.compile(r"([+-]\d+) ")
_SLOTS = (
    ("shield", ("shield", "roundshield")),
    ("helmet", ("helm", "helmet", "hat", "cap", "fedora", "cornuthaum", "pot")),
    ("gloves", ("gloves", "gauntlets")),
    ("boots", ("boots", "shoes")),
    ("cloak", ("cloak", "robe", "smock", "cape", "apron", "wrapping", "cover", "coverlet")),
    ("cloak", ("pall", "mantelet", "cope", "cloth")),
    ("shirt", ("shirt", "T-shirt")),
    ("body", ("mail", "armor", "jacket", "mithril-coat", "scales", "mithril", "coat", "tunic")),
)


class Item(NamedTuple):
    """One line of the inventory."""

    letter: str
    text: str
    number: int
    curse: str
    """`blessed`, `uncursed`, `cursed`, or empty if unknown."""
    enchantment: int | None
    name: str
    """The words between curse, enchantment and use, without the name that a player gave this very item."""
    use: str
    """The suffix in brackets: `(weapon in hand)`, `(being worn)`."""

    @property
    def worn(self) -> bool:
        """Whether it is worn."""
        return "being worn" in self.use or "(on " in self.use

    @property
    def wielded(self) -> bool:
        """Whether it is wielded."""
        return "(weapon in hand" in self.use or ("wielded)" in self.use and "alternate" not in self.use)

    @property
    def slot(self) -> str:
        """Where a piece of armour is worn; empty for anything else."""
        return slot_of(self.name)


def read_item(letter: str, text: str) -> Item:
    """Parse one line of the inventory, without its letter."""
    match = _LINE.match(text)
    if match is None:
        return Item(letter, text, 1, "", None, text, "")
    count, rest = match["count"], match["rest"]
    plus = _ENCHANTMENT.search(rest)
    return Item(
        letter=letter,
        text=text,
        number=int(count) if count.isdigit() else 1,
        curse=(match["curse"] or "").strip(),
        enchantment=int(plus[1]) if plus else None,
        name=(rest[plus.end() :] if plus else rest).partition(" named ")[0],
        use=match["use"].strip(),
    )


@lru_cache(4096)
def slot_of(name: str) -> str:
    """Where a piece of armour with this name is worn; empty for anything else."""
    words = name.split(" named ")[0].split(" called ")[0].replace("pair of ", "").split()
    for slot, endings in _SLOTS:
        if any(word in endings for word in words):
            return slot
    return ""
