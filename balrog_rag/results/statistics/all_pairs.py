"""Test all pairs of several rows together: the greatest t of the pairs in a bootstrap of worlds.

Rows that played the same worlds are resampled together, so that common effects cancel; rows with separate
games are resampled independently. Each bootstrap sample yields the t of every pair around the observed
difference, and a pair is compared with the greatest of them over all undecided pairs (step-down; Romano and
Wolf 2005). This corrects for the number of pairs without assuming that the pairs are independent, and takes
the scores' skewness into account, unlike Welch's t.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

import msgspec
import numpy as np

from balrog_rag.results.statistics.permutation import LEAST_PAIRS
from balrog_rag.results.statistics.units import Floats, Key, Score, world_key

SAMPLES = 1_999
LEAST_UNITS = 5
"""Minimum number of units that are resampled together; smaller groups are merged."""
HELD = 4_000_000
"""Products held in memory at a time."""
ROUNDING = 1e-9
CANCELLED = 1e-12
"""A variance this small, relative to the scores' own, is a rounding error."""

Unit = tuple[str, ...]


class Block(msgspec.Struct, frozen=True):
    """Exchangeable units of one environment, with the rows that played them."""

    env: str
    rows: list[int]
    sums: Floats
    """Row by unit: the sum of the scores."""
    counts: Floats
    """Row by unit: the number of scores."""


def adjusted_p(rows: Sequence[Sequence[Score]], seed: int = 0) -> dict[tuple[int, int], float]:
    """For every pair of rows, the p of equal means, corrected for the number of pairs."""
    pairs = list(combinations(range(len(rows)), 2))
    if not pairs:
        return {}
    blocks, rng = _blocks(rows), np.random.default_rng(seed)
    gaps, errors = _gaps(blocks, [np.ones((1, block.sums.shape[1])) for block in blocks], len(rows))
    seen = _t(gaps, errors, errors)[0]
    found = []
    step = max(1, HELD // len(rows) ** 2)
    for start in range(0, SAMPLES, step):
        size = min(step, SAMPLES - start)
        drawn = [_multiplicities(block.sums.shape[1], size, rng) for block in blocks]
        again, spread = _gaps(blocks, drawn, len(rows))
        found.append(_t(again - gaps, spread, errors))
    return dict(zip(pairs, _step_down(seen, np.concatenate(found)), strict=True))


def _multiplicities(units: int, size: int, rng: np.random.Generator) -> Floats:
    return rng.multinomial(units, np.full(units, 1 / units), size).astype(float)


def _t(gaps: Floats, variances: Floats, usual: Floats) -> Floats:
    """The absolute t of each pair; 0 if there is no difference, infinite if only the variance is 0."""
    scale = np.maximum(usual, 0.0)
    known = np.where(variances > CANCELLED * scale, variances, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(gaps) / np.sqrt(known)
    return np.asarray(np.where(np.abs(gaps) <= ROUNDING * (1 + np.sqrt(scale)), 0.0, t), dtype=float)


def _step_down(seen: Floats, drawn: Floats) -> list[float]:
    order = np.argsort(-seen, kind="stable")
    greatest = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    adjusted, highest = [1.0] * len(seen), 0.0
    for place, pair in enumerate(order):
        least = seen[pair] if np.isinf(seen[pair]) else seen[pair] - ROUNDING * (1 + seen[pair])
        extreme = int((greatest[:, place] >= least).sum())
        highest = max(highest, (1 + extreme) / (len(drawn) + 1))
        adjusted[pair] = highest
    return adjusted


def _gaps(blocks: Sequence[Block], weights: Sequence[Floats], count: int) -> tuple[Floats, Floats]:
    """By sample and pair: the difference of means over environments, and its variance."""
    envs = list(dict.fromkeys(block.env for block in blocks))
    first, second = np.array(list(combinations(range(count), 2))).T
    means: Floats = np.zeros((len(weights[0]), count))
    shared: Floats = np.zeros((len(weights[0]), count, count))
    for env in envs:
        own = [(block, each) for block, each in zip(blocks, weights, strict=True) if block.env == env]
        mean, covariance = _of_env(own, count)
        means += mean / len(envs)
        shared += covariance / len(envs) ** 2
    spreads = np.diagonal(shared, axis1=1, axis2=2)
    variance = spreads[:, first] + spreads[:, second] - 2 * shared[:, first, second]
    return means[:, first] - means[:, second], variance


def _of_env(own: Sequence[tuple[Block, Floats]], count: int) -> tuple[Floats, Floats]:
    """The rows' means in one environment and their covariances, by sample."""
    samples = len(own[0][1])
    sums, counts = np.zeros((samples, count)), np.zeros((samples, count))
    for block, weights in own:
        sums[:, block.rows] += weights @ block.sums.T
        counts[:, block.rows] += weights @ block.counts.T
    counts = np.maximum(counts, 1e-9)  # a row without any unit in a sample has the mean 0
    means = sums / counts
    shared = np.zeros((samples, count, count))
    for block, weights in own:
        place = np.ix_(range(samples), block.rows, block.rows)
        shared[place] += _covariance(block, weights, means[:, block.rows], counts[:, block.rows])
    return means, shared


def _covariance(block: Block, weights: Floats, means: Floats, counts: Floats) -> Floats:
    """A block's contribution to the covariances of the means."""
    units, rows = block.sums.shape[1], len(block.rows)

    def products(left: Floats, right: Floats) -> Floats:
        both = (left[:, None, :] * right[None, :, :]).reshape(rows * rows, units)
        return np.asarray((weights @ both.T).reshape(-1, rows, rows))

    crossed = products(block.sums, block.counts)
    squares = (
        products(block.sums, block.sums)
        - crossed * means[:, None, :]
        - np.swapaxes(crossed, 1, 2) * means[:, :, None]
        + products(block.counts, block.counts) * means[:, :, None] * means[:, None, :]
    )
    total = weights @ block.sums.T - means * (weights @ block.counts.T)
    centred = squares - total[:, :, None] * total[:, None, :] / units
    made: Floats = centred * units / max(1, units - 1) / (counts[:, :, None] * counts[:, None, :])
    return made


def _blocks(rows: Sequence[Sequence[Score]]) -> list[Block]:
    units = _units(rows)
    made = []
    for members in _alike(units):
        played = sorted({row for unit in members for row in units[unit]})
        shape = len(played), len(members)
        sums, counts = np.zeros(shape), np.zeros(shape)
        for place, unit in enumerate(members):
            for row, scores in units[unit].items():
                sums[played.index(row), place] = sum(score.value for score in scores)
                counts[played.index(row), place] = len(scores)
        made.append(Block(members[0][0], played, sums, counts))
    return made


def _units(rows: Sequence[Sequence[Score]]) -> dict[Unit, dict[int, list[Score]]]:
    """Independent draws by environment: worlds, or single episodes if an environment has few worlds."""
    worlds: dict[str, set[Key]] = {}
    for number, row in enumerate(rows):
        for place, score in enumerate(row):
            worlds.setdefault(score.env, set()).add(_key(score, number, place))
    units: dict[Unit, dict[int, list[Score]]] = {}
    for number, row in enumerate(rows):
        for place, score in enumerate(row):
            key: Unit = _key(score, number, place)
            if len(worlds[score.env]) < LEAST_PAIRS:
                key = (*key, f"{number}/{place}")
            units.setdefault(key, {}).setdefault(number, []).append(score)
    return units


def _key(score: Score, number: int, place: int) -> Key:
    env, task, name = world_key(score, place)
    return env, task, f"{name}/{number}" if name.startswith("\0") else name


def _alike(units: dict[Unit, dict[int, list[Score]]]) -> Iterable[list[Unit]]:
    """Group units played by the same rows in the same tasks; if too few, by the same rows; else all."""
    left = list(units)
    for signature in (_tasks, _rows, _env):
        groups: dict[tuple[object, ...], list[Unit]] = {}
        for unit in left:
            groups.setdefault(signature(unit, units[unit]), []).append(unit)
        left = []
        for members in groups.values():
            if len(members) >= LEAST_UNITS or signature is _env:
                yield members
            else:
                left += members


def _tasks(unit: Unit, played: dict[int, list[Score]]) -> tuple[object, ...]:
    return unit[0], frozenset((row, score.task) for row, scores in played.items() for score in scores)


def _rows(unit: Unit, played: dict[int, list[Score]]) -> tuple[object, ...]:
    return unit[0], frozenset(played)


def _env(unit: Unit, played: dict[int, list[Score]]) -> tuple[object, ...]:
    return (unit[0],)
