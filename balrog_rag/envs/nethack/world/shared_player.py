"""The memory of a game: one player that all its programs share, and all prayers, whoever pressed the keys."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from balrog_rag.envs.nethack.world.player import Keys, Player

_PRAYING = b"You begin praying"
_ANGER = (b"is displeased", b"Thou hast angered", b"Thou must relearn", b"Thou durst", b"arrogant")
_PRAYER = 5
"""Turns within which a god answers."""
_TURN = 20
_MOST_HEARD = 500
"""Messages kept between commands, since plain keys begin none."""


class FollowedPlayer(Player):
    """A player that does not process the result of a key, because the game has already done so."""

    def look(self) -> None:
        """Process the screen."""
        self._see()
        del self.heard[:-_MOST_HEARD]

    def _press(self, key: int) -> Keys:
        turn = self.body.turn
        yield key
        self.standstill = 0 if self.body.turn != turn else self.standstill + 1


class GameMemory:
    """What one game remembers for its programs, however each of its keys came to be pressed.

    The player is made for the first program, because following a game costs more than a key press.
    Prayers are noted from the first key on: a second one soon after can end the game.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """`arrays` are NLE's, which every key press overwrites."""
        self.screen = SharedScreen(arrays, self)
        self.kept: dict[str, Any] = {}
        """What programs remember between their calls, by names of theirs."""
        self._player: FollowedPlayer | None = None
        self.prayed: int | None = None
        """The turn of the last prayer; None: none yet."""
        self._angered = False

    def see(self) -> None:
        """Process the screen after a key."""
        self._hear(self.screen["message"].tobytes(), int(self.screen["blstats"][_TURN]))
        if self._player is not None:
            self._player.look()

    def known(self) -> Player:
        """Return the shared player as it is."""
        if self._player is None:
            return self.player()
        return self._player

    def player(self) -> Player:
        """Return the shared player, ready for another program."""
        if self._player is None:
            self._player = FollowedPlayer(self.screen)
            self._player.prayed, self._player.unlucky = self.prayed, self._angered
        player = self._player
        player.heard.clear()
        player.standstill = 0
        if player.pit is not None:  # keys pressed since may have erased the engraving
            player.pit.guarded = False
        return player

    def _hear(self, message: bytes, turn: int) -> None:
        if _PRAYING in message:
            self.prayed = turn
            player = self._player
            # A program has noted its own prayer when it began; the message comes up to three turns later.
            if player is not None and (player.prayed is None or turn - player.prayed > _PRAYER):
                player.prayed = turn
        elif self.prayed is not None and turn - self.prayed <= _PRAYER:
            self._angered |= any(words in message for words in _ANGER)
            if self._player is not None:
                self._player.unlucky |= self._angered


class SharedScreen(dict[str, NDArray[Any]]):
    """NLE's arrays by name, with the memory of their game."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], memory: GameMemory) -> None:
        """Wrap the arrays without copying them."""
        super().__init__(arrays)
        self.memory = memory


def player_of(screen: Mapping[str, NDArray[Any]]) -> Player:
    """Return the player of the game that shows this screen; a new one for arrays without a memory."""
    return screen.memory.player() if isinstance(screen, SharedScreen) else Player(screen)
