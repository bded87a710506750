"""Two arms whose games may have been cut off before they ended: the log-rank test.

A game that a limit ended has not been saved from anything; it says only that nothing happened for as long as
it lasted. So at each time at which a game met the end in question, the test compares the arms over the games
that were still going on then. Games that ended otherwise leave at their own time, like those cut off.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb

import msgspec
import numpy as np

from balrog_rag.results.statistics.units import Floats

EXACT_UP_TO = 20_000
RANDOM = 9_999
MOST = 200
"""Games of both arms up to which labels are exchanged; with more the normal approximation will do."""
ROUNDING = 1e-9


class CensoredGame(msgspec.Struct, frozen=True):
    """A game: how long it lasted, whether it met the end in question, and whether it was cut off."""

    time: float
    met: bool
    cut: bool


def log_rank_p(ours: Sequence[CensoredGame], theirs: Sequence[CensoredGame]) -> float:
    """The two-sided p: the larger of the normal approximation's and that of exchanged labels."""
    from scipy.special import ndtr

    games = [*ours, *theirs]
    observed = np.arange(len(games)) < len(ours)
    seen = float(_statistics(games, observed[None, :].astype(float))[0])
    p = float(2 * ndtr(-seen))
    if len(games) > MOST:
        return p
    found = _statistics(games, _labels(len(games), len(ours)))
    return max(p, float((found >= seen - ROUNDING).mean()))


def _labels(count: int, ours: int) -> Floats:
    """Every way to choose our games, or many at random besides the first."""
    if comb(count, ours) <= EXACT_UP_TO:
        picks = np.array(list(combinations(range(count), ours)), dtype=int).reshape(-1, ours)
    else:
        order = np.random.default_rng(0).permuted(np.tile(np.arange(count), (RANDOM, 1)), axis=1)
        picks = np.concatenate([np.arange(ours)[None, :], order[:, :ours]])
    labels = np.zeros((len(picks), count))
    np.put_along_axis(labels, picks, 1.0, axis=1)
    return labels


def _statistics(games: Sequence[CensoredGame], labels: Floats) -> Floats:
    """The absolute z of each labelling; 0 where no end came while games of both arms were going on."""
    times = np.array([game.time for game in games])
    met = np.array([game.met for game in games])
    excess, variance = np.zeros(len(labels)), np.zeros(len(labels))
    for time in np.unique(times[met]):
        going, ended = times >= time, met & (times == time)
        count, ends = int(going.sum()), int(ended.sum())
        share = labels[:, going].sum(axis=1) / count
        excess += labels[:, ended].sum(axis=1) - ends * share
        variance += ends * share * (1 - share) * (count - ends) / max(1, count - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(excess) / np.sqrt(variance)
    return np.asarray(np.where(np.abs(excess) > ROUNDING, z, 0.0), dtype=float)
