"""Contrasts of an experiment's arms: paired by game, and never more certain than their games allow."""

import pytest

from balrog_rag.results.contrasts import contrast_results
from balrog_rag.results.experiments import Experiment, ExperimentContrast, find
from balrog_rag.results.runs import load

ARMS = ("original", "original_retrieval", "renamed", "renamed_retrieval")


@pytest.fixture
def results(new_run):
    """The contrasts of the built-in experiment, given each arm's experience levels by game."""

    def found(**levels):
        runs = {}
        for name in ARMS:
            run = new_run(name, agent=name)
            for number, level in enumerate(levels[name]):
                run.nethack(number, [{"experience_level": level}])
            runs[name] = load(run.path).episodes
        return {each.name: each for each in contrast_results(find("remembered"), runs)}

    return found


def test_equal_games_leave_doubt(results):
    few = results(**dict.fromkeys(ARMS, (1, 1, 1)))
    many = results(**dict.fromkeys(ARMS, (1,) * 40))
    for name, contrast in few.items():
        assert contrast.difference == 0
        assert contrast.interval.low < -0.5 < 0.5 < contrast.interval.high, name
        assert 0 < many[name].interval.high < contrast.interval.high
    # A sum of two arms can be twice as far off as one arm.
    assert few["interaction"].interval.high == pytest.approx(2 * few["read"].interval.high, rel=0.01)


def test_an_interaction_is_what_both_differences_differ_by(results):
    read, not_read = [1, 1, 2, 2] * 5, [6, 6, 7, 7] * 5
    found = results(original=not_read, original_retrieval=not_read, renamed=read, renamed_retrieval=not_read)
    assert found["interaction"].difference == pytest.approx(found["read"].difference)
    assert found["remembered"].difference == pytest.approx(found["read"].difference)
    assert found["read"].interval.low > 0
    assert found["read"].line.startswith(f"read: {found['read'].difference:+.2f} points (")


def test_games_count_only_if_they_ended_in_every_arm(new_run):
    one, other = new_run("a", agent="a"), new_run("b", agent="b")
    for number in range(5):
        one.nethack(number, [{"experience_level": 3}])
    for number in range(3, 9):
        other.nethack(number, [{"experience_level": 1}])
    contrast = ExperimentContrast("a minus b", ("a",), ("b",))
    contrasts = {"c": contrast, "absent": ExperimentContrast("", ("a",), ("z",))}
    described = Experiment("e", "", "", contrasts=contrasts)
    (found,) = contrast_results(described, {"a": load(one.path).episodes, "b": load(other.path).episodes})
    assert (found.name, found.games) == ("c", 2)
