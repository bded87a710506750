"""Two arms compared, down to the sentence a reader needs: is there a difference, could we have seen one?"""

from collections.abc import Mapping, Sequence
from math import inf, isfinite, sqrt

import msgspec
import numpy as np

from balrog_rag.results.statistics import design, permutation
from balrog_rag.results.statistics.interval import (
    NOTHING,
    Interval,
    Span,
    agreeing,
    average,
    difference,
    paired_difference,
)
from balrog_rag.results.statistics.pairing import Arms, Paired, Pairs, match
from balrog_rag.results.statistics.permutation import Stratum, Test
from balrog_rag.results.statistics.units import ALPHA, NO_SPREAD, Bounds, Floats, Score

TOO_FEW = "so few can detect no difference at all"


class Comparison(msgspec.Struct, frozen=True):
    """One arm against another in one measure."""

    ours: str
    theirs: str
    measure: str
    unit: str
    our_mean: float
    """Of what was compared: without games or tasks that only one arm played, each game counted once."""
    their_mean: float
    our_count: int
    """Episodes compared."""
    their_count: int
    difference: float
    interval: Interval
    test: Test
    our_draws: int = 0
    """Independent draws among them: games where games repeat, else episodes."""
    their_draws: int = 0
    paired: int = 0
    """How many games were compared pairwise; 0: the arms are taken as independent."""
    within: int = 0
    """In how many games, both played by both arms, labels were exchanged; 0: not within games."""
    effect: float | None = None
    """Hedges' g: the difference in units of the spread, corrected for small samples."""
    superiority: float = 0.5
    """The chance that an episode of ours beats one of theirs of the same task, ties counted half."""
    spread: float = 0.0
    """The standard deviation of a draw (of a pair's difference); 0: not known."""
    least_p: float = 1.0
    """The smallest p that the test can reach with so many draws."""
    wanted: float = 0.0
    adjusted: float | None = None
    """p after Holm's correction over a family of `family` comparisons."""
    family: int = 1
    notes: tuple[str, ...] = ()

    @property
    def blind(self) -> bool:
        """Whether so few draws can show no difference at all, however large."""
        return design.too_small(self.least_p, self.family)

    @property
    def detectable(self) -> float:
        """The true difference that this design finds with a chance of 80 %; infinite where it finds none."""
        if not self.spread or self.blind:
            return inf
        if self.paired:
            return design.detectable_paired(self.spread, self.paired, self.family)
        return design.detectable(self.spread, self.our_draws, self.their_draws, self.family)

    @property
    def needed(self) -> int | None:
        """Draws an arm (or pairs) with which `wanted` would be detected."""
        if not self.spread:
            return None
        return design.episodes_needed(self.wanted, self.spread, bool(self.paired), self.family)

    @property
    def p(self) -> float:
        """The p that decides: adjusted where it belongs to a family."""
        return self.test.p if self.adjusted is None else self.adjusted

    @property
    def made(self) -> bool:
        """Whether there was anything to compare."""
        return self.test.method != "none"

    @property
    def clear(self) -> bool:
        """Whether the arms can be told apart."""
        return self.p <= ALPHA

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return _sentence(self)


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
) -> Comparison:
    """Compare two arms: ours less theirs; `bounds` by environment, `wanted` the difference to plan for.

    `family` is how many comparisons `adjust` will correct this one for: p is made as fine as that needs.
    """
    matched = match(ours, theirs)
    if isinstance(matched, Pairs):
        made = _paired(_base(matched.ours, matched.theirs, names, measure, unit), matched, bounds or {})
        test = permutation.paired(_scaled([part.gaps for part in matched.envs]), seed, family)
    elif matched.strata:
        made = _independent(_base(matched.ours, matched.theirs, names, measure, unit), matched, bounds or {})
        test = permutation.stratified(matched.strata, seed, family)
    else:
        made, test = _base(ours, theirs, names, measure, unit), Test(1.0, "none")
        return msgspec.structs.replace(made, notes=matched.notes)
    return msgspec.structs.replace(
        made,
        test=test,
        interval=agreeing(made.interval, made.difference, test.p),
        wanted=round(abs(made.difference), 1) if wanted is None else wanted,
        notes=matched.notes,
    )


def adjust(family: Sequence[Comparison]) -> list[Comparison]:
    """The same comparisons with Holm's correction over those that could be made."""
    made = [comparison for comparison in family if comparison.made]
    adjusted = iter(permutation.holm([comparison.test.p for comparison in made]))
    return [
        msgspec.structs.replace(comparison, adjusted=next(adjusted), family=len(made))
        if comparison.made
        else comparison
        for comparison in family
    ]


def _base(
    ours: Sequence[Score], theirs: Sequence[Score], names: tuple[str, str], measure: str, unit: str
) -> Comparison:
    means = [_mean(arm) for arm in (ours, theirs)]
    return Comparison(
        *names, measure, unit, means[0], means[1], len(ours), len(theirs), means[0] - means[1], NOTHING,
        Test(1.0, "none"), superiority=_superiority(ours, theirs),
    )  # fmt: skip


def _mean(arm: Sequence[Score]) -> float:
    """The mean over environments of the means over their episodes."""
    envs = sorted({score.env for score in arm})
    if not envs:
        return float("nan")
    return float(np.mean([np.mean([score.value for score in arm if score.env == env]) for env in envs]))


def _superiority(ours: Sequence[Score], theirs: Sequence[Score]) -> float:
    """The mean over environments of the mean over their tasks: other tasks' episodes are no measure."""
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
    """All gaps in one pot, weighed so that their mean is the mean over environments."""
    count = sum(len(part) for part in gaps)
    return np.concatenate([part * count / (len(gaps) * len(part)) for part in gaps])


def _paired(base: Comparison, pairs: Pairs, bounds: Mapping[str, Bounds]) -> Comparison:
    gaps = [part.gaps for part in pairs.envs]
    count = sum(len(part) for part in gaps)
    spread = _averaged(
        [(float(part.std(ddof=1)), 1 / len(part)) if len(part) > 1 else None for part in gaps], 1 / count
    )
    found = average([_paired_span(part, bounds) for part in pairs.envs])
    return msgspec.structs.replace(
        base,
        our_mean=float(np.mean([part.ours.mean() for part in pairs.envs])),
        their_mean=float(np.mean([part.theirs.mean() for part in pairs.envs])),
        difference=found.middle,
        interval=found.interval,
        our_draws=count,
        their_draws=count,
        paired=count,
        effect=_hedges(found.middle, spread, count - 1),
        spread=spread,
        least_p=permutation.least_paired_p(count),
    )


def _paired_span(part: Paired, bounds: Mapping[str, Bounds]) -> Span:
    return paired_difference(part.ours, part.theirs, bounds.get(part.env, Bounds()))


def _independent(base: Comparison, arms: Arms, bounds: Mapping[str, Bounds]) -> Comparison:
    envs = sorted({part.env for part in arms.strata})
    cells = [[(part.ours, part.theirs) for part in arms.strata if part.env == env] for env in envs]
    found = average(
        [difference(cell, bounds.get(env, Bounds())) for env, cell in zip(envs, cells, strict=True)]
    )
    sizes = [(len(part.ours), len(part.theirs)) for part in arms.strata]
    ours, theirs = (sum(size[side] for size in sizes) for side in (0, 1))
    spread, freedom = _spread(arms.strata, 1 / ours + 1 / theirs)
    means = [np.mean([np.concatenate([c[side] for c in cell]).mean() for cell in cells]) for side in (0, 1)]
    return msgspec.structs.replace(
        base,
        our_mean=float(means[0]),
        their_mean=float(means[1]),
        difference=found.middle,
        interval=found.interval,
        our_draws=ours,
        their_draws=theirs,
        within=arms.games,
        effect=_hedges(found.middle, spread, freedom),
        spread=spread,
        least_p=permutation.least_p(sizes),
    )


def _spread(strata: Sequence[Stratum], share: float) -> tuple[float, int]:
    """The standard deviation within strata and arms that the average has, and its degrees of freedom."""
    parts: list[tuple[float, float] | None] = []
    freedom = 0
    for env in sorted({part.env for part in strata}):
        mine = [part for part in strata if part.env == env]
        cells = [cell for part in mine for cell in (part.ours, part.theirs)]
        free = sum(len(cell) - 1 for cell in cells)
        squares = sum(float(((cell - cell.mean()) ** 2).sum()) for cell in cells)
        counts = [sum(len(part.ours) for part in mine), sum(len(part.theirs) for part in mine)]
        parts.append((sqrt(squares / free), 1 / counts[0] + 1 / counts[1]) if free else None)
        freedom += free
    return _averaged(parts, share), freedom


def _averaged(parts: Sequence[tuple[float, float] | None], share: float) -> float:
    """The spread that, with all draws in one pot, gives the average over environments its true variance.

    Each part is an environment's spread and the variance's share of it; 0 where one of them is not known.
    """
    if any(part is None for part in parts):
        return 0.0
    variance = sum(spread**2 * weight for spread, weight in filter(None, parts)) / len(parts) ** 2
    made = sqrt(variance / share)
    return made if made > NO_SPREAD else 0.0


def _hedges(difference: float, spread: float, freedom: int) -> float | None:
    return None if spread == 0 else difference / spread * (1 - 3 / (4 * freedom - 1))


def _sentence(made: Comparison) -> str:
    if not made.made:
        return "no verdict: the arms share no task with scored episodes."
    parts = [f"{_head(made)}: {made.difference:+.2f} {made.unit}"]
    if made.clear:
        parts[0] += f" ({made.interval.low:+.2f} to {made.interval.high:+.2f})"
    parts.append(p_text(made.test.p))
    if made.adjusted is not None and made.family > 1:
        parts[-1] += f" ({p_text(made.adjusted)} after Holm over {made.family})"
    parts.append(_counts(made))
    return ", ".join(parts) + "; " + _design_words(made)


def _head(made: Comparison) -> str:
    if not made.clear:
        return "not distinguishable"
    return "higher" if made.difference > 0 else "lower"


def _counts(made: Comparison) -> str:
    """How many draws were tested, and in how many episodes, where these are more."""
    played = f" ({made.our_count} and {made.their_count} episodes)" if _repeats(made) else ""
    if made.paired:
        return f"n = {made.paired} pairs{' of games' if played else ''}{played}"
    games = " games" if played else ""
    where = f" in {'one game' if made.within == 1 else f'{made.within} games'}" if made.within else ""
    return f"n = {made.our_draws} and {made.their_draws}{games}{where}{played}"


def _repeats(made: Comparison) -> bool:
    return (made.our_draws, made.their_draws) != (made.our_count, made.their_count)


def _design_words(made: Comparison) -> str:
    if not made.spread:
        return "too little spread seen to say what this design detects."
    least = made.detectable
    words = f"this design detects {least:.1f}" if isfinite(least) else TOO_FEW
    if made.clear or made.wanted == 0:
        return words + "."
    who = "pairs" if made.paired else "games an arm" if _repeats(made) else "episodes an arm"
    if made.needed is None:
        return words + f"; no feasible number of {who} would detect {made.wanted:.1f}."
    return words + f"; {made.needed:,} {who} would detect {made.wanted:.1f}."


def p_text(p: float) -> str:
    """p as a reader wants it: two digits, and no false zeros."""
    if p < 0.0001:
        return "p < 0.0001"
    return f"p = {p:.2f}" if p >= 0.095 else f"p = {float(f'{p:.2g}'):g}"
