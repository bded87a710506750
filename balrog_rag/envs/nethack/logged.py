"""Parse observations from the text that BALROG's logs keep of them."""

import re

from balrog_rag.contracts.data import Observation, Part, digest
from balrog_rag.envs.nethack.conditions import CONDITIONS, HUNGER, LOADS

_HEADINGS = re.compile(r"^(message|language observation|cursor|map|inventory|statistics):\n", re.MULTILINE)
_COUNTS = re.compile(
    r"Dlvl:(?P<depth>\d+).*?\$:(?P<gold>\d+) +HP:(?P<hp>-?\d+)\((?P<max_hp>\d+)\) +Pw:(?P<energy>\d+)"
    r"\((?P<max_energy>\d+)\) +AC:(?P<armor_class>-?\d+) +(?:Xp|Exp|HD):(?P<experience_level>\d+)"
    r"(?:/(?P<experience>\d+))?(?: +T:(?P<turn>\d+))?(?P<signs>[^\n]*)"
)


def read_logged(text: str) -> Observation:
    """Parse the moment that a logged text describes; without numbers if it shows no bottom lines."""
    pieces = _HEADINGS.split(text)
    said = {name: body.rstrip("\n") for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}
    parts = tuple(Part(name, body) for name, body in said.items())
    return Observation(parts, numbers_in(said.get("map", text)), digest(text))


def numbers_in(screen: str) -> dict[str, int]:
    """Parse the numbers of the bottom lines; empty if there are no such lines."""
    found = _COUNTS.search(screen)
    if found is None:
        return {}
    signs = found["signs"].split()
    counts = {name: int(value) for name, value in found.groupdict().items() if name != "signs" and value}
    return {
        **counts,
        "hunger": _place(HUNGER, signs, 1),
        "encumbrance": _place(LOADS, signs, 0),
        "condition": sum(1 << bit for bit, word in enumerate(CONDITIONS) if word in signs),
    }


def _place(words: tuple[str, ...], signs: list[str], usual: int) -> int:
    return next((place for place, word in enumerate(words) if word and word in signs), usual)
