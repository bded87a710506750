"""What is thrown and shot, and who fights with it."""

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
"""Missiles by launcher, by words in their names."""


def shoots(player: Player) -> bool:
    """Whether we are better with missiles than with blows."""
    return player.role == "Tourist" or any(launcher in _hand(player) for launcher in LAUNCHED)


def shoots_volleys(player: Player) -> bool:
    """Whether a launcher is in our hands, and there is something to shoot with it."""
    hand = _hand(player)
    return any(_fits(set(item.name.split()), hand) for item in player.world.items)


def missile_of(player: Player) -> str | None:
    """The letter of the best item to throw, or to shoot with the wielded launcher."""
    if "missiles" in player.unknown or player.changed:
        return None
    hand = _hand(player)
    for item in player.world.items:
        words = set(item.name.split())
        if item.wielded or item.worn:
            continue
        if words & THROWN or _fits(words, hand):
            return item.letter
    return None


def _hand(player: Player) -> str:
    return next((item.name for item in player.world.items if item.wielded), "")


def _fits(words: set[str], hand: str) -> bool:
    """Whether a missile of these words belongs to the launcher in our hands."""
    return any(words & ammunition and launcher in hand for launcher, ammunition in LAUNCHED.items())
