"""The answers that an agent may give, and the keys that each presses.

The names are BALROG's, so that prompts and answers can be compared; the descriptions are our own. Everything
accepted works. Everything advertised is accepted, except six words that BALROG advertises and rejects.
"""

import string
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from balrog_rag.envs.nethack.options import SKILLED

Keys = tuple[int, ...]

ESC, MORE, SPACE = 27, 13, 32
MORE_SIGN = "--More--"
"""What the screen shows while a page waits to be turned."""
TURNS_PAGES = frozenset({ESC, MORE, SPACE})


class Word(NamedTuple):
    """An action named by a word: the key it presses, and its description."""

    key: int
    says: str = ""


class ActionSet(NamedTuple):
    """The answers of one task."""

    advertised: dict[str, str]
    """Every action of the prompt with its description, in the order shown."""
    keys: dict[str, Keys]
    """Every accepted answer with the keys it presses."""


def _ctrl(letter: str) -> int:
    return ord(letter) & 0x1F


def _meta(letter: str) -> int:
    return ord(letter) | 0x80


_HEADINGS = {
    "north": "k",
    "east": "l",
    "south": "j",
    "west": "h",
    "northeast": "u",
    "southeast": "n",
    "southwest": "b",
    "northwest": "y",
}

NETHACK_WORDS: dict[str, Word] = {
    **{name: Word(ord(letter), f"one step {name}") for name, letter in _HEADINGS.items()},
    **{
        f"far {name}": Word(ord(letter.upper()), f"run {name} until something stops you")
        for name, letter in _HEADINGS.items()
    },
    "up": Word(ord("<"), "climb the stairs or ladder you stand on"),
    "down": Word(ord(">"), "descend the stairs or ladder you stand on; works nowhere else"),
    "wait": Word(ord("."), "let one turn pass"),
    "more": Word(MORE, "read on, or finish a line of typed text; only of use when the game waits for it"),
    "annotate": Word(_meta("A"), "write a note about this dungeon level"),
    "apply": Word(ord("a"), "use a tool, such as a pick-axe, key or lamp"),
    "call": Word(ord("C"), "give a name to a monster, an object or a kind of object"),
    "cast": Word(ord("Z"), "cast a spell you know"),
    "close": Word(ord("c"), "shut a door next to you"),
    "open": Word(ord("o"), "open a door next to you"),
    "dip": Word(_meta("d"), "dip an item into a potion, a fountain or other liquid"),
    "drop": Word(ord("d"), "put down one item"),
    "droptype": Word(ord("D"), "put down several items, chosen by kind in the menus that follow"),
    "eat": Word(ord("e"), "eat something you carry or stand on; do so when hungry"),
    "esc": Word(ESC, "leave a menu or question without answering"),
    "engrave": Word(ord("E"), "write on the floor; the word Elbereth keeps many monsters away"),
    "enhance": Word(_meta("e"), "see your skills and advance those that are ready"),
    "fire": Word(ord("f"), "shoot or throw what is in your quiver"),
    "fight": Word(ord("F"), "attack in a direction even if nothing is to be seen there"),
    "force": Word(_meta("f"), "break the lock of a box you stand on with your weapon"),
    "inventory": Word(ord("i"), "list what you carry"),
    "invoke": Word(_meta("i"), "use the special power of an object"),
    "jump": Word(_meta("j"), "leap to another place, if you are able to"),
    "kick": Word(_ctrl("d"), "kick a monster, a locked door, a box or whatever is next to you"),
    "look": Word(ord(":"), "see what lies where you stand"),
    "loot": Word(_meta("l"), "take things out of a box you stand on, or put some in"),
    "monster": Word(_meta("m"), "use the special ability of the monster you have turned into"),
    "offer": Word(_meta("o"), "sacrifice a fresh corpse on the altar you stand on"),
    "overview": Word(_ctrl("o"), "list the dungeon levels you know and what is notable there"),
    "pay": Word(ord("p"), "pay for what you take from a shop"),
    "pickup": Word(ord(","), "take things from where you stand"),
    "pray": Word(_meta("p"), "ask your god for help in great need; not again for about a thousand turns"),
    "puton": Word(ord("P"), "put on a ring, an amulet or a blindfold"),
    "quaff": Word(ord("q"), "drink a potion, or from a fountain or sink"),
    "quiver": Word(ord("Q"), "choose what the fire action shoots"),
    "read": Word(ord("r"), "read a scroll or a spellbook"),
    "remove": Word(ord("R"), "take off a ring, an amulet or a blindfold"),
    "rub": Word(_meta("r"), "rub a lamp or a stone"),
    "search": Word(ord("s"), "look for hidden doors, passages and traps next to you; may take several tries"),
    "swap": Word(ord("x"), "exchange your weapon with the alternate one"),
    "takeoff": Word(ord("T"), "take off one piece of armor"),
    "takeoffall": Word(ord("A"), "take off several pieces of armor"),
    "teleport": Word(_ctrl("t"), "teleport, if you have learnt how to"),
    "throw": Word(ord("t"), "throw an item, such as a dagger, in a direction"),
    "travel": Word(
        ord("_"),
        "walk to a place by the shortest known way; when asked for it, answer with < or > for stairs or "
        "_ for an altar or the like, then with . to go",
    ),
    "twoweapon": Word(ord("X"), "start or stop fighting with two weapons"),
    "untrap": Word(_meta("u"), "disarm a trap"),
    "wear": Word(ord("W"), "put on a piece of armor"),
    "wield": Word(ord("w"), "take a weapon in hand"),
    "wipe": Word(_meta("w"), "wipe your face clean"),
    "zap": Word(ord("z"), "use a wand"),
    "minus": Word(ord("-"), "answer - (often: none, or your fingers)"),
    "space": Word(SPACE, "answer with a space, or turn a page"),
    "apos": Word(ord("'"), "answer '"),
    **{digit: Word(ord(digit), f"answer {digit}, or begin a count") for digit in string.digits},
}
"""The words of NetHack's prompt, in the order shown."""

_UNADVERTISED: dict[str, int] = {
    "adjust": _meta("a"),
    "attributes": _ctrl("x"),
    "chat": _meta("c"),
    "inventtype": ord("I"),
    "move": ord("m"),
    "movefar": ord("M"),
    "ride": _meta("R"),
    "rush": ord("g"),
    "rush2": ord("G"),
    "seeamulet": ord('"'),
    "seearmor": ord("["),
    "seegold": ord("$"),
    "seerings": ord("="),
    "seespells": ord("+"),
    "seetools": ord("("),
    "seetrap": ord("^"),
    "seeweapon": ord(")"),
    "shell": ord("!"),
    "sit": _meta("s"),
    "tip": _meta("T"),
    "turnundead": _meta("t"),
    "versionshort": ord("v"),
}
"""Words that BALROG accepts without advertising them."""

REFUSED_BY_BALROG = frozenset({"annotate", "overview", "teleport", "travel", "minus", "apos"})
"""Words that BALROG advertises and rejects."""

_MOVES = (*_HEADINGS, *(f"far {name}" for name in _HEADINGS), "up", "down", "wait", "more")
_COMMANDS = ("apply", "close", "open", "eat", "force", "kick", "loot", "pickup", "pray", "puton", "quaff")

MINIHACK_NAMES = (*_MOVES, *_COMMANDS, "search", "zap")
"""The words that MiniHack's prompt may list."""

_SIGNS = "<>_*?$.,;:!@#=+-'\"()[]{}/\\^&|~%`"


NOTHING = "nothing"
BESIDE_SKILLS = ActionSet({NOTHING: "press no key"}, {NOTHING: ()})
"""The only plain action with skills: it replaces an invalid answer."""


@cache
def nethack_actions(kind: str) -> ActionSet:
    """NetHack's actions: `full`, `balrog` for exactly BALROG's, or nearly none beside skills."""
    if kind in SKILLED:
        return BESIDE_SKILLS
    advertised = {name: word.says for name, word in NETHACK_WORDS.items()}
    words = {name: (word.key,) for name, word in NETHACK_WORDS.items()}
    words |= {name: (key,) for name, key in _UNADVERTISED.items()}
    if kind == "balrog":
        words = {name: keys for name, keys in words.items() if name not in REFUSED_BY_BALROG}
        return ActionSet(advertised, words | _letters() | _numbers() | _padded_numbers())
    return ActionSet(advertised, words | prompt_answers() | _padded_numbers())


def name_of(key: int, asked: bool, takes: Callable[[str], bool]) -> str | None:
    """Return an accepted answer that presses a key: one character if the game asks for one, else a word."""
    names = [name for name, keys in nethack_actions("full").keys.items() if keys == (key,) and takes(name)]
    return min(names, key=lambda name: (len(name) > 1) == asked, default=None)


def minihack_actions(kind: str, task_keys: Sequence[int]) -> ActionSet:
    """The actions of a MiniHack task whose own action set presses these keys."""
    if kind in SKILLED:
        return BESIDE_SKILLS
    names = {NETHACK_WORDS[name].key: name for name in MINIHACK_NAMES}
    offered = [names[key] for key in task_keys if key in names]
    advertised = {name: NETHACK_WORDS[name].says for name in offered}
    words: dict[str, Keys] = {name: (NETHACK_WORDS[name].key,) for name in offered}
    if kind == "balrog" or not asks_questions(task_keys):
        return ActionSet(advertised, words)
    return ActionSet(advertised, words | {"esc": (ESC,), "space": (SPACE,)} | prompt_answers())


def asks_questions(task_keys: Sequence[int]) -> bool:
    """Whether a task has commands other than moving, and so prompts that need an answer."""
    moves = {NETHACK_WORDS[name].key for name in (*_MOVES, "search")}
    return any(key not in moves for key in task_keys)


def prompt_answers() -> dict[str, Keys]:
    """Possible answers to NetHack's questions: letters, numbers and symbols."""
    return _letters() | _numbers() | {sign: (ord(sign),) for sign in _SIGNS}


def _letters() -> dict[str, Keys]:
    return {letter: (ord(letter),) for letter in string.ascii_letters}


def _numbers() -> dict[str, Keys]:
    return {str(number): _typed(str(number)) for number in range(100)}


def _padded_numbers() -> dict[str, Keys]:
    return {f"{number:02}": _typed(f"{number:02}") for number in range(10)}


def _typed(text: str) -> Keys:
    return tuple(map(ord, text))
