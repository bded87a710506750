"""Games in the calling process: for `show` and `verify`, for tests, and wherever a crash may cost all."""

from collections.abc import Sequence

from balrog_rag.contracts.data import Burst, GameSpec, ProgramPlayer, Transition
from balrog_rag.workers.host import HostedGame


class InlineGame:
    """A game that plays at once when asked; nothing waits."""

    def __init__(self, spec: GameSpec, ttyrec: str | None = None) -> None:
        """Make the game and start it."""
        self._hosted = HostedGame(spec, ttyrec)
        self.view = self._hosted.view
        self.start = self._hosted.start

    async def play(self, actions: Sequence[str]) -> Sequence[Transition]:
        """Take the actions one after the other; stops early where the game ends."""
        return self._hosted.play(actions)

    async def run(self, player: ProgramPlayer, most: int, recorded: Burst | None = None) -> Transition:
        """Let a program play on, for so many presses at most, or as recorded; goes on where it stopped."""
        return self._hosted.run(player, most, recorded=recorded)

    async def close(self) -> None:
        """End the game."""
        self._hosted.close()


class InlineGames:
    """Opens games in the calling process, by the same call as the pool of workers."""

    async def open(self, spec: GameSpec, ttyrec: str | None = None) -> InlineGame:
        """Start a game."""
        return InlineGame(spec, ttyrec)
