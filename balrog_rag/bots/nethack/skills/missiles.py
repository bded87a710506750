"""What is thrown and shot, and who fights with it."""

from balrog_rag.envs.nethack.world.items import Item
from balrog_rag.envs.nethack.world.player import Player

THROWN = frozenset(
    ("dagger", "daggers", "dart", "darts", "shuriken", "throwing", "spear", "spears", "javelin")
)
"""Words for weapons made for throwing."""
LAUNCHED = {
    "crossbow": frozenset(("bolt", "bolts")),
    "bow": frozenset(("arrow", "arrows")),
    "yumi": frozenset(("ya", "arrow", "arrows")),
    "sling": frozenset(("flint", "stones", "rock", "rocks", "gem", "gems")),
}
"""Missiles by launcher, the last word of its name, by words in theirs."""
AMMUNITION = frozenset[str]().union(*LAUNCHED.values())
"""Words for what is made to be shot."""


def shoots(player: Player) -> bool:
    """Whether we are better with missiles than with blows."""
    return player.role == "Tourist" or _kind(_hand(player)) in LAUNCHED


def shoots_volleys(player: Player) -> bool:
    """Whether a launcher is in our hands, and there is something to shoot with it."""
    return _loads(player, _hand(player))


def launcher(player: Player) -> Item | None:
    """What we carry to shoot with, if we also carry its missiles."""
    return next((item for item in player.world.items if _loads(player, item.name)), None)


def missile_of(player: Player) -> str | None:
    """The letter of the best item to throw, or to shoot with the wielded launcher."""
    if "missiles" in player.unknown or player.changed:
        return None
    wanted = THROWN | _missiles(_hand(player))
    for item in player.world.items:
        if not (item.wielded or item.worn) and wanted.intersection(item.name.split()):
            return item.letter
    return None


def _hand(player: Player) -> str:
    return next((item.name for item in player.world.items if item.wielded), "")


def _loads(player: Player, name: str) -> bool:
    """Whether we carry missiles for a launcher of this name."""
    missiles = _missiles(name)
    return any(missiles.intersection(item.name.split()) for item in player.world.items if missiles)


def _missiles(name: str) -> frozenset[str]:
    """Words for what a launcher of this name shoots."""
    return LAUNCHED.get(_kind(name), frozenset())


def _kind(name: str) -> str:
    """The last word of a launcher's name: a runed bow is a bow, a crossbow is none."""
    return name.rpartition(" ")[2]
