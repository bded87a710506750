"""The tactics that can be switched off: `agent.options.NAME=false`, or `balrog-rag ablate agent=delver`.

Switched off, a tactic presses no key and changes nothing that is remembered, as if its code were absent.
Some switch off common knowledge instead: the bot then does what somebody without it would do, such as
hitting a floating eye. `prayer` and `elbereth` include the switches whose names begin with theirs.
Not switchable: finding the way, fighting what stands next to us, and digging down itself, which
`agent.options.dig` controls.
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
    prayer_low: bool = _tactic("all", "pray when few hit points are left, or in a deadly condition")
    prayer_hunger: bool = _tactic("all", "pray when Weak from hunger")
    prayer_curses: bool = _tactic("all", "pray against lycanthropy and cursed hands")
    prayer_timing: bool = _tactic("all", "know when a prayer is too early or too soon after the last one")
    elbereth: bool = _tactic("all", "write Elbereth to rest on it, and in a pit before digging on")
    elbereth_rest: bool = _tactic("all", "write Elbereth to rest on it")
    elbereth_pit: bool = _tactic("diving", "write Elbereth in a pit before digging on")
    elbereth_kinds: bool = _tactic("all", "know which monsters ignore Elbereth")
    potions: bool = _tactic("all", "drink known potions of healing")
    meals: bool = _tactic("all", "eat carried food when hungry")
    larder: bool = _tactic("all", "buy food, eat carried lichens and older corpses, and with enemies about")
    corpses: bool = _tactic("all", "eat what was just killed")
    corpse_safety: bool = _tactic("all", "know which corpses are safe to eat")
    armor: bool = _tactic("all", "put on armour")
    weapons: bool = _tactic("all", "wield the best weapon")
    rearm: bool = _tactic("all", "wait in another form, take up weapons again after it, and eat wolfsbane")
    training: bool = _tactic("all", "advance skills (#enhance) when the game says that one can")
    wands: bool = _tactic("all", "learn by engraving what unknown wands do, and speed up with one")
    rest: bool = _tactic("growing", "rest until wounds have healed")
    collecting: bool = _tactic("growing", "walk to wanted items and pick them up")
    shopping: bool = _tactic("growing", "buy a digging tool, and sell things for it")
    murder: bool = _tactic("growing", "kill peaceful dwarves for their pick-axes")
    listening: bool = _tactic("growing", "wait in the Mines for a monster that is heard to dig")
    seeking: bool = _tactic("growing", "search for hidden ways to the stairs of the Mines")
    burrowing: bool = _tactic("growing", "with a digging tool, tunnel to find the stairs out of the Mines")
    base: bool = _tactic("growing", "leave fights by the stairs up of the Mines")
    retreat: bool = _tactic("all", "leave fights that would be lost")
    cover: bool = _tactic("growing", "leave the line of fire by stairs")
    magic: bool = _tactic("all", "use attack spells and wands in fights")
    taming: bool = _tactic("all", "throw food to hostile pets")
    blasts: bool = _tactic("all", "keep away from exploding monsters, or shoot them")
    falling: bool = _tactic("all", "leave through a hole made with a wand of digging")
    waiting: bool = _tactic("diving", "wait and rest before the first deep levels")
    near_stairs: bool = _tactic("diving", "take stairs that are nearer than a hole")
    floating_eye: bool = _tactic("all", "never hit a floating eye in melee")
    gas_spore: bool = _tactic("all", "never hit a gas spore in melee")
    passives: bool = _tactic("all", "never hit jellies, molds and green slimes in melee")
    cockatrice: bool = _tactic("all", "never hit a cockatrice without a weapon")
    peacefuls: bool = _tactic("all", "spare peaceful monsters")
    vault_guard: bool = _tactic("all", "follow the guard out of a vault")
    missiles: bool = _tactic("all", "throw and shoot missiles")
    healing_spells: bool = _tactic("all", "cast spells of healing")


def listed() -> tuple[Switch, ...]:
    """Return all switches in order."""
    own = (Switch(each.name, each.metadata[_PHASE], each.metadata[_SAYS]) for each in fields(Switches))
    return (Switch("dig", "diving", "dig down at all"), *own)
