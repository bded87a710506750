"""Curves over the course of episodes, computed by hand."""

import pytest

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.kinds import Timeline
from balrog_rag.results.episodes import Episode, Point
from balrog_rag.results.report.curves import CORNERS, height_curve, mean_curve, survival_curve

LINE = Timeline("turn", "depth", "turn", "depth", ("died", "escaped"))


def episode(curve=(), course=(), outcome="died"):
    points = [Point(*point) for point in curve]
    return Episode(
        "nle/T/00", GameSpec("nle", "T", Seeds(1, 2)), {}, {}, {}, "s", "c",
        outcome=outcome, curve=points, course=list(course),
    )  # fmt: skip


def test_the_mean_is_over_all_episodes_also_those_that_have_ended():
    short = episode([(2, 20, 0.2, 0.5), (3, 30, 0.3, 0.5)])
    long = episode([(4, 40, 0.4, 0.25), (8, 80, 0.8, 0.75), (10, 100, 1.0, 0.75)])
    assert mean_curve([short, long], "step") == [
        (0.0, 0.0), (2.0, 25.0), (3.0, 25.0), (4.0, 37.5), (8.0, 62.5), (10.0, 62.5), (10.0, 62.5),
    ]  # fmt: skip
    assert mean_curve([short, long], "tokens")[-1] == (100.0, 62.5)
    assert mean_curve([short, long], "dollars")[1] == (0.2, 25.0)


def test_a_progression_that_the_end_took_away_falls():
    assert mean_curve([episode([(2, 0, 0.0, 0.5), (3, 0, 0.0, 0.0)])], "step")[-2:] == [
        (3.0, 0.0),
        (3.0, 0.0),
    ]


@pytest.mark.parametrize("episodes", [[], [episode()], [episode(outcome="steps")]])
def test_of_no_course_there_is_no_curve(episodes):
    assert survival_curve(episodes, LINE) == []
    assert height_curve(episodes) == []
    assert mean_curve(episodes, "step") == [(0.0, 0.0)] * 2 * len(episodes)


@pytest.mark.parametrize(
    ("ends", "curve"),
    [
        ([(10, "died")], [(0.0, 100.0), (10.0, 0.0)]),
        ([(10, "steps")], [(0.0, 100.0)]),
        ([(10, "escaped"), (20, "steps")], [(0.0, 100.0), (10.0, 50.0)]),
        # a game that was cut off counts as alive up to that turn, and then no longer
        ([(10, "steps"), (20, "died")], [(0.0, 100.0), (20.0, 0.0)]),
        # of a death and a cut-off in one turn the death is first
        ([(10, "steps"), (10, "died")], [(0.0, 100.0), (10.0, 50.0)]),
        ([(5, "died"), (5, "died"), (9, "died"), (9, "quit")],
         [(0.0, 100.0), (5.0, 75.0), (5.0, 50.0), (9.0, 25.0)]),
    ],
)  # fmt: skip
def test_the_share_alive_is_kaplan_and_meiers(ends, curve):
    found = survival_curve([episode(course=[(turn, 1)], outcome=outcome) for turn, outcome in ends], LINE)
    drawn_to = float(max(turn for turn, _ in ends))
    assert found == [pytest.approx(point) for point in [*curve, (drawn_to, curve[-1][1])]]


def test_the_mean_height_keeps_the_last_value_of_the_dead():
    short, long = episode(course=[(1, 1), (10, 3), (12, 3)]), episode(course=[(1, 1), (20, 5)])
    assert height_curve([short, long, episode()]) == [
        (1.0, 0.5), (1.0, 1.0), (10.0, 2.0), (12.0, 2.0), (20.0, 4.0),
    ]  # fmt: skip


@pytest.mark.parametrize("count", [1, 398, 399, 400, 700, 5000])
def test_a_curve_has_so_many_points_at_most_and_ends_where_it_ended(count):
    points = [(n, n, 0.0, n / count) for n in range(1, count + 1)]
    found = mean_curve([episode(points)], "step")
    assert len(found) <= CORNERS
    assert found[0] == (0.0, 0.0)
    assert found[-1] == (count, pytest.approx(100.0))
