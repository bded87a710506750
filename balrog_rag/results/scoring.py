"""Convert episodes to scores: progression and other measures, with intervals and detectable differences."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, isinf, isnan, nan
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from balrog_rag.contracts.kinds import Measure, kind_of
from balrog_rag.contracts.statistics import Statistic
from balrog_rag.results import user_statistics
from balrog_rag.results.episode_arrays import EpisodeArrays, arrays_of
from balrog_rag.results.episodes import Episode, as_sequence
from balrog_rag.results.statistics import prospects
from balrog_rag.results.statistics.estimate import Interval
from balrog_rag.results.statistics.interval import average_interval, mean_interval
from balrog_rag.results.statistics.order import LEAST
from balrog_rag.results.statistics.units import Bounds, Floats, Score, Scores, draws, keys_of, shared_worlds


class Scale(msgspec.Struct, frozen=True):
    """A quantity to compare episodes by: its value, unit and bounds."""

    name: str
    title: str
    unit: str
    of: Callable[[Episode], float] | None = None
    """Its value of one episode, unless `over` says it of many at once."""
    over: Callable[[EpisodeArrays], NDArray[Any]] | None = None
    bounds: Bounds = Bounds()
    kind: str = ""
    """The kind of game that counts it; empty if every episode has it."""
    drawn: bool = False
    """Whether reports draw it beside progression."""
    needs: str = ""
    """The data that a journal must contain for it; otherwise the value is NaN."""
    of_user: bool = False
    """Whether it is a statistic registered by the user."""


_COUNT = Bounds(0.0, float("inf"), rise=0.0, counted=True)
PROGRESSION = Scale("progression", "progression", "points", over=lambda arrays: arrays.percent)
REPORTED = "a client that reports its usage"
COMMON = (
    Scale("steps", "agent steps", "steps", over=lambda arrays: arrays.numbers("steps"), bounds=_COUNT),
    Scale("invalid", "invalid actions in 100 steps", "in 100 steps", over=lambda arrays: _invalid(arrays),
            bounds=Bounds(0.0, 100.0, rise=0.0)),
    Scale("tokens", "thousand tokens", "thousand tokens", over=lambda arrays: _tokens(arrays),
            bounds=_COUNT, needs=REPORTED),
    Scale("dollars", "dollars", "dollars", over=lambda arrays: _dollars(arrays), bounds=_COUNT,
            needs=REPORTED),
    Scale("seconds", "seconds waiting for answers and searches", "seconds",
            over=lambda arrays: arrays.seconds, bounds=_COUNT),
)  # fmt: skip
"""Measures of every episode, in any game."""


def _invalid(arrays: EpisodeArrays) -> Floats:
    steps = arrays.numbers("steps").astype(float)
    shares: Floats = np.where(steps > 0, 100 * arrays.numbers("invalid") / np.where(steps > 0, steps, 1), 0.0)
    return shares


def _tokens(arrays: EpisodeArrays) -> Floats:
    known: Floats = np.where(arrays.unseen, nan, (arrays.total("input") + arrays.total("output")) / 1000)
    return known


def _dollars(arrays: EpisodeArrays) -> Floats:
    unknown = arrays.unseen & (arrays.total("unpriced") > 0)
    known: Floats = np.where(unknown, nan, arrays.total("dollars"))
    return known


def figures_of(episodes: Sequence[Episode], measure: Scale) -> Floats:
    """The value of a measure for each of these episodes; NaN where its journal lacks it."""
    if measure.over is not None:
        return measure.over(arrays_of(episodes)).astype(float)
    assert measure.of is not None
    return np.array([measure.of(each) for each in episodes], dtype=float)


def measures_of(envs: Iterable[str]) -> list[Scale]:
    """Progression, measures of these kinds of game, common measures, and the user's statistics."""
    known = [*envs]
    ours = [
        PROGRESSION,
        *(_own(env, each) for env in known for each in kind_of(env).scoring.measures),
        *COMMON,
    ]
    taken = [each.name for each in ours]
    return [*ours, *(_of_user(each) for each in user_statistics.per_episode(known, taken))]


def _of_user(statistic: Statistic) -> Scale:
    # The bootstrap for bounded scores takes values from 0 up; Student's t makes no such demand.
    counted = statistic.counted or statistic.low < 0
    return Scale(
        statistic.name,
        statistic.title or statistic.name,
        statistic.unit,
        lambda episode: user_statistics.of_episode(statistic, episode),
        bounds=Bounds(statistic.low, statistic.high, rise=max(statistic.low, 0.0), counted=counted),
        needs="a figure for every episode",
        of_user=True,
    )


def _own(env: str, counted: Measure) -> Scale:
    bounds = _COUNT if counted.counted else Bounds(counted.low, counted.high, rise=counted.low)
    return Scale(
        counted.name,
        counted.title,
        counted.unit,
        over=lambda arrays: arrays.measured(counted),
        bounds=bounds,
        kind=env,
        drawn=counted.drawn and not counted.counted,
        needs=counted.needs,
    )


def count_lacking(episodes: Sequence[Episode], measure: Scale) -> int:
    """Count the episodes whose journals lack the measure."""
    return int(np.isnan(figures_of(episodes, measure)).sum()) if measure.needs else 0


def scores(episodes: Sequence[Episode], measure: Scale = PROGRESSION) -> Scores:
    """The episodes' scores with their games."""
    return Scores(figures_of(episodes, measure), as_sequence(episodes).draw_keys)


def bounds_by_env(envs: Sequence[str], measure: Scale = PROGRESSION) -> dict[str, Bounds]:
    """The bounds of the measure by kind of game."""
    if measure.name != PROGRESSION.name:
        return dict.fromkeys(envs, measure.bounds)
    kinds = [kind_of(env) for env in envs]
    return {kind.name: Bounds(binary=kind.scoring.solved_or_not, rise=kind.scoring.rise) for kind in kinds}


def interval(episodes: Sequence[Episode], measure: Scale = PROGRESSION) -> Interval:
    """The interval of the mean over episodes of one environment."""
    if not episodes or count_lacking(episodes, measure):
        return mean_interval([], measure.bounds)
    return interval_of(scores(episodes, measure), episodes[0].env, measure)


def interval_of(found: Sequence[Score], env: str, measure: Scale) -> Interval:
    """The interval of the mean of these scores, all of one environment."""
    return mean_interval(found, bounds_by_env([env], measure)[env])


def overall_interval(by_env: Mapping[str, Sequence[Episode]]) -> Interval:
    """The interval of BALROG's average over environments."""
    groups = [scores(episodes) for episodes in by_env.values()]
    return average_interval(groups, list(bounds_by_env(list(by_env)).values()))


class Outlook(msgspec.Struct, frozen=True):
    """What episodes of one environment show, and could show against another arm of the same size."""

    count: int
    """Independent draws: episodes, games or worlds."""
    things: str
    mean: float
    low: float = nan
    high: float = nan
    """The ends of the interval of the mean; NaN if conclusions are withheld."""
    blind: bool = False
    """Whether there are too few draws to compare with anything."""
    detects: float | None = None
    """The difference in points that another arm of this size would show; None if it cannot be planned."""
    condition: str = ""
    aim: float = 0.0
    """The difference that matters in this kind of game."""
    needed: int | None = None
    """Draws per arm that detect it."""
    aim_condition: str = ""
    note: str = ""

    @property
    def known(self) -> bool:
        """Whether the mean has an interval."""
        return not isnan(self.low)


def arm_outlook(episodes: Sequence[Episode], partial: str = "") -> Outlook:
    """Compute the outlook of these episodes; `partial` says why no conclusions may be drawn."""
    if partial:
        mean = float(np.mean(arrays_of(episodes).percent))
        return Outlook(len(episodes), "episodes", mean, note=f"{partial}; no interval: {NO_SAMPLE}.")
    found, (drawn, plays) = interval(episodes), draws(scores(episodes))
    count, mean = len(drawn), float(np.average(drawn, weights=plays))
    what = "episodes" if count == len(episodes) else "worlds" if shared_worlds(scores(episodes)) else "games"
    bounds = bounds_by_env([episodes[0].env])[episodes[0].env]
    least = prospects.detects(drawn, (count, count), bounds)
    note = one_game_note(episodes).strip()
    seen = Outlook(count, what, mean, found.low, found.high, note=note)
    if count < LEAST or bounds.most - bounds.least < least.gap < inf:
        return msgspec.structs.replace(seen, blind=True)
    if isinf(least.gap):
        return seen
    aim, size = kind_of(episodes[0].env).scoring.detect, prospects.REFERENCE
    reference = prospects.detects(drawn, (size, size), bounds)
    return msgspec.structs.replace(
        seen,
        detects=least.gap,
        condition=least.condition,
        aim=aim,
        needed=prospects.needed(aim, reference.gap, 1, LEAST),
        aim_condition=reference.condition,
    )


def outlook(episodes: Sequence[Episode], partial: str = "") -> str:
    """Summarise these episodes, and what they could show against another arm of the same size.

    `partial` is the note on missing episodes if no conclusions may be drawn.
    """
    if not episodes:
        return "no finished episode, no verdict."
    seen = arm_outlook(episodes, partial)
    if partial:
        return f"{partial}: {seen.mean:.2f} % of ended episodes, no interval: {NO_SAMPLE}."
    note, drawn = f" {seen.note}" if seen.note else "", _many(seen.count, seen.things)
    said = f"{drawn}: {seen.mean:.2f} % ({seen.low:.2f} to {seen.high:.2f})"
    if seen.blind:
        return f"{said}; too few {seen.things} to compare with anything.{note}"
    if seen.detects is None:
        return f"{said}; too little spread to estimate what such a run could detect.{note}"
    power = f"against another {drawn} it detects {seen.detects:.1f} points{seen.condition}"
    asked = (
        f"; {seen.needed:,} {seen.things} an arm would detect {seen.aim:g}{seen.aim_condition}"
        if seen.needed and seen.needed > seen.count
        else ""
    )
    return f"{said}; {power}{asked}.{note}"


NO_SAMPLE = "they are not a random sample of the run"


def one_game_note(episodes: Sequence[Episode]) -> str:
    """A warning if every episode played the same game."""
    played = scores(episodes)
    if keys_of(played).worlds == 1 and len(episodes) > 1:
        shared = "share one world" if shared_worlds(played) else "play one game"
        return f" All of them {shared}: results do not generalize to others."
    return ""


def _many(count: int, what: str) -> str:
    return f"{count} {what if count != 1 else what[:-1]}"
