"""What bears on the next decision in NetHack: the open question, what can kill now, then what is new in view.

Written from NetHack's rules. The order is what an answer could cost: first the question that the game asks,
then what kills through the hero's own next blow or step, then states that kill, then news, then the rest,
nearest first.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from balrog_rag.contracts.measures import Numbers
from balrog_rag.contracts.signals import Concern
from balrog_rag.envs.nethack import questions
from balrog_rag.envs.nethack.conditions import CONDITIONS, HUNGER, LOADS
from balrog_rag.envs.nethack.standing_concerns import digging, standing

DISTANCES = ("adjacent", "very near", "near", "far", "very far")
"""NLE's words for distances, nearest first."""

_ADJACENT, _NEAR = DISTANCES.index("adjacent"), DISTANCES.index("near")
_LINE = re.compile(rf"^(.+?) ({'|'.join(sorted(DISTANCES, key=len, reverse=True))})\b", re.MULTILINE)


_CACHED = 256
"""Texts whose reading is cached: one that has not changed is read again at every step."""


class Sight(NamedTuple):
    """A thing in view and its distance, as an index of DISTANCES."""

    name: str
    distance: int


class Situation(NamedTuple):
    """One moment, as far as it is known."""

    message: str
    sights: Sequence[Sight]
    numbers: Numbers
    prayed: int | None
    """Turn of the last known prayer."""
    inventory: str = ""
    done: Mapping[str, int] = {}
    """Deeds so far, by name, with their turns."""


@lru_cache(maxsize=_CACHED)
def sights(language: str) -> tuple[Sight, ...]:
    """Read the things of a language observation, nearest first; the hero's own square is not in it."""
    found = [Sight(noun, DISTANCES.index(distance)) for noun, distance in _LINE.findall(language)]
    return tuple(sorted(found, key=lambda each: each.distance))


def concerns(now: Situation) -> list[Concern]:
    """Return what to look up, the most urgent first, each query once."""
    digs = digging(now.numbers, now.done)
    found = [
        *(*_asked(now), *digs, *_beside(now), *_states(now)),
        *(*_standing(now), *_news(now.message), *_things(now)),
    ]
    return list(_merged(found).values())


def _merged(found: Sequence[Concern]) -> dict[str, Concern]:
    merged: dict[str, Concern] = {}
    for query, asked, lasting in found:
        before = merged.get(query, Concern(query))
        merged[query] = Concern(query, before.asked or asked, before.lasting or lasting)
    return merged


# --- the question that the game asks ---

_OPEN = re.compile(r"\[[^\]\n]{1,60}\](?: \(.\))?\s*$|in what direction\?", re.IGNORECASE)
"""A question that waits for one key."""

STAIRS_OUT = "stairs up on dungeon level 1: never climb them, it leaves the dungeon"
OVEREATING = "Satiated: do not eat, choking on food"
FULL = "not Hungry: eating without need makes Satiated, choking on food"
CHOKING = "Continue eating? having a hard time getting all of it down: choking"
OLD_CORPSE = "a corpse that was lying there already: eating old corpses kills"
PRAY = "can I pray now: is it safe to pray"
PRAYED = "prayed once already, do not pray again soon"
NOT_LOW = "how low must HP be to pray safely"
_PROMPTS = (
    (r"Still climb\?", STAIRS_OUT),
    (r"hard time getting|Continue eating|Stop eating", CHOKING),
    (r"Really attack", "Really attack a peaceful monster?"),
    (r"break your wand|break .* wand", "breaking a wand: what happens"),
    (r"[Dd]rink from the fountain", "fountains: drink or not"),
    (r"want to drink|want to quaff", "drinking unknown potions: what can happen"),
    (r"want to read", "reading unknown scrolls: what can happen"),
    (r"want to write with", "engraving Elbereth step by step"),
    (r"want to zap", "zapping a wand: which wands bounce, never at yourself"),
    (r"want to (?:throw|fire)", "throwing and firing: which missiles, which direction"),
    (r"want to (?:put on|wear)", "wearing unknown armour, rings and amulets: curses"),
    (r"want to wield", "wielding an unknown weapon: curses"),
    (r"want to dip", "dipping things: what for"),
    (r"force its lock|[Uu]nlock it|[Ll]ock it", "locked box or door: how to open it"),
    (r"loot it", "looting a container: traps in boxes"),
    (r"swim|into that (?:water|lava|pool|moat)|step into", "do not walk into water or lava"),
    (r"[Pp]ay\?|sell it|offers", "shops: paying and selling"),
)  # fmt: skip
"""Questions of the game, and the query for each."""

_EAT = re.compile(r"eat it\?|want to eat\?|eat one\?|eat them\?|eat the")
_CORPSE = re.compile(r"(?:There (?:is|are)|here).*?(?:an?|the|\d+) ([a-zA-Z' -]+?) corpses?\b")


def _monsters(numbers: Numbers) -> Mapping[str, str]:
    """The kind of monster by each noun for it; none for a hallucinating hero, who sees random ones."""
    from balrog_rag.envs.nethack.glyphs import monster_names  # loads the engine's tables

    return {} if _has(numbers, "Hallu") else monster_names()


@lru_cache(maxsize=_CACHED)
def is_open(message: str) -> bool:
    """Whether the game waits for an answer to a question of one key."""
    return bool(_OPEN.search(message.strip()))


def _asked(now: Situation) -> Iterator[Concern]:
    if not is_open(now.message):
        return
    for query in _of_prompt(now):
        yield Concern(query, asked=True)


def _of_prompt(now: Situation) -> Iterator[str]:
    message = now.message
    if "want to pray" in message:
        yield from _about_praying(now)
    elif _EAT.search(message):
        yield from _about_eating(now)
    elif "n what direction" in message:
        yield from _about_direction(now)
    else:
        known = next((query for pattern, query in _PROMPTS if re.search(pattern, message)), "")
        yield known or f"the game asks: {_last_question(message)}"


def _last_question(message: str) -> str:
    return re.split(r"(?<=[.!?])\s+", message.strip().partition(" [")[0])[-1][:_LONGEST]


def _about_praying(now: Situation) -> Iterator[str]:
    if _recently_prayed(now):
        yield PRAYED
    yield PRAY
    if not in_mortal_need(now.numbers):
        yield NOT_LOW


def _about_eating(now: Situation) -> Iterator[str]:
    hunger = _hunger(now.numbers)
    if hunger == "Satiated":
        yield OVEREATING
    corpse = _CORPSE.search(now.message)
    if corpse:
        yield OLD_CORPSE
        yield f"{corpse[1]} corpse: may it be eaten, poisonous or deadly corpses"
    elif hunger != "Satiated":
        yield FULL if hunger == "" else "which food to eat first when Hungry"
    if "corpse" not in now.message and hunger != "Satiated":
        yield "corpses carried in the pack: too old to eat"


def _about_direction(now: Situation) -> Iterator[str]:
    names = _monsters(now.numbers)
    close = [names.get(sight.name, "") for sight in now.sights if sight.distance == _ADJACENT]
    deadly = next((DEADLY[name] for name in close if name in DEADLY), "")
    if deadly:
        yield deadly
    elif re.search(r"[Ll]oot|[Oo]pen|[Cc]lose|[Uu]ntrap|[Tt]alk", now.message):
        yield f"the game asks: {_last_question(now.message)}"
    else:
        yield "directions: zapping, casting, fighting and throwing, never at yourself"


# --- states that kill ---


HUNGRY = {
    "Satiated": OVEREATING,
    "Hungry": "Hungry appears: eat now",
    "Weak": "Weak from hunger: eat or pray at once",
    "Fainting": "Fainting from lack of food",
    "Fainted": "Fainting from lack of food",
}
STARVING = "starving and no prayer left: what may still be eaten"
LOW = "low hit points in a fight: the order of things to try"
_LOW, _HURT = 0.5, 0.75
"""Shares of the hit points that count as low, and as low beside a monster."""
FATAL = ("Stone", "Slime", "Strngl", "FoodPois", "TermIll")
"""Conditions that kill within a few turns."""


def in_mortal_need(numbers: Numbers) -> bool:
    """Whether the bottom line shows what NetHack calls major trouble; true if it is unknown."""
    if "hp" not in numbers or not numbers.get("max_hp"):
        return True
    dying = any(_has(numbers, word) for word in FATAL)
    return dying or _hunger(numbers) in ("Weak", "Fainting", "Fainted") or critically_low(numbers)


def critically_low(numbers: Numbers) -> bool:
    """Whether hit points are low enough for a prayer, by NetHack 3.6.7's critically_low_hp() in pray.c."""
    hp, level = numbers.get("hp", 1), numbers.get("experience_level", 1)
    most = min(numbers.get("max_hp", 1), level * 15)
    bounds = ((6, 5), (14, 6), (22, 7), (30, 8))
    divisor = next((part for below, part in bounds if level < below), 9)
    return hp <= 5 or hp * divisor <= most


def _recently_prayed(now: Situation) -> bool:
    turn = now.numbers.get("turn")
    known = now.prayed is not None and turn is not None
    return known and turn - now.prayed <= questions.NEXT_PRAYER  # type: ignore[operator]


def _has(numbers: Numbers, word: str) -> bool:
    return bool(numbers.get("condition", 0) >> CONDITIONS.index(word) & 1)


def _hunger(numbers: Numbers) -> str:
    return HUNGER[min(numbers.get("hunger", 1), len(HUNGER) - 1)]


def _states(now: Situation) -> Iterator[Concern]:
    numbers = now.numbers
    condition = numbers.get("condition", 0)
    for bit, word in enumerate(CONDITIONS):
        if condition >> bit & 1 and word in questions.FOR_CONDITIONS:
            yield Concern(questions.FOR_CONDITIONS[word], lasting=True)
    hunger, prayed = _hunger(numbers), _recently_prayed(now)
    near = _monster_near(now)
    low = (
        numbers.get("max_hp", 0) > 0 and numbers.get("hp", 1) < (_HURT if near else _LOW) * numbers["max_hp"]
    )
    dire = bool(numbers.get("max_hp")) and critically_low(numbers)
    starving = hunger in ("Weak", "Fainting", "Fainted")
    if prayed and (low or dire or starving):
        yield Concern(PRAYED, lasting=True)
    if hunger in HUNGRY:
        yield Concern(HUNGRY[hunger], lasting=True)
    if low or dire:
        yield Concern(LOW, lasting=True)
        yield Concern(PRAY if dire else NOT_LOW, lasting=True)
    if prayed and starving:
        yield Concern(STARVING, lasting=True)
    load = LOADS[min(numbers.get("encumbrance", 0), len(LOADS) - 1)]
    if load:
        yield Concern(questions.FOR_LOADS[load])


# --- dangers beside the hero ---

DEADLY = {
    "gas spore": "gas spore: never hit it in melee, it explodes",
    "floating eye": "floating eye: never hit it in melee, it paralyses",
    "blue jelly": "blue jelly: never touch it, passive cold",
    "cockatrice": "cockatrice: never touch it with bare hands, turns to stone",
    "chickatrice": "cockatrice: never touch it with bare hands, turns to stone",
    "green slime": "green slime: never touch it",
    "brown mold": "brown mold: never touch it, passive cold",
    "yellow mold": "yellow mold: never touch it, passive stinging",
    "green mold": "green mold: never touch it, passive acid",
    "red mold": "red mold: never touch it, passive fire",
    "acid blob": "acid blob: passive acid",
    "spotted jelly": "spotted jelly: passive acid",
    "giant eel": "eels drown whoever stands at the water's edge",
    "electric eel": "eels drown whoever stands at the water's edge",
    "kraken": "eels drown whoever stands at the water's edge",
    "water nymph": "nymphs steal: what to do",
    "werejackal": "lycanthropy: werecreatures",
    "wererat": "lycanthropy: werecreatures",
    "werewolf": "lycanthropy: werecreatures",
}
"""Monsters that kill through the hero's own step or blow, and the query for each."""

_LIQUIDS = dict.fromkeys(("lava", "area of lava"), "do not walk into lava")
_LATE = questions.LATE_ON_THE_FIRST_LEVEL
LOST = "still on dungeon level 1, only stairs up and no stairs down found: what now"


def _beside(now: Situation) -> Iterator[Concern]:
    names = _monsters(now.numbers)
    for noun, distance in now.sights:
        name = names.get(noun, "")
        if name in DEADLY and distance <= _NEAR:
            yield Concern(DEADLY[name], lasting=True)
        if noun in _LIQUIDS and distance == _ADJACENT:
            yield Concern(_LIQUIDS[noun], lasting=True)
    if now.numbers.get("depth") != 1:
        return
    close = any(sight.name == "stairs up" and sight.distance < _NEAR for sight in now.sights)
    if close or "staircase up here" in now.message:
        yield Concern(STAIRS_OUT, lasting=True)
    elif now.numbers.get("turn", 0) > _LATE and not any(sight.name == "stairs down" for sight in now.sights):
        yield Concern(LOST)


def _monster_near(now: Situation) -> bool:
    names = _monsters(now.numbers)
    return any(distance <= _NEAR for name, distance in now.sights if name in names)


def _standing(now: Situation) -> Iterator[Concern]:
    names = _monsters(now.numbers)
    seen = any(name in names for name, _ in now.sights)
    return standing(now.numbers, now.inventory, now.done, _monster_near(now), seen)


# --- news and things ---

_ANGRY = (
    r"is displeased|[Tt]hou hast (?:angered|strayed)|[Tt]hou must relearn|Then die, mortal|durst call|smited"
    r"|[Tt]hou art arrogant"
)
_NEWS = (
    (_ANGRY, "prayed too soon, the god is angry: do not pray again"),
    (r"tainted|deathly sick", "food poisoning FoodPois: how to survive"),
    (r"shimmering light|feel a hopeful feeling|feel much better", "a successful prayer: what next"),
    (r"slowing down|limbs are (?:stiffening|turning)", "turning to stone, petrification: what to do at once"),
    (r"feel feverish", "lycanthropy: bitten by a werecreature"),
    (r"swings itself around you", "eels drown whoever stands at the water's edge"),
    (r"frozen by", "floating eye: never hit it in melee, it paralyses"),
    (r"sleep ray|bounces!", "rays bounce: sleep, fire and other rays"),
    (r"welded to your", "cursed things that cannot be taken off"),
    (r"bear trap|trap closes", "caught in a bear trap: how to get out"),
    (r"trap door|hole in the|fall through", "falling through trap doors and holes"),
    (r"in a (?:pit|web|spider web)|caught in|fall into a pit", "caught in a pit or web: how to get out"),
    (r"boulder.*in vain|perhaps that's why", "boulder that will not move"),
    (r"is locked|door is locked", "this door is locked: kick it or unlock it"),
    (r"have a sad feeling", "the pet died: what now"),
    (r"shopkeeper|for sale|zorkmid", "shops: entering, prices, paying"),
    (r"don't have enough energy", "not enough energy to cast: what now"),
    (r"don't have anything to eat", "no food in the pack: what may be eaten"),
    (r"gush of water|rust", "rust traps and rusty armour"),
    (r"confus|dizzy", "Confused: what to do"),
    (r"blind|can't see", "Blind: what to do"),
    (r"levitat|float up", "levitating: how to come down"),
    (r"poison(?:ous|ed)", "poisonous attacks and poisoned missiles"),
    (r"engulfs|swallows", "engulfed by a monster: what to do"),
    (r"steals|stole", "nymphs and thieves steal: what to do"),
    (r"looks? (?:very )?(?:sick|unhappy|hungry)", "a hungry pet: feed it"),
    (r"vault guard|Hello stranger, who are you|Follow me", "vault guard: who are you"),
    (r"[Ww]atchm[ae]n", "the watch in Minetown is angry"),
)
"""Messages that a passage can help with, and the query for each."""

_LONGEST = 120
_UNDERFOOT = re.compile(r"You (?:see|feel) here (?:an? |the |\d+ )?([^.]{3,60})\.")


@lru_cache(maxsize=_CACHED)
def _news(message: str) -> tuple[Concern, ...]:
    if is_open(message) or ("\n" in message.strip() and " - " in message):
        return ()
    news = [Concern(query) for pattern, query in _NEWS if re.search(pattern, message)]
    found = _UNDERFOOT.search(message)
    if found and "corpse" in found[1]:
        news.append(Concern(OLD_CORPSE, lasting=True))
    return tuple(news)


_FEATURES = {
    "fountain": "fountains: drink or not",
    "sink": "kitchen sinks: what they do",
    "alter": "altars: how to use one",
    "throne": "thrones: sitting on one",
}
"""Features of a level that something can be done with; "alter" is NLE's own spelling."""

_FAR = DISTANCES.index("far")


def _things(now: Situation) -> Iterator[Concern]:
    hungry = _hunger(now.numbers) in ("Hungry", "Weak", "Fainting")
    names = _monsters(now.numbers)
    for name, distance in now.sights:
        if name in _FEATURES and distance == _ADJACENT:
            yield Concern(_FEATURES[name])
        elif name.endswith((" corpse", " corpses")):
            if hungry and distance <= _NEAR:
                yield Concern(OLD_CORPSE, lasting=True)
        elif distance <= _FAR and name in names and names[name] not in DEADLY:
            query = f"{names[name]}: how dangerous, how to fight it"
            yield Concern(query, lasting=distance <= _NEAR)
