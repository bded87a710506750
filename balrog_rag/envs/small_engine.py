"""What the engines of the small games have in common: BabyAI, Baba Is AI, Crafter, TextWorld.

An engine is one episode of one task. It knows nothing of agents, prompts or journals; it is a pure function
of its task, its seed and the actions, and imports its game's package only when it is made.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

if TYPE_CHECKING:  # known to a run before anything is played, which NumPy would hold up
    from numpy.typing import NDArray


class Moment(msgspec.Struct, frozen=True):
    """What an action led to, or how the game begins."""

    long: str
    """The text that stays in an agent's history."""
    short: str = ""
    """The text that is shown for the newest moment only."""
    reward: float = 0.0
    ended: str = ""
    """How the game ended, by `episode.outcome.Outcome`'s values; empty while it goes on."""
    progression: float = 0.0
    """How far the game has come by BALROG's measure, 0 to 1."""
    numbers: Mapping[str, int] = {}
    """What the game counts."""


class SmallEngine(Protocol):
    """One episode."""

    goal: str
    """What the player is told to reach; known once the game is reset."""
    max_steps: int
    """Actions after which the game ends; known once the game is reset."""

    def reset(self) -> Moment:
        """Begin the game."""
        ...

    def step(self, action: str) -> Moment:
        """Take one action."""
        ...

    def picture(self) -> "NDArray[Any] | None":
        """The moment as RGB bytes; None where the game has no picture."""
        ...

    def close(self) -> None:
        """Give back everything the game holds."""
        ...
