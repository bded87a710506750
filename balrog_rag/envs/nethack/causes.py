"""Classify the end of a game of NetHack by NetHack's own words for it.

A class is called preventable if one paragraph, read in time, suffices to prevent it.
"""

import re
from collections.abc import Mapping
from typing import Any

from balrog_rag.contracts.outcome import Outcome

LEFT, OTHER = "left the dungeon", "other"
_CLASSES = (
    ("hunger", r"^starv|fainted from lack of food"),
    ("overeating", r"^choked"),
    (
        "corpse",
        r"poisoned by (?:an? )?rotted|food poisoning|tainted|rotted .*corpse"
        r"|(?:poisonous|acidic) (?:corpse|glob)|cadaver",
    ),
    ("prayer", r"wrath of|while praying|(?<!ghost) of [A-Z][A-Za-z' ]+(?:,|$)"),
    ("gas spore", r"gas spore"),
    ("floating eye", r"frozen by a monster's gaze"),
    ("petrification", r"^petrified|turned to stone"),
    ("drowning or lava", r"^drowned|^burned by molten lava|^dissolved in molten lava"),
    ("own spell or wand", r"(?:him|her|it)self|^killed by (?:an? )?(?:own|exploding wand)"),
)
"""Classes with a pattern of NetHack's words; the first match counts, and hunger precedes the attacker."""

PREVENTABLE = frozenset((LEFT, *(name for name, _ in _CLASSES)))


def cause(outcome: str, facts: Mapping[str, Any]) -> str:
    """The class of the end; empty unless the hero died or left the dungeon."""
    if outcome == Outcome.ESCAPED:
        return LEFT
    return cause_of_death(str(facts.get("death") or "")) if outcome == Outcome.DIED else ""


def cause_of_death(words: str) -> str:
    """The class of a death described in NetHack's words."""
    return next((name for name, pattern in _CLASSES if re.search(pattern, words)), OTHER)
