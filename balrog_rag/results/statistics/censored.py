"""The log-rank test for two arms with games that may have been cut off before they ended.

A game that a limit ended was not saved from anything; it only shows that nothing happened while it lasted. So
at each time of an end of the kind in question, the test compares the arms over the games that were still
running. Games that ended otherwise leave at their own time, like those cut off.
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
"""Games of both arms up to which labels are permuted; with more, the normal approximation is sufficient."""
ROUNDING = 1e-9


class CensoredGame(msgspec.Struct, frozen=True):
    """A game: its duration, whether it had the end in question, and whether it was cut off."""

    time: float
    met: bool
    cut: bool


def log_rank_p(ours: Sequence[CensoredGame], theirs: Sequence[CensoredGame]) -> float:
    """The two-sided p: the larger of the normal approximation's and that of permuted labels."""
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
    """All choices of our games, or many random ones after the observed one."""
    if comb(count, ours) <= EXACT_UP_TO:
        picks = np.array(list(combinations(range(count), ours)), dtype=int).reshape(-1, ours)
    else:
        order = np.random.default_rng(0).permuted(np.tile(np.arange(count), (RANDOM, 1)), axis=1)
        picks = np.concatenate([np.arange(ours)[None, :], order[:, :ours]])
    labels = np.zeros((len(picks), count))
    np.put_along_axis(labels, picks, 1.0, axis=1)
    return labels


def _up_to(labels: Floats) -> Floats:
    """The sums of each row before each of its places, and of the whole row."""
    return np.concatenate([np.zeros((len(labels), 1)), np.cumsum(labels, axis=1)], axis=1)


def _statistics(games: Sequence[CensoredGame], labels: Floats) -> Floats:
    """The absolute z of each labelling; 0 if no end occurred while games of both arms were running."""
    times = np.array([game.time for game in games])
    met = np.array([game.met for game in games])
    order = np.argsort(times, kind="stable")
    times, met, labels = times[order], met[order], labels[:, order]
    # Sums up to each game; of zeros and ones they are exact in any order.
    all_of, ended_of = _up_to(labels), _up_to(labels * met)
    moments = np.unique(times[met])
    firsts, afters = (np.searchsorted(times, moments, side) for side in ("left", "right"))
    excess, variance = np.zeros(len(labels)), np.zeros(len(labels))
    for first, after in zip(firsts.tolist(), afters.tolist(), strict=True):
        count, ends = len(games) - first, int(met[first:after].sum())
        share = (all_of[:, -1] - all_of[:, first]) / count
        excess += ended_of[:, after] - ended_of[:, first] - ends * share
        variance += ends * share * (1 - share) * (count - ends) / max(1, count - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(excess) / np.sqrt(variance)
    return np.asarray(np.where(np.abs(excess) > ROUNDING, z, 0.0), dtype=float)
