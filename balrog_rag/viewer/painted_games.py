"""Games in this process whose every moment is rendered, for a replay that is viewed."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from balrog_rag.contracts.data import Burst, Call, GameSpec, ProgramPlayer, Transition
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.painting import Painting
from balrog_rag.workers.inline import InlineGame


class PaintedMoment(NamedTuple):
    """One moment: its rendering and the game's numbers."""

    painting: Painting | None
    numbers: Mapping[str, int]
    tiles: bytes | None = None
    """The map in tiles, if they were asked for and the kind of game has any."""


class PaintedGame(InlineGame):
    """A game that queues the rendering of each moment until it is fetched.

    A replay may be ahead of the events it reports, so rendered moments are queued in order.
    """

    def __init__(self, spec: GameSpec, ttyrec: str | None = None, tiles: bool = False) -> None:
        """Create and start the game, and render its first moment."""
        super().__init__(spec, ttyrec)
        self._tiles = kind_of(spec.env).display.tiles if tiles else None
        self._moments: deque[list[PaintedMoment]] = deque([[self._seen()]])

    async def play(self, actions: Sequence[str | Call]) -> Sequence[Transition]:
        """Take the actions in order, up to the game's end."""
        transitions = []
        for action in actions:
            transitions.append(self._hosted.step(action))
            self._moments.append([self._seen()])
            if transitions[-1].ended:
                break
        return transitions

    async def run(self, player: ProgramPlayer, most: int, recorded: Burst | None = None) -> Transition:
        """Let a program continue; every key press is a moment."""
        moments: list[PaintedMoment] = []
        transition = self._hosted.run(player, most, lambda: moments.append(self._seen()), recorded)
        moments[-1:] = [self._seen()]  # rendering the end of a game may page through its last screens
        self._moments.append(moments)
        return transition

    def next_moments(self) -> list[PaintedMoment]:
        """The first moment, or those of the next step that the replay reports."""
        return self._moments.popleft()

    def _seen(self) -> PaintedMoment:
        painting, numbers = self._hosted.painted(), self._hosted.numbers
        return PaintedMoment(painting, numbers, self._tiles and self._tiles(self._hosted.arrays))


class PaintedGames:
    """Opens the single game of a replay."""

    def __init__(self, tiles: bool = False) -> None:
        """With `tiles`, moments are drawn in tiles as well."""
        self._tiles = tiles
        self.game: PaintedGame | None = None

    async def open(self, spec: GameSpec, ttyrec: str | None = None) -> PaintedGame:
        """Start it."""
        self.game = PaintedGame(spec, ttyrec, self._tiles)
        return self.game

    def next_moments(self) -> list[PaintedMoment]:
        """The next moments of its game."""
        assert self.game is not None
        return self.game.next_moments()
