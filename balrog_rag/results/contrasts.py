"""Contrasts of an experiment's arms, game by game: some arms minus others, such as an interaction."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import msgspec
import numpy as np

from balrog_rag.contracts.kinds import kind_of
from balrog_rag.results.episodes import Episode
from balrog_rag.results.experiments import Experiment, ExperimentContrast
from balrog_rag.results.statistics.estimate import Interval
from balrog_rag.results.statistics.sentence import NOT_TO_TELL, p_text
from balrog_rag.results.statistics.units import Bounds, Floats
from balrog_rag.results.statistics.values import compared
from balrog_rag.util.wording import many

GameKey: TypeAlias = tuple[str, str]
"""A game by its task and its identity."""
WIDE = 100.0
"""An interval as wide as the scale of one arm says nothing."""


class ContrastResult(msgspec.Struct, frozen=True):
    """A contrast in points of progression, per game."""

    name: str
    says: str
    difference: float
    interval: Interval
    games: int
    word: str
    """The claim, as of other comparisons."""
    p: float

    @property
    def sentence(self) -> str:
        """The claim, the difference and how sure it is."""
        around = ""
        if self.interval.known:
            wide = self.interval.high - self.interval.low >= WIDE and self.word == "undecided"
            ends = f"{self.interval.low:+.2f} to {self.interval.high:+.2f}"
            around = f" ({NOT_TO_TELL.format('games')})" if wide else f" ({ends})"
        found = f"{self.word}: {self.difference:+.2f} points{around}"
        return f"{found}, {p_text(self.p)}, n = {many(self.games, 'games')} played by all these arms."

    @property
    def line(self) -> str:
        """One line about it."""
        found = f"{self.difference:+.2f} points"
        bounds = f" ({self.interval.low:+.2f} to {self.interval.high:+.2f})" if self.interval.known else ""
        return f"{self.name}: {found}{bounds}, n = {self.games} games: {self.says}"


def contrast_results(experiment: Experiment, arms: Mapping[str, Sequence[Episode]]) -> list[ContrastResult]:
    """Return the experiment's contrasts over the games that ended in all of their arms."""
    scores = {arm: by_game(episodes) for arm, episodes in arms.items()}
    found = []
    for name, contrast in experiment.contrasts.items():
        concerned = (*contrast.plus, *contrast.minus)
        if any(arm not in arms for arm in concerned):
            continue
        games = sorted(set.intersection(*(set(scores[arm]) for arm in concerned)))
        if not games:
            continue
        plus, minus = (summed(scores, side, games) for side in (contrast.plus, contrast.minus))
        envs = {episode.env for arm in concerned for episode in arms[arm]}
        sums = compared(plus, minus, True, bounds_of_sums(contrast, envs))
        found.append(
            ContrastResult(
                name, contrast.says, sums.difference, sums.interval, len(games), sums.word, sums.test.p
            )
        )
    return found


def bounds_of_sums(contrast: ExperimentContrast, envs: Iterable[str]) -> Bounds:
    """Return what a side's sum over its arms can be: without bounds, equal sums would leave no doubt."""
    most = max(len(contrast.plus), len(contrast.minus))
    scorings = [kind_of(env).scoring for env in envs]
    solved = most == 1 and all(scoring.solved_or_not for scoring in scorings)
    return Bounds(most=100.0 * most, binary=solved, rise=most * max(scoring.rise for scoring in scorings))


def summed(
    arms: Mapping[str, Mapping[GameKey, float]], side: Sequence[str], games: Sequence[GameKey]
) -> Floats:
    """Return the sum of these arms' scores for every game."""
    return np.array([sum(arms[arm][game] for arm in side) for game in games], dtype=float)


def by_game(episodes: Iterable[Episode]) -> dict[GameKey, float]:
    """Return the progression of games in percent."""
    return {(episode.task, episode.game_name): episode.percent for episode in episodes}
