"""Which scores are independent draws, counted once for all measures of the same episodes."""

from collections.abc import Sequence
from functools import cached_property

DrawKey = tuple[str, str, str, str]
"""Environment, task, game and world of a score; a game without a name is a separate one."""


class DrawKeys(Sequence[DrawKey]):
    """The draw of each score."""

    @cached_property
    def games(self) -> int:
        """The number of distinct games."""
        return len({key[:3] if key[2] else (*key[:2], place) for place, key in enumerate(self)})

    @cached_property
    def worlds(self) -> int:
        """The number of distinct worlds; a game without one is its own."""
        return len(
            {
                (key[0], key[3]) if key[3] else (*key[:2], key[2] or place, "")
                for place, key in enumerate(self)
            }
        )


class ListedDrawKeys(list[DrawKey], DrawKeys):
    """Draws in a list."""
