"""How two arms' episodes may be compared: by shared games, within shared games, or within tasks."""

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from balrog_rag.results.statistics.permutation import LEAST_PAIRS, Stratum
from balrog_rag.results.statistics.units import Floats, Score, games, has_repeats, independent

SHARED = 0.8


class Paired(msgspec.Struct, frozen=True):
    """Both arms' scores in the games they share, of one environment: game by game, each game's mean."""

    env: str
    ours: Floats
    theirs: Floats

    @property
    def gaps(self) -> Floats:
        """Ours less theirs."""
        return self.ours - self.theirs


class Pairs(msgspec.Struct, frozen=True):
    """Games compared one by one, and the episodes they were played in."""

    envs: tuple[Paired, ...]
    ours: list[Score]
    theirs: list[Score]
    notes: tuple[str, ...] = ()


class Arms(msgspec.Struct, frozen=True):
    """Two independent arms in strata within which labels may be exchanged, and the episodes in them."""

    strata: tuple[Stratum, ...]
    ours: list[Score]
    theirs: list[Score]
    notes: tuple[str, ...] = ()
    games: int = 0
    """How many games the strata are, where each is one; 0: they are tasks."""


def match(ours: Sequence[Score], theirs: Sequence[Score]) -> Pairs | Arms:
    """The comparison that these two arms allow; an Arms without strata where they share no task."""
    ours, theirs, notes = _shared_tasks(ours, theirs)
    if not ours:
        return Arms((), ours, theirs, notes)
    our_games, their_games = games(ours), games(theirs)
    shared = [key for key in our_games if key in their_games and not key[2].startswith("\0")]
    together = len(shared) / len(our_games.keys() | their_games.keys())
    if len(shared) >= LEAST_PAIRS and together >= SHARED:
        left_out = len(our_games.keys() ^ their_games.keys())
        more = (f"{left_out} games without a partner left out",) if left_out else ()
        played = [[score for score in arm if _game(score) in set(shared)] for arm in (ours, theirs)]
        return Pairs(_pairs(our_games, their_games, shared), played[0], played[1], notes + more)
    if together == 1 and has_repeats(ours) and has_repeats(theirs):
        by_game = _strata(ours, theirs, _game)
        return Arms(by_game, ours, theirs, notes + _these_games(len(shared)), len(shared))
    by_task = _strata(independent(ours), independent(theirs), lambda score: (score.env, score.task))
    return Arms(by_task, ours, theirs, notes + _few_games(min(len(our_games), len(their_games))))


def _game(score: Score) -> tuple[str, str, str]:
    return score.env, score.task, score.game


def _shared_tasks(
    ours: Sequence[Score], theirs: Sequence[Score]
) -> tuple[list[Score], list[Score], tuple[str, ...]]:
    tasks = {(score.env, score.task) for score in ours} & {(score.env, score.task) for score in theirs}
    kept = [[score for score in arm if (score.env, score.task) in tasks] for arm in (ours, theirs)]
    dropped = len(ours) + len(theirs) - len(kept[0]) - len(kept[1])
    notes = (f"{dropped} episodes of tasks that only one arm played left out",) if dropped else ()
    return kept[0], kept[1], notes


def _few_games(count: int) -> tuple[str, ...]:
    """A warning where an arm knows so few games that its figures say little about games in general."""
    if count >= 3:
        return ()
    games = "one game" if count == 1 else f"{count} games"
    return (f"an arm plays {games} only: this says nothing about others",)


def _these_games(count: int) -> tuple[str, ...]:
    """The warning where arms are compared game by game, over the plays of each."""
    if count < 3:
        return _few_games(count)
    return (f"labels are exchanged within each of {count} games: this says nothing about others",)


def _pairs(
    ours: dict[tuple[str, str, str], Floats],
    theirs: dict[tuple[str, str, str], Floats],
    shared: Sequence[tuple[str, str, str]],
) -> tuple[Paired, ...]:
    by_env: dict[str, list[tuple[str, str, str]]] = {}
    for key in shared:
        by_env.setdefault(key[0], []).append(key)
    return tuple(
        Paired(env, *(np.array([arm[key].mean() for key in keys]) for arm in (ours, theirs)))
        for env, keys in by_env.items()
    )


def _strata(
    ours: Sequence[Score], theirs: Sequence[Score], key: Callable[[Score], tuple[str, ...]]
) -> tuple[Stratum, ...]:
    our_counts, their_counts = (Counter(score.env for score in arm) for arm in (ours, theirs))
    strata = []
    for name in sorted({key(score) for score in ours}):
        parts = [np.array([score.value for score in arm if key(score) == name]) for arm in (ours, theirs)]
        weights = [1 / (len(our_counts) * counts[name[0]]) for counts in (our_counts, their_counts)]
        strata.append(Stratum(parts[0], parts[1], weights[0], weights[1], name[0]))
    return tuple(strata)
