"""The kinds of situations: what the player is told, how long it is played, and when it is resolved."""

from collections.abc import Callable
from typing import NamedTuple

from balrog_rag.envs.decisions.made_levels import DRAWBRIDGE, FALLING_ROCKS, SHOP, SOKOBAN, MadeLevel
from balrog_rag.envs.decisions.scene import Scene

ELVES = ("Woodland-elf", "Green-elf", "Grey-elf", "elf-lord", "Elvenking")
WERECREATURES = ("werejackal", "wererat", "werewolf")
COCKATRICES = ("cockatrice", "chickatrice")
NOT_HUNGRY = 1
"""NetHack's number; higher ones are Hungry, Weak and Fainting."""


class Beginning(NamedTuple):
    """What a judge remembers of the first moment."""

    depth: int
    place: int


Judged = Callable[[Scene, Beginning], bool]


class Situation(NamedTuple):
    """A kind of situation."""

    goal: str
    """What the player is told."""
    turns: int
    """Game turns after which it is judged."""
    resolved: Judged
    """Whether a living hero has resolved it."""
    at_once: bool = False
    """Whether it ends as soon as it is resolved, since nothing can undo that."""
    spoiled: tuple[bytes, ...] = ()
    """Messages after which it cannot be resolved any more."""
    made: MadeLevel | None = None
    """Its level, if it does not come from play."""


def _half(scene: Scene) -> bool:
    return scene.hp * 2 >= scene.max_hp


def _third(scene: Scene) -> bool:
    return scene.hp * 3 >= scene.max_hp


def _deeper(scene: Scene, begun: Beginning) -> bool:
    return scene.depth > begun.depth


def _fed(scene: Scene, begun: Beginning) -> bool:
    return scene.hunger <= NOT_HUNGRY and not scene.sick


def _away_from(names: tuple[str, ...], within: int = 80) -> Judged:
    return lambda scene, begun: not scene.near(names, within)


SITUATIONS: dict[str, Situation] = {
    "first_prayer": Situation(
        "The hero is close to death and a monster attacks. In the end the hero must be alive with at least "
        "half of the hit points.",
        20,
        lambda scene, begun: _half(scene),
    ),
    "no_prayer_left": Situation(
        "The hero is close to death, a monster attacks, and the gods were asked for help not long ago. In "
        "the end the hero must be alive, and either out of reach of every monster or with at least half of "
        "the hit points.",
        30,
        lambda scene, begun: not scene.beside or _half(scene),
    ),
    "starving": Situation(
        "The hero is weak from hunger and carries no food. In the end the hero must be alive and not hungry.",
        30,
        _fed,
        at_once=True,
    ),
    "hungry_corpse": Situation(
        "The hero is hungry, carries no food, and a corpse lies near. In the end the hero must be alive, not "
        "hungry, and not ill.",
        40,
        _fed,
        at_once=True,
    ),
    "soldier_ants": Situation(
        "A soldier ant is close. In the end the hero must be alive, with no soldier ant in view.",
        30,
        _away_from(("soldier ant",)),
    ),
    "floating_eye": Situation(
        "A floating eye is next to the hero. In the end the hero must be alive, not next to a floating eye, "
        "and never have been paralysed by it.",
        20,
        _away_from(("floating eye",), 1),
        spoiled=(b"frozen by the floating eye", b"You are frozen by", b"frozen for a while"),
    ),
    "cockatrice": Situation(
        "A cockatrice or chickatrice is close. In the end the hero must be alive, with none of them within "
        "five squares.",
        20,
        _away_from(COCKATRICES, 5),
    ),
    "werecreature": Situation(
        "A werecreature attacks. In the end the hero must be alive, without lycanthropy, and with no "
        "werecreature in view.",
        30,
        _away_from(WERECREATURES),
        spoiled=(b"You feel feverish",),
    ),
    "pit": Situation(
        "The hero has fallen into a pit, and a monster is near. In the end the hero must be alive and out of "
        "the pit, and either out of reach of every monster or with at least half of the hit points.",
        20,
        lambda scene, begun: scene.place != begun.place and (not scene.beside or _half(scene)),
    ),
    "elves": Situation(
        "A hostile elf is close. In the end the hero must be alive, with no elf in view.",
        30,
        _away_from(ELVES),
    ),
    "dwarf": Situation(
        "The hero is inexperienced and wounded, and a dwarf attacks. In the end the hero must be alive, with "
        "no dwarf within three squares.",
        30,
        _away_from(("dwarf",), 3),
    ),
    "surrounded": Situation(
        "Three or more monsters surround the hero and attack. In the end the hero must be alive with at "
        "least a third of the hit points, and next to one monster at most.",
        30,
        lambda scene, begun: scene.beside <= 1 and _third(scene),
    ),
    "medusa": Situation(
        "The hero has just reached Medusa's island. Come to a deeper level alive.",
        150,
        _deeper,
        at_once=True,
    ),
    "castle": Situation(
        "The hero has just reached the Castle. In the end the hero must be alive on a deeper level, or alive "
        "with at least half of the hit points and out of reach of every monster.",
        60,
        lambda scene, begun: _deeper(scene, begun) or (_half(scene) and not scene.beside),
    ),
    "shop": Situation(
        "Enter the shop, whose door is in the east wall of this room, and leave your pick-axe outside.",
        80,
        lambda scene, begun: SHOP.inside(scene.place) and not scene.carries(b"pick-axe"),
        at_once=True,
        made=SHOP,
    ),
    "drawbridge": Situation(
        "Two wands lie where the hero stands. Get into the castle north of the moat, whose drawbridge is "
        "raised.",
        80,
        lambda scene, begun: DRAWBRIDGE.inside(scene.place),
        at_once=True,
        made=DRAWBRIDGE,
    ),
    "sokoban": Situation(
        "This is a puzzle in the manner of Sokoban. Fill the pit in the passage with a boulder, then reach "
        "the staircase behind it.",
        80,
        lambda scene, begun: SOKOBAN.inside(scene.place) and not scene.squares(SOKOBAN.pits),
        at_once=True,
        made=SOKOBAN,
    ),
    "falling_rocks": Situation(
        "Rocks fall in the passage to the east. A helmet lies where the hero stands. Reach the staircase at "
        "the east end of the passage alive.",
        80,
        lambda scene, begun: FALLING_ROCKS.inside(scene.place),
        at_once=True,
        made=FALLING_ROCKS,
    ),
}
"""By the name of the task."""
