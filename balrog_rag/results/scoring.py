"""From episodes to scores: progression and the other measures, with intervals and what they can show."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite

import msgspec
import numpy as np

from balrog_rag.results.episodes import Episode
from balrog_rag.results.statistics import design
from balrog_rag.results.statistics.interval import Interval, average_interval, mean_interval
from balrog_rag.results.statistics.units import NO_SPREAD, Bounds, Score, independent, values

PLANNED_FOR = 0.4
"""Points of progression that a plan for NetHack is shown for: about a gap between neighbours in rank."""


class Measure(msgspec.Struct, frozen=True):
    """Something counted of every episode."""

    name: str
    title: str
    unit: str
    of: Callable[[Episode], float]
    bounds: Bounds = Bounds()
    nethack_only: bool = False


_COUNT = Bounds(0.0, float("inf"), rise=0.0)
PROGRESSION = Measure("progression", "progression", "points", lambda episode: episode.percent)
MEASURES = (
    PROGRESSION,
    Measure("depth", "deepest dungeon level", "levels", lambda e: e.max_depth,
            Bounds(1.0, 50.0, rise=1.0), nethack_only=True),
    Measure("experience", "highest experience level", "levels", lambda e: e.max_experience_level,
            Bounds(1.0, 30.0, rise=1.0), nethack_only=True),
    Measure("score", "in-game score", "score points", lambda e: e.score, _COUNT, True),
    Measure("turns", "turns survived", "turns", lambda e: e.turns, _COUNT, True),
    Measure("steps", "agent steps", "steps", lambda e: e.steps, _COUNT),
    Measure("invalid", "invalid actions in 100 steps", "in 100 steps",
            lambda e: 100 * e.invalid / e.steps if e.steps else 0.0, Bounds(0.0, 100.0, rise=0.0)),
    Measure("tokens", "thousand tokens", "thousand tokens",
            lambda e: (e.total.input + e.total.output) / 1000, _COUNT),
    Measure("dollars", "dollars", "dollars", lambda e: e.total.dollars, _COUNT),
    Measure("seconds", "seconds waiting for answers and searches", "seconds", lambda e: e.seconds, _COUNT),
)  # fmt: skip


def scores(episodes: Sequence[Episode], measure: Measure = PROGRESSION) -> list[Score]:
    """The episodes' scores with the games they were played in."""
    return [
        Score(float(measure.of(episode)), episode.env, episode.task, episode.game_name)
        for episode in episodes
    ]


def bounds_by_env(envs: Sequence[str], measure: Measure = PROGRESSION) -> dict[str, Bounds]:
    """What the measure's values can be: NetHack's progression has rungs, other tasks are solved or not."""
    solved = Bounds(0.0, 100.0, binary=True)
    return {
        env: solved if measure.name == PROGRESSION.name and env != "nle" else measure.bounds for env in envs
    }


def interval(episodes: Sequence[Episode], measure: Measure = PROGRESSION) -> Interval:
    """The interval of the mean over episodes of one environment."""
    if not episodes:
        return mean_interval([], measure.bounds)
    return mean_interval(
        scores(episodes, measure), bounds_by_env([episodes[0].env], measure)[episodes[0].env]
    )


def overall_interval(by_env: Mapping[str, Sequence[Episode]]) -> Interval:
    """The interval of BALROG's average over environments."""
    groups = [scores(episodes) for episodes in by_env.values()]
    return average_interval(groups, list(bounds_by_env(list(by_env)).values()))


def outlook(episodes: Sequence[Episode]) -> str:
    """What these episodes say of themselves, and what they could show against another arm as large."""
    if not episodes:
        return "no finished episode, no verdict."
    drawn = independent(scores(episodes))
    found, count = interval(episodes), len(drawn)
    what = "games" if count < len(episodes) else "episodes"
    said = f"{_many(count, what)}: {values(drawn).mean():.2f} % ({found.low:.2f} to {found.high:.2f})"
    spread = float(np.std(values(drawn), ddof=1)) if count > 1 else 0.0
    if spread < NO_SPREAD:
        return f"{said}; too little spread seen to say what such a run could detect."
    least = design.detectable(spread, count, count)
    aim = PLANNED_FOR if episodes[0].env == "nle" else 10.0
    needed = design.episodes_needed(aim, spread)
    told = f"; against another {_many(count, what)} it detects {least:.1f} points" if isfinite(least) else ""
    more = f"; {needed:,} {what} an arm would detect {aim:g}" if needed and needed > count else ""
    return f"{said}{told}{more}.{one_game_note(episodes)}"


def one_game_note(episodes: Sequence[Episode]) -> str:
    """A warning where every episode played the same game."""
    games = {(episode.env, episode.task, episode.game_name) for episode in episodes}
    if len(games) == 1 and len(episodes) > 1:
        return " All of them play one game: this says nothing about others."
    return ""


def _many(count: int, what: str) -> str:
    return f"{count} {what if count != 1 else what[:-1]}"
