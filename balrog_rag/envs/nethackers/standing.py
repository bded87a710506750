"""Progress of a game by the board's measure, and the board's figures of a player's games."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from balrog_rag.contracts.kinds import Numbers, PlayedEpisode, Rules
from balrog_rag.contracts.outcome import PLAYER_LOST, RESUMABLE, Outcome
from balrog_rag.envs.nethackers import board
from balrog_rag.util.wording import many


class Standing:
    """The best achievement of a game so far; zero if the program that played it failed."""

    def __init__(self) -> None:
        self.value, self.reached = 0.0, ""
        self._reached: list[str] = []

    def milestones(self) -> Mapping[str, list[str]]:
        """Every achievement, in the order in which they were reached."""
        return {"achievement_list": self._reached}

    def see(self, numbers: Numbers, reward: float = 0.0, ended: str = "") -> None:
        """Process a moment."""
        for name, called in board.COUNTED.items():
            if number := numbers.get(name, 0):
                self._reach(called.format(number))
        if ended == Outcome.ASCENDED:
            self._reach(board.ASCENSION)
        if ended in PLAYER_LOST:
            self.value, self.reached = 0.0, ""

    def _reach(self, achievement: str) -> None:
        worth = board.worths()[achievement]
        if achievement not in self._reached:
            self._reached.append(achievement)
        if worth > self.value:
            self.value, self.reached = worth, achievement


def means(runs: Sequence[Sequence[PlayedEpisode]]) -> dict[str, float]:
    """Mean progression in percent of each identity whose published games were all played to their end."""
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for played in (each for run in runs for each in run if played_out(each)):
        found[played.game.task][played.game.seeds.core].append(played.percent)
    return {
        identity: fmean(fmean(games[number]) for number in board.published())
        for identity, games in sorted(found.items())
        if all(number in games for number in board.published())
    }


def played_out(played: PlayedEpisode) -> bool:
    """Whether the game itself or the board's limits ended it, not a cap or limit of the user."""
    if played.outcome == Outcome.STEPS:
        return played.keys >= played.game.max_steps
    return played.outcome not in RESUMABLE


def figures(runs: Sequence[Sequence[PlayedEpisode]]) -> list[str]:
    """The board's figures of one player."""
    found = means(runs)
    if not found:
        return ["0", f"unknown: needs {many(len(board.published()), 'published games')} of an identity"]
    return [str(len(found)), f"{fmean(found.values()):.2f}"]


RULES = Rules(
    "NetHackers",
    ("NetHackers: identities", "mean of their means, %"),
    figures,
    "An identity counts once its fifteen published games are played to their end. The board puts first who "
    "covers more identities, then who has the higher mean. A game whose program crashes or is too slow "
    "counts 0.",
    "nethackers",
    ("identities", "progression"),
    apart=True,
)
