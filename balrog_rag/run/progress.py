"""An episode's progression while it is played."""

from collections.abc import Mapping

from balrog_rag.envs.nethack.progression import Progression


class Progress:
    """The highest progression reached so far, from 0 to 1."""

    __slots__ = ("_game", "_nethack")

    def __init__(self, episode: str) -> None:
        """`episode` is env/task/NN, perhaps behind a run's label: NetHack is scored by how far it came."""
        self._nethack = episode.rpartition(":")[2].startswith("nle/")
        self._game = Progression()

    @property
    def value(self) -> float:
        """From 0 to 1."""
        return self._game.value

    def see(self, numbers: Mapping[str, int], reward: float = 0.0) -> None:
        """Take in a moment of the game."""
        if self._nethack:
            self._game.see(numbers)
        else:
            self._game.reward(reward)
