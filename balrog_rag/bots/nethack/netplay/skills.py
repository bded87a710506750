"""NetPlay's skills as actions: their names, parameters and descriptions."""

from collections.abc import Generator, Sequence
from typing import Any

from balrog_rag.bots.nethack.netplay import command_skills as c
from balrog_rag.bots.nethack.netplay import explore_skills, walking
from balrog_rag.bots.nethack.netplay.popup_guards import ANSWERS, refuse
from balrog_rag.contracts.data import Parameter
from balrog_rag.contracts.programs import Begin, Program, ProgramKind
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world.tracker import TrackedScreen, Tracker

X, Y = Parameter("x"), Parameter("y")
HERE = (Parameter("x", optional=True), Parameter("y", optional=True))
ROOM = (Parameter("room_id"),)
ITEM = (Parameter("item_letter", "word", optional=True),)
COUNT = (Parameter("count", least=1, optional=True),)
WAY = Parameter("direction", "word", choices=tuple(c.WAYS))
_TIP, _DIP, _OFFER = (ord(letter) | 0x80 for letter in "Tdo")


def _skill(name: str, body: c.Body, says: str, parameters: Sequence[Parameter] = ()) -> ProgramKind:
    def make(begin: Begin) -> Program:
        screen = begin.screen
        assert isinstance(screen, TrackedScreen), "skills are offered with env.actions=skills alone"
        return run(screen.tracker, name, body, dict(begin.arguments))

    return ProgramKind(
        name=name,
        make=make,
        says=says,
        parameters=tuple(parameters),
        interruptible=name not in ANSWERS,
    )


def run(tracker: Tracker, name: str, body: c.Body, arguments: dict[str, Any]) -> Generator[int, Any, str]:
    """Run a skill: close everything open first, and report if it takes too long."""
    if name not in ANSWERS:
        refuse(tracker.player.screen)
    tracker.player.heard.clear()
    tracker.begin()
    try:
        return (yield from body(tracker, **arguments))
    finally:
        tracker.end()


OFFERED = (
    _skill(
        "explore_level",
        explore_skills.explore_level,
        "explore the level: open doors, walk to what is unseen, search for hidden ways when nothing is left",
    ),
    _skill(
        "set_avoid_monster_flag",
        c.set_avoid_monster_flag,
        "true: walk round monsters; false: attack those in the way",
        (Parameter("value", "word", choices=("true", "false")),),
    ),
    _skill(
        "melee_attack",
        walking.melee_attack,
        "pursue the monster at a position and hit it until it is gone",
        (X, Y),
    ),
    _skill("move_to", walking.move_to, "walk to a position", (X, Y)),
    _skill("go_to", walking.go_to, "walk into the room or corridor with this number", ROOM),
    _skill(
        "press_key",
        c.press_key,
        "press one key: a character, ESC, SPACE or ENTER",
        (Parameter("key", "word"),),
    ),
    _skill(
        "type_text",
        c.type_text,
        "press the keys of a text, one after the other",
        (Parameter("text", "text"),),
    ),
    _skill("zap", c.zap, "zap a wand", (Parameter("item_letter", "word"), WAY)),
    _skill("pickup", c.at_position(keys.PICK_UP), "pick things up, here or at a position", HERE),
    _skill("up", c.at_position(keys.UP), "go up the stairs, here or at a position", HERE),
    _skill("down", c.at_position(keys.DOWN), "go down the stairs, here or at a position", HERE),
    _skill("loot", c.at_position(keys.LOOT), "open a container on the ground, here or at a position", HERE),
    _skill("offer", c.at_position(_OFFER), "sacrifice on the altar, here or at a position", HERE),
    _skill("drop", c.with_item(keys.DROP), "put an item down", ITEM),
    _skill("read", c.with_item(keys.READ), "read a scroll or a book", ITEM),
    _skill("put_on", c.with_item(keys.PUT_ON), "put on a ring, an amulet or a blindfold", ITEM),
    _skill("remove", c.with_item(ord("R")), "take off a ring, an amulet or a blindfold", ITEM),
    _skill("takeoff", c.with_item(keys.TAKE_OFF), "take off a piece of armor", ITEM),
    _skill("wield", c.with_item(keys.WIELD), "take a weapon in hand", ITEM),
    _skill("wear", c.with_item(keys.WEAR), "put on a piece of armor", ITEM),
    _skill("apply", c.with_item(keys.APPLY), "use a tool", ITEM),
    _skill("eat", c.with_item(keys.EAT), "eat something carried, or what lies here", ITEM),
    _skill("drink", c.with_item(keys.QUAFF), "drink a potion, or from what is here", ITEM),
    _skill("tip", c.with_item(_TIP), "empty a container", ITEM),
    _skill("dip", c.with_item(_DIP), "dip an item into something", ITEM),
    _skill("kick", c.towards(keys.KICK), "kick what is at a position, from beside it", (X, Y)),
    _skill("cast", c.plain(keys.CAST), "cast a spell; a menu opens"),
    _skill("pay", c.plain(ord("p")), "pay a shopkeeper"),
    _skill("look", c.plain(keys.LOOK), "look at what lies here"),
    _skill("rest", c.rest, "let turns pass, 5 if no count is given", COUNT),
    _skill("pray", c.pray, "pray to your god for help"),
)
"""The thirty-one skills that NetPlay offers to its model, besides the one that ends a task."""

OTHERS = (
    _skill("explore_room", explore_skills.explore_room, "explore one room or corridor", ROOM),
    _skill("search_room", explore_skills.search_room, "search one room or corridor for hidden things", ROOM),
    _skill("open_door", explore_skills.open_door, "go to a door and open it", (X, Y)),
    _skill("open_neighbor_doors", explore_skills.open_neighbor_doors, "open the closed doors next to you"),
    _skill("search", c.search, "search around you, for 5 turns if no count is given", COUNT),
    _skill("open", c.at_door(keys.OPEN), "give the command to open to a door, once", (X, Y)),
    _skill("close", c.at_door(ord("c")), "close a door", (X, Y)),
    _skill("take_off_all", c.plain(ord("A")), "take off several things; a menu opens"),
)
"""Skills that NetPlay has but does not offer."""


def skills(others: bool) -> tuple[ProgramKind, ...]:
    """Return the offered skills, with or without those that NetPlay withholds."""
    return (*OFFERED, *OTHERS) if others else OFFERED
