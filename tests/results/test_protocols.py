"""Scores by other publications' protocols, and the parts of episodes, computed by hand."""

from math import sqrt
from statistics import stdev

import pytest

from balrog_rag.contracts.data import Reply, Usage
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.envs.nethack.protocols import challenge_score, netplay_score, paper_score
from balrog_rag.episode.journal import Completion, End, Lookup, Step
from balrog_rag.results.arms import load_arms
from balrog_rag.results.breakdown import (
    calls_by_purpose,
    killer,
    killer_counts,
    outcome_counts,
    retrieval_share,
)
from balrog_rag.results.report.details import protocol_section
from balrog_rag.results.runs import load

XP2, XP3 = 1.847840456172601, 2.081163581974356


def climb(level=1, depth=1, score=0):
    return [{"experience_level": level}, {"depth": depth}, {"score": score}]


@pytest.fixture
def run(builder):
    """Fifteen episodes: three batches of five with means of 0, 1.57 and 0.37 percent."""
    levels = [1] * 5 + [2, 3, 3, 2, 1] + [2, 1, 1, 1, 1]
    for number, level in enumerate(levels):
        builder.nethack(number, climb(level, 2 if number == 7 else 1, 10 * number), seed=73)
    return load(builder.path)


def test_the_papers_best_of_three_batches(run):
    score = paper_score([run.episodes])
    assert score.mean == pytest.approx(1.5716016152587824)
    assert score.standard_error == pytest.approx(0.3545055275952079)
    assert score.deviation == pytest.approx(0.3545055275952079 * sqrt(5))
    assert (score.max_depth, score.max_experience_level) == (2, 3)
    assert score.batch_means == pytest.approx((0, 1.5716016152587824, XP2 / 5))
    assert score.all_mean == pytest.approx(sum(score.batch_means) / 3)


def test_batches_may_lie_in_runs_of_their_own(run):
    thirds = [run.episodes[:5], run.episodes[5:10], run.episodes[10:]]
    assert paper_score(thirds) == paper_score([run.episodes])
    assert paper_score([run.episodes[:4]]) is None


def test_the_challenges_median_and_mean(run):
    score = challenge_score(run.episodes)
    assert (score.ascensions, score.median, score.mean) == (0, 70, 70)


def test_netplays_highest_values(builder):
    builder.nethack(0, [{"depth": 3, "score": 90}, {"depth": 2, "score": 80}])
    builder.nethack(1, [{"depth": 1, "score": 10}])
    score = netplay_score(load(builder.path).episodes)
    assert (score.score.mean, score.depth.mean) == (50, 2)
    assert score.score.deviation == pytest.approx(stdev([90, 10]))
    assert score.turns.mean == 15


def test_protocols_of_nethack_say_nothing_of_minihack(builder):
    builder.minihack("MiniHack-Corridor-R3-v0", 0, True)
    episodes = load(builder.path).episodes
    assert kind_of("minihack").scoring.rules == ()
    assert protocol_section(load_arms([builder.path])).tables == []
    assert [episode.env for episode in episodes] == ["minihack"]


@pytest.mark.parametrize(
    ("death", "by"),
    [
        ("killed by a newt", "newt"),
        ("killed by an invisible jackal, while fainted from lack of food", "jackal"),
        ("killed by the wrath of Anu", "wrath of Anu"),
        ("poisoned by a rotted gnome corpse", "poisoned by a rotted gnome corpse"),
        ("choked on a tripe ration", "choked on a tripe ration"),
    ],
)
def test_what_killed_an_episode(death, by):
    assert killer(death) == by


def test_ends_and_killers_are_counted(builder):
    for number, (outcome, death) in enumerate(
        [("died", "killed by a newt"), ("died", "killed by a newt, while praying"), ("steps", "")]
    ):
        builder.nethack(number, [{}], outcome=outcome, death=death)
    episodes = load(builder.path).episodes
    assert outcome_counts(episodes) == [("died", 2), ("steps", 1)]
    assert killer_counts(episodes) == [("newt", 2)]


def test_retrievals_share(builder):
    builder.nethack(0, [{}, {}, {}, {}])
    episodes = load(builder.path).episodes
    share = retrieval_share(episodes)
    assert (share.asked, share.hit, share.used, share.different) == (1.0, 0.75, 0.75, 0.5)
    assert share.call_share == pytest.approx(2 / 3)
    assert share.token_share == pytest.approx((103 + 320) / (103 + 320 + 1030))
    assert share.dollar_share == pytest.approx(2 / 3)
    assert calls_by_purpose(episodes)["act"].seconds == pytest.approx(1.2)


@pytest.mark.parametrize(("when", "share_of_calls"), [("asked", 1 / 3), ("every", 0.0)])
def test_a_second_answer_is_retrievals_where_the_model_asks_for_look_ups(new_run, when, share_of_calls):
    builder = new_run("run", retrieval={"enabled": True, "when": when})
    builder.write(
        "nle/NetHackChallenge-v0/00",
        [
            Completion(0, "act", "r1", Reply("LOOKUP newt", usage=Usage(100, 10), latency=0.5)),
            Lookup(0, "newt", 3, (), 0.25),
            Completion(0, "act", "r2", Reply("north", usage=Usage(200, 10), latency=0.5)),
            Step(0, "north", "north", "o", notes={"lookup": "no passages"}),
            Completion(1, "act", "r3", Reply("north", usage=Usage(100, 10), latency=0.5)),
            Step(1, "north", "north", "o"),
            End("died", 2, {}, 99.0),
        ],
    )
    (episode,) = load(builder.path).episodes
    share = retrieval_share([episode])
    assert share.call_share == pytest.approx(share_of_calls)
    assert share.token_share == pytest.approx(210 / 430 if share_of_calls else 0.0)
    assert episode.seconds == 1.75  # what was waited for, not the last attempt's wall time


def test_without_retrieval_there_is_no_share(builder):
    builder.minihack("MiniHack-Corridor-R3-v0", 0, True)
    assert retrieval_share(load(builder.path).episodes) is None
