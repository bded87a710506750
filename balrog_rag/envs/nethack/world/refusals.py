"""What is counted against trying something again: actions that the game rejected, and efforts in vain."""

from collections.abc import Hashable
from enum import Enum, auto
from typing import NamedTuple


class Act(Enum):
    """What was tried."""

    BURROW = auto()
    """Tunnels to anything new on a level."""
    CAST = auto()
    DIG = auto()
    DOOR = auto()
    DROP = auto()
    EAT = auto()
    HELD = auto()
    """Rests on one Elbereth."""
    HOLD = auto()
    """Writings of Elbereth that did not protect."""
    LISTEN = auto()
    """Waits on a level for a monster that digs."""
    LOCKED = auto()
    LURE = auto()
    MAP = auto()
    SEARCH = auto()
    """Searches of a level for any way on."""
    SEEK = auto()
    """Searches of a level for the way to the Mines."""
    SHOP = auto()
    """Waits on a level for a shopkeeper to step aside."""
    SQUEEZE = auto()
    STAIRS = auto()
    STEP = auto()
    TAKE_OFF = auto()
    TRY = auto()
    TUNNEL = auto()
    WAY = auto()
    """Efforts against a monster in the way."""
    WEAR = auto()
    WIELD = auto()
    WRITE_WITH = auto()
    ZAP = auto()


class Refusal(NamedTuple):
    """What is counted."""

    act: Act
    what: Hashable = None
    """With what, or where."""
