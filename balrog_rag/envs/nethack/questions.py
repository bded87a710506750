"""What a player should look up at a moment of NetHack: deadly states, messages, things in view.

Computed from the screen and the bottom lines only, the most urgent first.
"""

import re
from collections.abc import Iterator, Sequence

from balrog_rag.contracts.kinds import Numbers
from balrog_rag.envs.nethack.conditions import CONDITIONS, HUNGER, LOADS

FOR_HUNGER = {
    "Satiated": "Satiated: do not eat, choking on food",
    "Hungry": "Hungry appears: eat now",
    "Weak": "Weak from hunger: eat or pray at once",
    "Fainting": "Fainting from lack of food",
    "Fainted": "Fainting from lack of food",
}
FOR_CONDITIONS = {
    "Stone": "turning to stone, petrification: what to do at once",
    "Slime": "turning into green slime: what to do at once",
    "Strngl": "strangled by an amulet: what to do at once",
    "FoodPois": "food poisoning FoodPois: how to survive",
    "TermIll": "terminal illness TermIll: how to survive",
    "Blind": "Blind: what to do",
    "Stun": "Stunned: what to do",
    "Conf": "Confused: what to do",
    "Hallu": "Hallucinating: what to do",
    "Lev": "levitating: how to come down",
}
FOR_LOADS = {word: f"{word}: too much weight, what to drop" for word in LOADS if word}
FOR_LOW_HIT_POINTS = (
    "low hit points in a fight: the order of things to try",
    "how low must HP be to pray safely",
)
FOR_MESSAGES = (
    (r"Still climb\?", "climb the stairs up on dungeon level 1, no return"),
    (r"sure you want to pray", "can I pray now: is it safe to pray"),
    (
        r"is displeased|Thou hast (?:angered|strayed)|Thou must relearn|Then die, mortal|durst call|smited",
        "prayed too soon, the god is angry: do not pray again",
    ),
    (r"shimmering light", "prayer worked: when may I pray again"),
    (
        r"corpse here; eat|eat the|What do you want to eat",
        "is this food or corpse safe to eat, and am I full",
    ),
    (
        r"hard time getting|Continue eating",
        "having a hard time getting all of it down: continue eating, choking",
    ),
    (r"corpse", "a corpse that was lying there already: eating old corpses kills"),
    (r"tainted|deathly sick", "food poisoning FoodPois: how to survive"),
    (r"boulder", "boulder that will not move"),
    (r"locked", "this door is locked: kick it or unlock it"),
    (r"trap door|hole in the", "falling through trap doors and holes"),
    (r"feel feverish", "lycanthropy: bitten by a werecreature"),
)
"""Patterns of messages, and the query for each."""

LATE_ON_THE_FIRST_LEVEL = 150
"""Turns after which a player who is still there has not found the way down."""

QUIET = re.compile(
    r"It's (?:a wall|solid stone)\.|You (?:swap places with|stop\.|see no|see here|attack thin air)"
    r"|is in the way!|can't move diagonally|Never mind|In what direction|What do you want to|Unknown command"
    r"|You have a little trouble|Invalid direction|There is nothing here|Your previous output did not"
    r"|You don't have anything|(?:picks|picked) up|drops? |[^.]* - an? |solidly fixed|strange direction"
    r"|There is a (?:doorway|staircase)|This door(?:way)? |You (?:miss|hit|kill|bite|descend|climb)\b"
    r"|You can't go (?:up|down) here|The door (?:opens|closes)|(?:misses|bites|hits)[!.]"
)
"""Routine messages about walls, pets, prompts and blows, which are not worth a look-up."""


def questions(message: str, things: Sequence[str], numbers: Numbers) -> list[str]:
    """Every query worth a look-up, each once."""
    return list(dict.fromkeys([*_of_message(message), *states(numbers, things), *things]))


def news(message: str) -> str:
    """The message if it is worth a look-up; empty for routine messages and lists."""
    text = message.strip()
    known = any(re.search(pattern, text) for pattern, _ in FOR_MESSAGES)
    return text if known or (text and "\n" not in text and not QUIET.search(text)) else ""


def _of_message(message: str) -> Iterator[str]:
    known = [question for pattern, question in FOR_MESSAGES if re.search(pattern, message)]
    if known:
        yield from known
    elif said := news(message):
        yield said[:_LONGEST]


_LONGEST = 120


FIRST_PRAYER = 300
"""Turns from the start until a prayer in great trouble is certainly safe."""

NEXT_PRAYER = 1000
"""Turns from one prayer until the next is probably safe."""


def prayer(turn: int, last: int | None) -> str:
    """The query about praying, by the turn of the last prayer; it is constant while the answer is."""
    if last is None and turn < FIRST_PRAYER:
        return "not prayed yet, before turn 300: is the first prayer safe"
    if last is None:
        return "not prayed yet: what a first prayer mends"
    if turn - last <= NEXT_PRAYER:
        return "prayed in the last 1000 turns: praying too soon"
    return "prayed more than 1000 turns ago: is it safe to pray again"


def carried(inventory: str) -> list[str]:
    """The names of the items in an inventory, those wielded and worn first, without counts and curses."""
    lines = [line.partition(": ")[2] or line for line in inventory.splitlines()]
    used = [line for line in lines if "(" in line]
    return [name for line in [*used, *(each for each in lines if "(" not in each)] if (name := _named(line))]


def _named(line: str) -> str:
    """Reduce `2 uncursed +0 food rations (being worn)` to `food rations`."""
    return _BESIDES.sub("", line.partition(" (")[0]).partition(" named ")[0].strip()


_BESIDES = re.compile(
    r"^(?:an? |the |\d+ )?(?:(?:un)?cursed |blessed |rusty |greased |[+-]\d+ )*", re.IGNORECASE
)


def states(numbers: Numbers, things: Sequence[str]) -> list[str]:
    """Lasting states that matter: hunger, ailments, stairs that lead out."""
    return list(_states(numbers, things)) if numbers.get("max_hp") else []


def _states(numbers: Numbers, things: Sequence[str]) -> Iterator[str]:
    condition = numbers.get("condition", 0)
    for bit, word in enumerate(CONDITIONS):
        if condition >> bit & 1 and word in FOR_CONDITIONS:
            yield FOR_CONDITIONS[word]
    hunger = HUNGER[min(numbers.get("hunger", 1), len(HUNGER) - 1)]
    if hunger in FOR_HUNGER:
        yield FOR_HUNGER[hunger]
    if numbers.get("hp", numbers["max_hp"]) * 2 <= numbers["max_hp"]:
        yield from FOR_LOW_HIT_POINTS
    if numbers.get("depth") == 1 and any(thing.startswith("stairs up") for thing in things):
        yield "stairs up on dungeon level 1: never climb them, it leaves the dungeon"
    elif numbers.get("depth") == 1 and numbers.get("turn", 0) > LATE_ON_THE_FIRST_LEVEL:
        yield "still on dungeon level 1, only stairs up and no stairs down found: what now"
    load = LOADS[min(numbers.get("encumbrance", 0), len(LOADS) - 1)]
    if load:
        yield FOR_LOADS[load]
