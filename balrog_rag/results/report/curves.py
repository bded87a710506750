"""Curves over the course of episodes: mean progression; survival and height over game time."""

from collections.abc import Sequence

from balrog_rag.contracts.kinds import Timeline
from balrog_rag.results.episodes import Episode

CORNERS = 400
"""Maximum points of a curve."""


def mean_curve(episodes: Sequence[Episode], against: str) -> list[tuple[float, float]]:
    """Corners of the curve of mean progression in percent over `step`, `tokens` or `dollars`.

    An ended episode keeps its last value, so the mean is always over all episodes.
    """
    if not episodes:
        return []
    rises: list[tuple[float, float]] = []
    longest = 0.0
    for episode in episodes:
        before = 0.0
        for point in episode.curve:
            place = float(getattr(point, against))
            rises.append((place, point.progression - before))
            before, longest = point.progression, max(longest, place)
    return _thinned(_added_up(sorted(rises), len(episodes), longest))


def _added_up(rises: Sequence[tuple[float, float]], count: int, longest: float) -> list[tuple[float, float]]:
    corners, height = [(0.0, 0.0)], 0.0
    for place, rise in rises:
        height += rise
        corners.append((place, 100 * height / count))
    return [*corners, (longest, corners[-1][1])]


def _thinned(corners: list[tuple[float, float]]) -> list[tuple[float, float]]:
    every = -(-len(corners) // (CORNERS - 1))
    return [*corners[:-1:every], corners[-1]]


def survival_curve(episodes: Sequence[Episode], timeline: Timeline) -> list[tuple[float, float]]:
    """The share of games alive over game time, in percent (Kaplan-Meier estimate).

    A game that a limit ended is censored: it is known to be alive up to that moment only.
    """
    ends = sorted((e.course[-1][0], e.outcome not in timeline.deaths) for e in episodes if e.course)
    alive, share, corners = len(ends), 1.0, [(0.0, 100.0)]
    for moment, only_seen in ends:
        if not only_seen:
            share *= 1 - 1 / alive
            corners.append((float(moment), 100 * share))
        alive -= 1
    return _thinned([*corners, (float(ends[-1][0]), 100 * share)]) if ends else []


def height_curve(episodes: Sequence[Episode]) -> list[tuple[float, float]]:
    """The mean height reached over game time; dead heroes keep their last value."""
    courses = [episode.course for episode in episodes if episode.course]
    rises = sorted(
        (float(moment), float(height - before))
        for course in courses
        for (moment, height), (_, before) in zip(course, [(0, 0), *course], strict=False)
    )
    reached, corners = 0.0, []
    for moment, rise in rises:
        reached += rise
        corners.append((moment, reached / len(courses)))
    return _thinned(corners) if corners else []
