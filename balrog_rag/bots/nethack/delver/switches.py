"""The tactics that can be switched off: `agent.options.NAME=false`, or `balrog-rag ablate agent=delver`.

Switched off, a tactic presses no key and changes nothing that is remembered, as if its code were absent.
Not switchable: finding the way, following a vault's guard, fighting what stands next to us, throwing missiles
(a part of the fight), healing spells, and digging down itself, which `agent.options.dig` controls.
"""

from dataclasses import dataclass, field, fields
from typing import Any

from balrog_rag.contracts.programs import Switch

_PHASE, _SAYS = "phase", "says"


def _tactic(phase: str, says: str) -> Any:
    return field(default=True, metadata={_PHASE: phase, _SAYS: says})


@dataclass(frozen=True)
class Switches:
    """Every tactic is on by default."""

    prayer: bool = _tactic("all", "pray in mortal need, for food and against curses")
    elbereth: bool = _tactic("all", "write Elbereth to rest on it, and in a pit before digging on")
    potions: bool = _tactic("all", "drink known potions of healing")
    meals: bool = _tactic("all", "eat carried food when hungry")
    corpses: bool = _tactic("all", "eat what was just killed")
    armor: bool = _tactic("all", "put on armour")
    weapons: bool = _tactic("all", "wield the best weapon")
    wands: bool = _tactic("all", "engrave with unknown wands to identify them")
    rest: bool = _tactic("growing", "rest until wounds have healed")
    collecting: bool = _tactic("growing", "walk to wanted items and pick them up")
    shopping: bool = _tactic("growing", "buy a digging tool")
    murder: bool = _tactic("growing", "kill peaceful dwarves for their pick-axes")
    seeking: bool = _tactic("growing", "search for hidden ways to the stairs of the Mines")
    base: bool = _tactic("growing", "leave fights by the stairs up of the Mines")
    retreat: bool = _tactic("all", "leave fights that would be lost")
    cover: bool = _tactic("growing", "leave the line of fire by stairs")
    magic: bool = _tactic("all", "use attack spells and wands in fights")
    taming: bool = _tactic("all", "throw food to hostile pets")
    blasts: bool = _tactic("all", "keep away from exploding monsters, or shoot them")
    falling: bool = _tactic("all", "leave through a hole made with a wand of digging")
    waiting: bool = _tactic("diving", "wait and rest before the first deep levels")
    near_stairs: bool = _tactic("diving", "take stairs that are nearer than a hole")


def listed() -> tuple[Switch, ...]:
    """Return all switches in order."""
    own = (Switch(each.name, each.metadata[_PHASE], each.metadata[_SAYS]) for each in fields(Switches))
    return (Switch("dig", "diving", "dig down at all"), *own)
