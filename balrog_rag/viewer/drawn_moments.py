"""What a page draws of an episode beside its curves: squares visited, repeated screens, look-ups."""

from collections import Counter, deque
from collections.abc import Hashable, Sequence
from typing import Any

from balrog_rag.contracts.data import Observation, Passage
from balrog_rag.contracts.kinds import EnvironmentKind, Numbers
from balrog_rag.util.tokens import count_text

WINDOW = 50
"""Moments looked back on."""
REPEATS = 2
"""How often a screen was shown within the window before it counts as repeated."""
SHORTEST = 8
"""Moments in a row that make a loop."""


class RepeatedScreens:
    """Stretches of an episode in which the same screens come again and again."""

    def __init__(self) -> None:
        self._window: deque[Hashable] = deque()
        self._seen: Counter[Hashable] = Counter()
        self._begun: int | None = None
        self._found: list[list[int]] = []

    def see(self, at: int, screen: Hashable) -> None:
        """Add a moment; the screen as the kind's signals compare it."""
        if self._seen.get(screen, 0) >= REPEATS:
            self._begun = at if self._begun is None else self._begun
        else:
            self._end(at)
        self._window.append(screen)
        self._seen[screen] += 1
        if len(self._window) > WINDOW:
            gone = self._window.popleft()
            self._seen[gone] -= 1
            if not self._seen[gone]:
                del self._seen[gone]

    def _end(self, at: int) -> None:
        if self._begun is not None and at - self._begun >= SHORTEST:
            self._found.append([self._begun, at - 1])
        self._begun = None

    def document(self, last: int) -> list[list[int]]:
        """First and last position of each loop, up to the last moment."""
        open_ = self._begun is not None and last + 1 - self._begun >= SHORTEST
        return [*self._found, *([[self._begun or 0, last]] if open_ else [])]


class VisitedSquares:
    """Where the player stood at each moment, and on which level."""

    def __init__(self, kind: EnvironmentKind) -> None:
        self._signals = kind.hints.signals
        self._of: list[int] = []
        self._levels: list[list[Any]] = []

    def see(self, numbers: Numbers) -> None:
        """Add a moment; without a square the player stays where it was."""
        found = self._signals.square(numbers)
        if found is None:
            self._of.append(self._of[-1] if self._of else -1)
            return
        level, row, column = found
        if not self._levels or self._levels[-1][1] != level:
            self._levels.append([len(self._of), level])
        self._of.append(row * ROW + column if 0 <= row < ROW and 0 <= column < ROW else -1)

    def document(self) -> dict[str, Any] | None:
        """Squares as row * ROW + column, and where the level changed; None without a map."""
        if not any(each >= 0 for each in self._of):
            return None
        return {"row": ROW, "of": list(self._of), "levels": [list(each) for each in self._levels]}


ROW = 1000
"""A square's row counts this much, its column 1."""


class DrawnLookups:
    """The look-ups of an episode: at which step, which passages, how many tokens."""

    def __init__(self) -> None:
        self._rows: list[list[Any]] = []

    def see(self, step: int, numbers: Sequence[int], passages: Sequence[Passage]) -> None:
        """Add a look-up; `numbers` are those of the passages in the page's table."""
        tokens = sum(count_text(passage.text) for passage in passages)
        self._rows.append([step, tokens, list(numbers)])

    def document(self) -> list[list[Any]]:
        """Step, tokens and passages of each."""
        return [list(row) for row in self._rows]


def inventory_of(seen: Observation) -> str:
    """What the player carries, in the game's words; empty if the kind does not show it apart."""
    return seen.text("inventory")
