"""Counts of ends and killers, and of uses of retrieval: zero of zero, ties, unknown prices."""

import pytest

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.results.breakdown import (
    RetrievalShare,
    calls_by_purpose,
    cause_counts,
    killer,
    killer_counts,
    never_searched,
    outcome_counts,
    preventable_against,
    retrieval_share,
)
from balrog_rag.results.episodes import Calls, Episode, Lookups

PLAIN, UNPRICED = Calls(3, 30, dollars=3.0), Calls(2, 10, unpriced=2)
RAG = {"name": "cot", "retrieval": {"enabled": True}}


def episode(outcome="died", death="", env="nle", agent=None, **fields):
    game = GameSpec(env, "T", Seeds(1, 2))
    facts = {"death": death} if death else {}
    return Episode(
        f"{env}/T/00", game, agent or RAG, {"name": "m"}, {}, "s", "c", outcome=outcome, facts=facts, **fields
    )


def test_the_most_frequent_end_is_first_and_equals_are_in_order_of_their_names():
    outcomes = ["steps", "died", "tokens", "died", "steps", "failed"]
    assert outcome_counts([episode(outcome) for outcome in outcomes]) == [
        ("died", 2),
        ("steps", 2),
        ("failed", 1),
        ("tokens", 1),
    ]
    assert outcome_counts([]) == killer_counts([]) == cause_counts([]) == []


@pytest.mark.parametrize(
    ("death", "name"),
    [
        ("killed by a newt", "newt"),
        ("killed by an invisible jackal, while fainted", "jackal"),
        ("killed by the wrath of Anhur", "wrath of Anhur"),
        ("Killed by Asidonhopo, the shopkeeper", "Asidonhopo, the shopkeeper"),
        ("killed by invisible Asidonhopo", "Asidonhopo"),
        ("killed by anhydrous spirits", "anhydrous spirits"),
        ("poisoned by a rotted newt corpse", "poisoned by a rotted newt corpse"),
        ("starved to death", "starved to death"),
        ("killed by a theft-prone nymph, while being held", "theft-prone nymph"),
        ("", ""),
    ],
)
def test_a_killer_has_no_article_and_no_circumstances(death, name):
    assert killer(death) == name


def test_only_deaths_have_killers_and_one_killer_is_counted_once_however_it_is_told():
    told = ["killed by a newt", "killed by an invisible newt", "killed by a newt, while praying", "", "quit"]
    found = killer_counts([episode(death=death) for death in told])
    assert found == [("newt", 3), ("quit", 1)]


def test_classes_of_ends_leave_out_games_that_nothing_ended():
    ends = [episode(death="starved to death"), episode(death="killed by a newt"), episode("steps"),
            episode("escaped")]  # fmt: skip
    assert cause_counts(ends) == [("hunger", 1), ("left the dungeon", 1), ("other", 1)]


def test_preventable_ends_are_compared_only_where_both_arms_have_a_kind_that_defines_them():
    nethack, babyai = [episode(death="starved to death")], [episode("failed", env="babyai")]
    assert preventable_against(nethack, babyai) is None
    assert preventable_against(babyai, nethack) is None
    assert preventable_against([], nethack) is None
    mixed = preventable_against([*nethack, *babyai], nethack)
    assert (mixed.ours, mixed.our_count, mixed.theirs, mixed.their_count) == (1, 1, 1, 1)


@pytest.mark.parametrize(
    ("outcome", "cut"),
    [("steps", 1), ("no_progress", 1), ("crashed", 1), ("died", 0), ("quit", 0), ("ascended", 0)],
)
def test_a_game_that_could_have_gone_on_counts_only_for_as_long_as_it_lasted(outcome, cut):
    ended = [episode(death="killed by a newt", most={"turn": 100}) for _ in range(3)]
    found = preventable_against([episode(outcome, most={"turn": 50}), *ended], ended)
    assert (found.our_cut, found.their_cut) == (cut, 0)
    assert found.test == ("log-rank" if cut else "Boschloo")


def test_calls_are_summed_by_purpose_in_order_and_episodes_keep_their_own():
    first = episode(calls={"query": Calls(1, 10), "act": Calls(2, 20)})
    second = episode(calls={"act": Calls(3, 30)})
    found = calls_by_purpose([first, second])
    assert [(purpose, calls.count, calls.input) for purpose, calls in found.items()] == [
        ("act", 5, 50),
        ("query", 1, 10),
    ]
    assert first.calls["act"].count == 2
    assert calls_by_purpose([]) == {}


def test_shares_of_nothing_are_zero():
    share = RetrievalShare(0, Lookups(), 0.0, 0.0, None)
    assert (share.asked, share.hit, share.used, share.different) == (0.0, 0.0, 0.0, 0.0)


def test_shares_are_of_steps_or_of_searches():
    lookups = Lookups(count=8, hits=6, queries=4, steps=5, ends={"fresh": 3, "kept": 2, "no passages": 2})
    share = RetrievalShare(10, lookups, 0.0, 0.0, None)
    assert (share.asked, share.hit, share.used, share.different) == (0.5, 0.75, 0.5, 0.5)


@pytest.mark.parametrize(
    ("calls", "again", "of_calls", "of_tokens", "of_dollars", "free"),
    [
        ({"act": PLAIN, "query": Calls(1, 5, 5, dollars=1.0)}, Calls(), 0.25, 0.25, 0.25, False),
        (dict.fromkeys(("act", "summary", "rerank", "other"), Calls(1)), Calls(), 0.5, 0.0, None, True),
        ({"act": Calls(4, 40)}, Calls(1, 10), 0.25, 0.25, None, True),
        ({"act": UNPRICED, "query": UNPRICED}, Calls(), 0.5, 0.5, None, False),
        ({}, Calls(), 0.0, 0.0, None, True),
    ],
)
def test_retrievals_share_of_the_costs(calls, again, of_calls, of_tokens, of_dollars, free):
    made = episode(calls=calls, asked_again=again, lookups=Lookups(count=1), steps=4)
    share = retrieval_share([made])
    assert (share.call_share, share.token_share, share.dollar_share, share.free) == (
        of_calls,
        of_tokens,
        of_dollars,
        free,
    )


def test_due_look_ups_that_never_became_searches_are_use_of_retrieval_too():
    assert retrieval_share([episode()]) is None
    assert retrieval_share([]) is None
    assert retrieval_share([episode(lookups=Lookups(ends={"no label": 2}))]).lookups.used == 0


@pytest.mark.parametrize(
    ("episodes", "said"),
    [
        ([], ""),
        ([{"steps": 4}], "no step of 4 asked for it"),
        ([{"steps": 0}], ""),
        ([{"steps": 4, "agent": {"name": "cot"}}], ""),
        ([{"steps": 4, "agent": {"name": "cot", "retrieval": {"enabled": False}}}], ""),
        ([{"steps": 4, "agent": {"name": "cot", "retrieval": None}}], ""),
        ([{"steps": 4, "lookups": Lookups(count=1)}], ""),
        ([{"steps": 4}, {"steps": 1000, "lookups": Lookups(count=1)}], ""),
        (
            [{"steps": 1500, "lookups": Lookups(ends={"b": 2, "a": 2, "c": 3})}, {"steps": 1}],
            "7 of 7 look-ups had no query to search for (c 3, a 2, b 2)",
        ),
    ],
)
def test_the_warning_that_retrieval_never_searched(episodes, said):
    found = never_searched([episode(**fields) for fields in episodes])
    assert found == (f"retrieval never searched: {said}; these are scores without retrieval" if said else "")
