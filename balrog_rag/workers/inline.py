"""Games in the calling process: for `show`, `verify`, tests, and plug-ins that workers cannot load."""

from collections.abc import Sequence

from balrog_rag.contracts.data import Burst, Call, GameSpec, ProgramPlayer, Transition
from balrog_rag.workers.host import HostedGame


class InlineGame:
    """A game that plays in the calling process."""

    def __init__(self, spec: GameSpec, ttyrec: str | None = None) -> None:
        """Create the game and start it."""
        self._hosted = HostedGame(spec, ttyrec)
        self.view = self._hosted.view
        self.start = self._hosted.start

    async def play(self, actions: Sequence[str | Call]) -> Sequence[Transition]:
        """Take the actions in order, up to the end of the game."""
        return self._hosted.play(actions)

    async def run(self, player: ProgramPlayer, most: int, recorded: Burst | None = None) -> Transition:
        """Let a program press up to `most` keys, or those recorded; the next call continues it."""
        return self._hosted.run(player, most, recorded=recorded)

    async def close(self) -> None:
        """End the game."""
        self._hosted.close()


class InlineGames:
    """Opens games in the calling process, with the same interface as the pool of workers."""

    async def open(self, spec: GameSpec, ttyrec: str | None = None) -> InlineGame:
        """Start a game."""
        return InlineGame(spec, ttyrec)
