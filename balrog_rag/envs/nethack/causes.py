"""Of which class the end of a game of NetHack is, from NetHack's own words for it.

The classes that are called preventable are those against which one paragraph, read in time, is enough.
"""

import re
from collections.abc import Mapping
from typing import Any

from balrog_rag.episode.outcome import Outcome

LEFT, OTHER = "left the dungeon", "other"
_CLASSES = (
    ("hunger", r"^starv|fainted from lack of food"),
    ("overeating", r"^choked"),
    ("corpse", r"poisoned by (?:an? )?rotted|food poisoning|tainted|rotted .*corpse"),
    ("prayer", r"wrath of|while praying|(?<!ghost) of [A-Z][A-Za-z' ]+(?:,|$)"),
    ("gas spore", r"gas spore"),
    ("floating eye", r"frozen by a monster's gaze"),
    ("petrification", r"^petrified|turned to stone"),
    ("drowning or lava", r"^drowned|^burned by molten lava|^dissolved in molten lava"),
    ("own spell or wand", r"(?:him|her|it)self|^killed by (?:an? )?(?:own|exploding wand)"),
)
"""Classes with a pattern of NetHack's words; the first that fits is taken, hunger before who then struck."""

PREVENTABLE = frozenset((LEFT, *(name for name, _ in _CLASSES)))


def cause(outcome: str, facts: Mapping[str, Any]) -> str:
    """The class; empty for a game that was not ended by death or by leaving."""
    if outcome == Outcome.ESCAPED:
        return LEFT
    return cause_of_death(str(facts.get("death") or "")) if outcome == Outcome.DIED else ""


def cause_of_death(words: str) -> str:
    """The class of a death told in NetHack's words."""
    return next((name for name, pattern in _CLASSES if re.search(pattern, words)), OTHER)
