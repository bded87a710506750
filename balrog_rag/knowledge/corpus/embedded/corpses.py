"""What a monster leaves when it dies, and what eating that does.

Properties in the table are read from there; the few effects of single kinds that exist only in the game's
code are listed below. Deadly and maiming effects come first.
"""

from typing import Any

from balrog_rag.envs.nethack import library_tables as tables
from balrog_rag.knowledge.corpus.embedded.vocabulary import RESISTANCES, bits, listed

_NO_CORPSE = 0x10
_ACID, _POISON = 0x08000000, 0x10000000
_BY_EATING = 0x3F
"""Resistances that a corpse can give in 3.6; the table also marks acid and petrification."""
_LYCANTHROPE, _SHAPESHIFTER, _GIANT, _DOMESTIC = 0x4, 0x4000, 0x2000, 0x400000
_CANNIBALS = {0x8: "humans", 0x10: "elves", 0x20: "dwarves", 0x40: "gnomes"}
"""The race that would be a cannibal by eating a monster; orcs and Cavemen are exempt."""
_PETS = ("d", "f")
"""Letters of dogs and cats."""
_STUNS, _STONE, _DREAMS, _SLIME = 12, 18, 36, 40
_TOUCHES = (0, 5)
_GLOBS = ("gray ooze", "brown pudding", "green slime", "black pudding")
_DEADLY = ("Death", "Pestilence", "Famine")
AFTER = {
    "lizard": "It never rots; eating it stops turning to stone and shortens stun and confusion.",
    "lichen": "It never rots.",
    "wraith": "Eating it raises your experience level by one.",
    "nurse": "Eating it restores all hit points.",
    "newt": "Eating it may restore a little power (Pw).",
    "floating eye": "Eating it gives telepathy.",
    "bat": "Eating it stuns you for a while.",
    "giant bat": "Eating it stuns you for a while.",
    "stalker": "Eating it makes you invisible and stuns you for a while.",
    "small mimic": "Eating it leaves you helpless for 20 turns.",
    "large mimic": "Eating it leaves you helpless for 40 turns.",
    "giant mimic": "Eating it leaves you helpless for 50 turns.",
    "quantum mechanic": "Eating it makes you fast, or slow again if you were fast.",
    "mind flayer": "Eating it may raise intelligence or give telepathy.",
    "master mind flayer": "Eating it may raise intelligence or give telepathy.",
    "disenchanter": "Eating it may take away one of your resistances or powers.",
    "violet fungus": "Eating it makes you hallucinate.",
}
"""Effects of these kinds, by name, in the game's code."""


def corpse(monster: Any) -> str:
    """Describe what it leaves."""
    if once := tables.living(monster):
        body = tables.text(once.name)
        return (
            f"It leaves a {body} corpse that counts as 100 turns old at once: never eat it, it may be "
            "deadly. Its name does not tell it from a fresh one."
        )
    if human := tables.other_form(monster):
        return f"When it dies it is a human again, and leaves such a corpse. {_dangers(human)}"
    if tables.text(monster.name) in _GLOBS:
        slimes = any(attack.damage == _SLIME for attack in monster.attacks)
        eaten = "never eat it: it turns you into slime" if slimes else "it can be eaten and never rots"
        return f"It leaves no corpse but a glob; {eaten}."
    if monster.generation & _NO_CORPSE:
        return "It leaves no corpse."
    weighed = f"Its corpse weighs {monster.weight} and gives {monster.nutrition} nutrition when eaten."
    return " ".join(part for part in (weighed, _dangers(monster), _gains(monster)) if part)


def _dangers(monster: Any) -> str:
    """Reasons not to eat it."""
    does = {attack.damage for attack in monster.attacks}
    stony = [attack.kind for attack in monster.attacks if attack.damage == _STONE]
    touched = "or touch the corpse with bare hands" if set(stony) & set(_TOUCHES) else "the corpse"
    pet = monster.flags2 & _DOMESTIC and tables.monster_classes()[monster.letter][0] in _PETS
    own = bits(_CANNIBALS, monster.flags2)
    said = (
        (stony, f"Never eat {touched}: it turns you to stone."),
        (tables.text(monster.name) in _DEADLY, "Never eat it: that kills at once."),
        (monster.flags2 & _LYCANTHROPE, "Never eat the corpse: it gives you lycanthropy."),
        (monster.flags1 & _POISON, "The corpse is poisonous to eat."),
        (monster.flags1 & _ACID, "The corpse is acidic to eat."),
        (monster.flags2 & _SHAPESHIFTER, "Eating it changes you into another monster."),
        (does & {_STUNS, _DREAMS}, "Eating it makes you hallucinate."),
        (
            pet,
            "Eating it lets all monsters notice you for good, unless you are a Caveman or an orc.",
        ),
        (own, f"For {listed(own)} eating it is cannibalism, unless they are Cavemen."),
    )
    return " ".join(words for holds, words in said if holds)


def _gains(monster: Any) -> str:
    """Other effects of eating it."""
    conveys = bits(RESISTANCES, monster.conveys & _BY_EATING)
    said = (
        (conveys, f"Eating the corpse may give resistance to {listed(conveys, 'or')}."),
        (monster.flags2 & _GIANT, "Eating it may raise strength."),
        (tables.text(monster.name) in AFTER, AFTER.get(tables.text(monster.name), "")),
    )
    return " ".join(words for holds, words in said if holds)
