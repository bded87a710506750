"""One page per monster and one per class of monsters, in sentences made from NetHack's table."""

from collections.abc import Iterator
from typing import Any

from balrog_rag.envs.nethack import library_tables as tables
from balrog_rag.knowledge.corpus.embedded.corpses import corpse
from balrog_rag.knowledge.corpus.embedded.vocabulary import (
    ABILITIES,
    ALIGNMENTS,
    ATTACKS,
    DAMAGE,
    HABITS,
    KINDS,
    RESISTANCES,
    SIZES,
    article,
    bits,
    listed,
)
from balrog_rag.knowledge.passages import Page

_CARNIVORE, _HERBIVORE, _METALLIVORE = 0x20000000, 0x40000000, 0x80000000
_INFRAVISIBLE = 0x200
_UNIQUE, _NO_GEHENNOM, _GEHENNOM_ONLY, _NOT_RANDOM = 0x1000, 0x0800, 0x0400, 0x0200
_SMALL_GROUP, _LARGE_GROUP, _GENOCIDE = 0x80, 0x40, 0x20
_PASSIVE, _WHEN_IT_DIES = 0, 14
YOUR_SPEED = 12


def pages() -> Iterator[Page]:
    """Return a page for every monster, then for every class."""
    seen: set[str] = set()
    for monster in tables.monsters():
        name = tables.text(monster.name)
        human = " in human form" if name in seen else ""  # only lycanthropes share a name
        seen.add(name)
        yield Page(title=f"{name}{human} (monster)", text=describe(monster), path=f"monster/{name}{human}")
    yield from _classes()


def describe(monster: Any) -> str:
    """Describe a monster from its table entry."""
    parts = [_looks(monster), _strength(monster), _attacks(monster), _passive(monster), _resists(monster)]
    parts += [corpse(monster), _habits(monster), _found(monster)]
    return "\n".join(part for part in parts if part)


def _looks(monster: Any) -> str:
    letter, kind = tables.monster_classes()[monster.letter]
    name = tables.text(monster.name)
    unique = monster.generation & _UNIQUE
    who = name if unique else article(name).capitalize()
    kinds = bits(KINDS, monster.flags2)
    also = f" It is {listed(kinds)}." if kinds else ""
    size = SIZES[monster.size]
    return f"{who} is {article(size)} monster shown as {letter} (class {letter}: {kind}).{also}"


def _strength(monster: Any) -> str:
    speed = (
        "It does not move" if not monster.speed else f"Its speed is {monster.speed}, {_pace(monster.speed)}"
    )
    mind = f", magic resistance {monster.mr}%" if monster.mr else ""
    return (
        f"{speed}. It has level {monster.level}, difficulty {monster.difficulty}, "
        f"armor class {monster.ac}{mind}."
    )


def _pace(speed: int) -> str:
    if speed == YOUR_SPEED:
        return "as fast as an unhasted player"
    return f"{'faster' if speed > YOUR_SPEED else 'slower'} than an unhasted player ({YOUR_SPEED})"


def _attacks(monster: Any) -> str:
    active = [attack for attack in monster.attacks if attack.kind not in (_PASSIVE, _WHEN_IT_DIES)]
    if not active:
        return "It has no active attack."
    return "Attacks each turn: it " + "; it ".join(_attack(attack) for attack in active) + "."


def _attack(attack: Any) -> str:
    dice = f" for {attack.dice}d{attack.sides}" if attack.sides else ""
    effect = DAMAGE.get(attack.damage, "")
    return f"{ATTACKS.get(attack.kind, 'attacks')}{dice}{f', {effect}' if effect else ''}"


def _passive(monster: Any) -> str:
    """What happens to an attacker, or to anybody beside it when it dies."""
    said = []
    for attack in monster.attacks:
        effect = DAMAGE.get(attack.damage, "") or "damage"
        if attack.kind == _PASSIVE and attack.damage:
            said.append(f"Danger when you hit or touch it: it harms the attacker passively by {effect}.")
        if attack.kind == _WHEN_IT_DIES:
            said.append(f"When it dies it explodes: {effect}, {attack.dice}d{attack.sides}.")
    return " ".join(said)


def _resists(monster: Any) -> str:
    resists = bits(RESISTANCES, monster.resists)
    can = bits(ABILITIES, monster.flags1)
    said = [f"It resists {listed(resists)}."] if resists else []
    if can:
        said.append(f"It {listed(can)}.")
    if monster.flags3 & _INFRAVISIBLE:
        said.append("Infravision shows it in the dark.")
    return " ".join(said)


def _habits(monster: Any) -> str:
    said = bits(HABITS, monster.flags2)
    eats = [
        food
        for bit, food in ((_CARNIVORE, "meat"), (_HERBIVORE, "plants"), (_METALLIVORE, "metal"))
        if monster.flags1 & bit
    ]
    if eats:
        said.append(f"It eats {listed(eats)}.")
    return " ".join(said)


def _found(monster: Any) -> str:
    can = "can" if monster.generation & _GENOCIDE else "cannot"
    side = ALIGNMENTS[4 if monster.alignment > 0 else 1 if monster.alignment < 0 else 2]
    return f"{_generated(monster.generation)} It {can} be genocided. Its alignment is {side}."


def _generated(made: int) -> str:
    if made & _NOT_RANDOM:
        return "It is not generated at random."
    groups = "alone"
    if made & (_LARGE_GROUP | _SMALL_GROUP):
        groups = f"in {'large' if made & _LARGE_GROUP else 'small'} groups"
    where = ""
    if made & (_GEHENNOM_ONLY | _NO_GEHENNOM):
        where = " only in Gehennom" if made & _GEHENNOM_ONLY else " but not in Gehennom"
    return f"It appears {groups}{where}."


def _classes() -> Iterator[Page]:
    for number, (letter, kind) in enumerate(tables.monster_classes()):
        members = [monster for monster in tables.monsters() if monster.letter == number]
        if not members or not kind:
            continue
        names = [tables.text(monster.name) for monster in sorted(members, key=lambda each: each.difficulty)]
        text = (
            f"On the map the letter {letter} stands for: {kind}. "
            "Monsters of this class, from the least to the most dangerous: "
            f"{', '.join(dict.fromkeys(names))}."
        )
        yield Page(title=f"monster class {letter}: {kind}", text=text, path=f"monster-class/{number}-{kind}")
