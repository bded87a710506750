"""Compare two arms: difference of means, its interval, and what the design can detect."""

from collections.abc import Mapping, Sequence
from math import ceil, sqrt
from typing import NamedTuple, Protocol

import msgspec
import numpy as np

from balrog_rag.results.statistics import permutation
from balrog_rag.results.statistics.comparison import Comparison, adjust
from balrog_rag.results.statistics.differences import DRAWS, agreeing, difference, paired_difference
from balrog_rag.results.statistics.estimate import NOTHING, Estimate, average, doubt
from balrog_rag.results.statistics.leverage import dominated, withheld
from balrog_rag.results.statistics.order import Order, independent_order, paired_order
from balrog_rag.results.statistics.pairing import Arms, Pairs, match
from balrog_rag.results.statistics.permutation import SPARE, Stratum, Test
from balrog_rag.results.statistics.prospects import REFERENCE, detects, detects_paired
from balrog_rag.results.statistics.units import (
    ALPHA,
    NO_SPREAD,
    Bounds,
    Floats,
    Score,
    constant,
    shared_worlds,
)

__all__ = ["Comparison", "adjust", "compare"]


def compare(
    ours: Sequence[Score],
    theirs: Sequence[Score],
    names: tuple[str, str] = ("A", "B"),
    measure: str = "progression",
    unit: str = "points",
    bounds: Mapping[str, Bounds] | None = None,
    wanted: float | None = None,
    seed: int = 0,
    family: int = 1,
    plan: bool = True,
) -> Comparison:
    """Compare two arms, ours minus theirs; `bounds` by environment, `wanted` is the difference to plan for.

    `family` is the number of comparisons that `adjust` will correct for: p is computed as precisely as that
    needs. Without `plan`, detectable differences are not computed, which takes longer than everything else.
    """
    matched = match(ours, theirs)
    if isinstance(matched, Arms) and not matched.strata:
        nothing = described(ours, theirs, names, measure, unit)
        return msgspec.structs.replace(nothing, notes=matched.notes)
    base = described(matched.ours, matched.theirs, names, measure, unit)
    return weighed(base, matched, bounds or {}, wanted, seed, family, plan)


def weighed(
    base: Comparison,
    matched: Pairs | Arms,
    limits: Mapping[str, Bounds],
    wanted: float | None = None,
    seed: int = 0,
    family: int = 1,
    plan: bool = True,
) -> Comparison:
    """The comparison of matched arms, before any test."""
    if isinstance(matched, Pairs):
        made, maker = _paired(base, matched), _pairs_shifted(matched, limits)
        test = permutation.paired(_scaled([part.gaps for part in matched.envs]), seed, family)
    else:
        made, maker = _independent(base, matched), _arms_shifted(matched, limits)
        test = permutation.stratified(matched.strata, seed, family)
    found, doubted = weigh(maker, family)
    order = _order(matched, limits, seed, family)
    solved = all(limits.get(env, Bounds()).binary for env in {score.env for score in matched.ours})
    held, warned = ("", "") if solved else _carried(matched)
    made = msgspec.structs.replace(
        made,
        difference=found.middle,
        test=test,
        doubt=1.0 if held else doubted,
        held=held,
        warned=warned,
        order=order,
        scale=_scale(limits, matched),
        solved_or_not=solved,
        wanted=round(abs(found.middle), 1) if wanted is None else wanted,
        notes=matched.notes,
    )
    made = msgspec.structs.replace(made, interval=agreeing(found.interval, made.clear))
    return _planned(made, matched, limits) if plan else made


def _planned(made: Comparison, matched: Pairs | Arms, limits: Mapping[str, Bounds]) -> Comparison:
    """Add what such a design detects."""
    if isinstance(matched, Pairs):
        counts = (made.paired, REFERENCE)
        here, there = (detects_paired(made.spread, made.paired, count) for count in counts)
    else:
        alike, bounds = _alike(matched.strata), limits.get(matched.strata[0].env, Bounds())
        bounds = bounds if made.solved_or_not else msgspec.structs.replace(bounds, binary=False)
        sizes = ((made.our_draws, made.their_draws), (REFERENCE, REFERENCE))
        here, there = (detects(alike, size, bounds) for size in sizes)
    return msgspec.structs.replace(made, detects=here, reference=there)


def _alike(strata: Sequence[Stratum]) -> Floats:
    """All scores with equal means in each stratum, except strata without spread.

    Zeros that every arm shows stay zeros: how many there are decides what can be detected.
    """
    cells = [cell for part in strata for cell in (part.ours, part.theirs) if not constant(cell)]
    if not cells:
        return np.zeros(0)
    mean, least = float(np.concatenate(cells).mean()), [float(cell.min()) for cell in cells]
    if max(least) == min(least) == 0 or (min(least) >= 0 and _in_proportion(cells)):
        return np.concatenate([cell * (mean / cell.mean()) for cell in cells])
    return np.concatenate([cell - cell.mean() + mean for cell in cells])


def _in_proportion(cells: Sequence[Floats]) -> bool:
    """Whether arms differ by a factor rather than a shift, with spreads proportional to means."""
    spreads = np.log([cell.std() for cell in cells])
    return float(np.ptp(spreads - np.log([cell.mean() for cell in cells]))) <= float(np.ptp(spreads))


class Maker(Protocol):
    """Creates the estimate of a difference."""

    def __call__(self, shift: float, draws: int, family: int = 1) -> Estimate:
        """The estimate if our scores were `shift` higher, from `draws` means, at a family's level."""


def _order(matched: Pairs | Arms, limits: Mapping[str, Bounds], seed: int, family: int) -> Order:
    """Which arm scores higher more often."""
    if isinstance(matched, Pairs):
        gaps = [np.where(np.abs(part.gaps) > NO_SPREAD, part.gaps, 0.0) for part in matched.envs]
        return paired_order(gaps, seed, family)
    solved = all(limits.get(part.env, Bounds()).binary for part in matched.strata)
    return independent_order(matched.strata, solved, seed, family)


def _carried(matched: Pairs | Arms) -> tuple[str, str]:
    """Why means may not be compared, and the warning if they may."""
    parts = matched.envs if isinstance(matched, Pairs) else matched.strata
    arms = [np.concatenate([getattr(part, side) for part in parts]) for side in ("ours", "theirs")]
    return withheld(*arms), dominated(*arms)


def _scale(limits: Mapping[str, Bounds], matched: Pairs | Arms) -> float:
    """The largest possible difference of means."""
    parts = matched.envs if isinstance(matched, Pairs) else matched.strata
    bounds = [limits.get(part.env, Bounds()) for part in parts]
    return max(each.most - each.least for each in bounds)


def weigh(maker: Maker, family: int) -> tuple[Estimate, float]:
    """The estimate and its doubt, computed as strictly and precisely as a family of tests requires."""
    found = maker(0.0, DRAWS)
    strict = found if family == 1 else maker(0.0, DRAWS, family)
    doubted, finer = doubt(strict), ceil(2 * SPARE * family / ALPHA)
    if doubted <= strict.finest and finer > DRAWS:
        doubted = doubt(maker(0.0, finer, family))
    return found, doubted


def described(
    ours: Sequence[Score], theirs: Sequence[Score], names: tuple[str, str], measure: str, unit: str
) -> Comparison:
    """What is known of two arms without a test."""
    means = [_mean(arm) for arm in (ours, theirs)]
    return Comparison(
        *names, measure, unit, means[0], means[1], len(ours), len(theirs), means[0] - means[1], NOTHING,
        Test(1.0, "none"), superiority=_superiority(ours, theirs),
        drawn="worlds" if shared_worlds(ours) or shared_worlds(theirs) else "games",
    )  # fmt: skip


def _mean(arm: Sequence[Score]) -> float:
    """The mean over environments of the means over their episodes."""
    envs = sorted({score.env for score in arm})
    if not envs:
        return float("nan")
    return float(np.mean([np.mean([score.value for score in arm if score.env == env]) for env in envs]))


def _superiority(ours: Sequence[Score], theirs: Sequence[Score]) -> float:
    """The mean over environments of the mean over their common tasks."""
    by_env: dict[str, list[float]] = {}
    for env, task in sorted({(score.env, score.task) for score in ours}):
        arms = [[s.value for s in arm if (s.env, s.task) == (env, task)] for arm in (ours, theirs)]
        if arms[1]:
            by_env.setdefault(env, []).append(_beaten(np.array(arms[0]), np.sort(arms[1])))
    return float(np.mean([np.mean(chances) for chances in by_env.values()])) if by_env else 0.5


def _beaten(mine: Floats, ranked: Floats) -> float:
    beaten = np.searchsorted(ranked, mine, "left") + np.searchsorted(ranked, mine, "right")
    return float(beaten.mean() / (2 * len(ranked)))


def _scaled(gaps: Sequence[Floats]) -> Floats:
    """All differences pooled, weighted so that their mean is the mean over environments."""
    count = sum(len(part) for part in gaps)
    return np.concatenate([part * count / (len(gaps) * len(part)) for part in gaps])


def _pairs_shifted(pairs: Pairs, bounds: Mapping[str, Bounds]) -> Maker:
    def made(shift: float, draws: int, family: int = 1) -> Estimate:
        parts = [(part.ours + shift, part.theirs, bounds.get(part.env, Bounds())) for part in pairs.envs]
        return average([paired_difference(*part, draws, family) for part in parts])

    return made


def _arms_shifted(arms: Arms, bounds: Mapping[str, Bounds]) -> Maker:
    cells = {env: [part for part in arms.strata if part.env == env] for env in _envs(arms.strata)}

    def made(shift: float, draws: int, family: int = 1) -> Estimate:
        moved = {env: [(part.ours + shift, part.theirs) for part in own] for env, own in cells.items()}
        return average(
            [difference(own, bounds.get(env, Bounds()), draws, family) for env, own in moved.items()]
        )

    return made


def _paired(base: Comparison, pairs: Pairs) -> Comparison:
    gaps = [part.gaps for part in pairs.envs]
    count = sum(len(part) for part in gaps)
    spread = _averaged(
        [(float(part.std(ddof=1)), 1 / len(part)) if len(part) > 1 else None for part in gaps], 1 / count
    )
    ours, theirs = (
        float(np.mean([getattr(part, side).mean() for part in pairs.envs])) for side in ("ours", "theirs")
    )
    return msgspec.structs.replace(
        base,
        our_mean=ours,
        their_mean=theirs,
        our_draws=count,
        their_draws=count,
        paired=count,
        effect=_hedges(ours - theirs, spread, count - 1),
        spread=spread,
        least_p=permutation.least_paired_p(count),
    )


def _independent(base: Comparison, arms: Arms) -> Comparison:
    sizes = [(len(part.ours), len(part.theirs)) for part in arms.strata]
    parts = [[part for part in arms.strata if part.env == env] for env in _envs(arms.strata)]
    ours, theirs = (
        float(np.mean([np.concatenate([getattr(part, side) for part in own]).mean() for own in parts]))
        for side in ("ours", "theirs")
    )
    spreads = [_spreads(own) for own in parts]
    counts = sum(size[0] for size in sizes), sum(size[1] for size in sizes)
    share = 1 / counts[0] + 1 / counts[1]
    pooled, here = (
        _averaged([(spread[which], spread.share) if spread else None for spread in spreads], share)
        for which in range(2)
    )
    return msgspec.structs.replace(
        base,
        our_mean=ours,
        their_mean=theirs,
        our_draws=counts[0],
        their_draws=counts[1],
        within=arms.games,
        effect=_hedges(ours - theirs, pooled, sum(counts) - 2 * len(sizes)),
        spread=here,
        least_p=permutation.least_p(sizes),
    )


class Spreads(NamedTuple):
    """The standard deviation within arms and strata of one environment, in two ways."""

    pooled: float
    """Of all draws together."""
    here: float
    """The common spread that would make the difference as uncertain as it is."""
    share: float
    """The variance of the difference as a share of a draw's variance."""


def _spreads(strata: Sequence[Stratum]) -> Spreads | None:
    """None if neither arm shows its spread."""
    arms = [[part.ours for part in strata], [part.theirs for part in strata]]
    counts = [sum(len(cell) for cell in arm) for arm in arms]
    free = [sum(len(cell) - 1 for cell in arm) for arm in arms]
    squares = [sum(float(((cell - cell.mean()) ** 2).sum()) for cell in arm) for arm in arms]
    if not any(free):
        return None
    known = [side if free[side] else 1 - side for side in (0, 1)]
    ours, theirs = (squares[side] / free[side] for side in known)
    share = 1 / counts[0] + 1 / counts[1]
    here = (ours / counts[0] + theirs / counts[1]) / share
    return Spreads(sqrt(sum(squares) / sum(free)), sqrt(here), share)


def _envs(strata: Sequence[Stratum]) -> list[str]:
    return sorted({part.env for part in strata})


def _averaged(parts: Sequence[tuple[float, float] | None], share: float) -> float:
    """The pooled spread that gives the average over environments its true variance.

    Each part is an environment's spread and the variance's share of it; 0 if one of them is unknown.
    """
    if any(part is None for part in parts):
        return 0.0
    variance = sum(spread**2 * weight for spread, weight in filter(None, parts)) / len(parts) ** 2
    made = sqrt(variance / share)
    return made if made > NO_SPREAD else 0.0


def _hedges(difference: float, spread: float, freedom: int) -> float | None:
    return None if spread == 0 else difference / spread * (1 - 3 / (4 * freedom - 1))
