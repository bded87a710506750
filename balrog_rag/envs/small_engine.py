"""The interface of the small games' engines: BabyAI, Baba Is AI, Crafter, TextWorld.

An engine is one episode of one task. It knows nothing of agents, prompts or journals. It is a pure function
of its task, its seed and the actions, and imports its game's package only when it is created.
"""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

if TYPE_CHECKING:  # imported by every run before play, so NumPy is not imported here
    from numpy.typing import NDArray


class Moment(msgspec.Struct, frozen=True):
    """The result of an action, or the beginning of the game."""

    long: str
    """The text that is kept in an agent's history."""
    short: str = ""
    """The text that is shown for the newest moment only."""
    reward: float = 0.0
    ended: str = ""
    """How the game ended, as a value of `contracts.outcome.Outcome`; empty while it continues."""
    progression: float = 0.0
    """BALROG's measure of progress, 0 to 1."""
    numbers: Mapping[str, int] = {}
    """The game's numbers."""


class SmallEngine(Protocol):
    """One episode."""

    goal: str
    """The goal in the player's words; known after `reset`."""
    max_steps: int
    """Actions after which the game ends; known after `reset`."""

    def reset(self) -> Moment:
        """Begin the game."""
        ...

    def step(self, action: str) -> Moment:
        """Take one action."""
        ...

    def picture(self) -> "NDArray[Any] | None":
        """Return the moment as RGB bytes; None if the game has no picture."""
        ...

    def looks(self) -> Hashable:
        """Return what its picture depends on, to draw no picture twice; None if that is not known."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...
