"""Match two arms' episodes for a comparison: by shared games, within shared games, or within tasks."""

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from balrog_rag.results.statistics.permutation import LEAST_PAIRS, Stratum
from balrog_rag.results.statistics.units import (
    Floats,
    Key,
    Score,
    game_key,
    games,
    independent,
    keys_of,
    world_key,
)

SHARED = 0.8


class Paired(msgspec.Struct, frozen=True):
    """Both arms' mean scores in each game that they share, for one environment."""

    env: str
    ours: Floats
    theirs: Floats

    @property
    def gaps(self) -> Floats:
        """Ours minus theirs."""
        return self.ours - self.theirs


class Pairs(msgspec.Struct, frozen=True):
    """Games compared one by one, and the episodes played in them."""

    envs: tuple[Paired, ...]
    ours: list[Score]
    theirs: list[Score]
    notes: tuple[str, ...] = ()


class Arms(msgspec.Struct, frozen=True):
    """Two independent arms in strata within which labels may be permuted, and their episodes."""

    strata: tuple[Stratum, ...]
    ours: list[Score]
    theirs: list[Score]
    notes: tuple[str, ...] = ()
    games: int = 0
    """Number of games if the strata are games; 0: they are tasks."""


def match(ours: Sequence[Score], theirs: Sequence[Score]) -> Pairs | Arms:
    """Choose the comparison that two arms allow; an Arms without strata if they share no task."""
    ours, theirs, notes = _shared_tasks(ours, theirs)
    if not ours:
        return Arms((), ours, theirs, notes)
    our_games, their_games = (
        {game_key(score, place) for place, score in enumerate(arm)} for arm in (ours, theirs)
    )
    shared = {key for key in our_games & their_games if not key[2].startswith("\0")}
    together = len(shared) / len(our_games | their_games)
    if (
        together >= SHARED
        and len({world_key(score) for score in ours if game_key(score) in shared}) >= LEAST_PAIRS
    ):
        left_out = len(our_games ^ their_games)
        more = (f"{left_out} games without a partner left out",) if left_out else ()
        played = [[score for score in arm if game_key(score) in shared] for arm in (ours, theirs)]
        return Pairs(_pairs(games(ours), games(theirs), played[0]), played[0], played[1], notes + more)
    keys = keys_of(ours), keys_of(theirs)
    crossed = any(arm.worlds < arm.games for arm in keys)
    repeated = len(our_games) < len(ours) and len(their_games) < len(theirs)
    if together == 1 and repeated and not crossed:
        by_game = _strata(ours, theirs, game_key)
        return Arms(by_game, ours, theirs, notes + _these_games(len(shared)), len(shared))
    by_task = _strata(independent(ours), independent(theirs), lambda score: (score.env, score.task))
    fewest = min(arm.worlds for arm in keys)
    return Arms(by_task, ours, theirs, notes + _few_games(fewest, "world" if crossed else "game"))


def _shared_tasks(
    ours: Sequence[Score], theirs: Sequence[Score]
) -> tuple[list[Score], list[Score], tuple[str, ...]]:
    tasks = {(score.env, score.task) for score in ours} & {(score.env, score.task) for score in theirs}
    kept = [[score for score in arm if (score.env, score.task) in tasks] for arm in (ours, theirs)]
    dropped = len(ours) + len(theirs) - len(kept[0]) - len(kept[1])
    notes = (f"{dropped} episodes of tasks that only one arm played left out",) if dropped else ()
    return kept[0], kept[1], notes


def _few_games(count: int, what: str = "game") -> tuple[str, ...]:
    """Warn if an arm has so few games that its figures say little about games in general."""
    if count >= 3:
        return ()
    games = f"one {what}" if count == 1 else f"{count} {what}s"
    return (f"an arm plays {games} only: results do not generalize to others",)


def _these_games(count: int) -> tuple[str, ...]:
    """Warn if arms are compared within single games, over repeated plays of each."""
    if count < 3:
        return _few_games(count)
    return (f"labels are exchanged within each of {count} games: results do not generalize to others",)


def _pairs(ours: dict[Key, Floats], theirs: dict[Key, Floats], played: Sequence[Score]) -> tuple[Paired, ...]:
    """Pairs by world, each game counted once; `played` are our scores in the shared games."""
    by_env: dict[str, dict[Key, set[Key]]] = {}
    for score in played:
        by_env.setdefault(score.env, {}).setdefault(world_key(score), set()).add(game_key(score))
    return tuple(
        Paired(env, *(_world_means(arm, list(own.values())) for arm in (ours, theirs)))
        for env, own in sorted((env, dict(sorted(own.items()))) for env, own in by_env.items())
    )


def _world_means(arm: dict[Key, Floats], shared: Sequence[set[Key]]) -> Floats:
    return np.array([np.mean([arm[key].mean() for key in sorted(own)]) for own in shared])


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
