"""An episode's derived figures: names, measures, totals, and the classification of ends."""

from math import isnan

import pytest

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.kinds import Measure
from balrog_rag.contracts.outcome import PLAYER_LOST, RESUMABLE, Outcome
from balrog_rag.results.episodes import (
    ENDED_BY_GAME,
    ENDED_BY_ITSELF,
    Calls,
    Episode,
    Lookups,
    agent_name,
    answering,
    any_asked,
)


def episode(name="nle/NetHackChallenge-v0/00", **fields):
    env, _, task = name.rpartition("/")[0].partition("/")
    fields = {"agent": {"name": "cot"}, "model": {"name": "m"}, "knowledge": {}} | fields
    return Episode(name, GameSpec(env, task, Seeds(1, 2)), spec_digest="s", config_digest="c", **fields)


@pytest.mark.parametrize(
    ("name", "env", "task", "number"),
    [
        ("nle/NetHackChallenge-v0/00", "nle", "NetHackChallenge-v0", "00"),
        ("babyai/BabyAI-MixedTrainLocal-v0/goto/07", "babyai", "BabyAI-MixedTrainLocal-v0/goto", "07"),
        ("babaisai/env/two_room-maybe_break/123", "babaisai", "env/two_room-maybe_break", "123"),
    ],
)
def test_a_task_may_have_slashes_and_the_number_is_what_follows_the_last(name, env, task, number):
    made = episode(name)
    assert (made.env, made.task, made.number) == (env, task, number)


@pytest.mark.parametrize(
    ("agent", "shown"),
    [
        ({"name": "cot"}, "cot"),
        ({"name": "cot", "retrieval": {"enabled": True}}, "cot_rag"),
        ({"name": "cot", "retrieval": {"enabled": False, "k": 3}}, "cot"),
        ({"name": "cot", "retrieval": {}}, "cot"),
        ({"name": "cot", "retrieval": None}, "cot"),
        ({"name": "cot", "retrieval": "enabled"}, "cot"),
        ({}, "?"),
        ({"retrieval": {"enabled": True}}, "?_rag"),
    ],
)
def test_an_agent_with_retrieval_on_has_rag_in_its_name(agent, shown):
    assert agent_name(agent) == shown == episode(agent=agent).agent_name


def test_every_outcome_is_the_games_own_a_limit_or_a_failed_player_and_never_two_of_these():
    limits = {Outcome.STEPS, *RESUMABLE}
    assert set(Outcome) == ENDED_BY_GAME | limits | PLAYER_LOST | {Outcome.GIVEN_UP}
    assert not ENDED_BY_GAME & limits
    assert not ENDED_BY_GAME & PLAYER_LOST
    # too many presses without a turn is the environment's rule, and the hero could have lived on
    assert {Outcome.NO_PROGRESS} == ENDED_BY_GAME - ENDED_BY_ITSELF


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (Measure("depth", "", "", "depth"), 4.0),
        (Measure("depth", "", "", "depth", "last"), 2.0),
        (Measure("gold", "", "", "gold"), 0.0),
        (Measure("held", "", "", follow=list), 7.5),
        (Measure("unknown", "", "", follow=list), None),
        (Measure("lacking", "", "", follow=list), None),
    ],
)
def test_a_measure_is_the_highest_value_or_the_last_or_counted_and_unknown_is_not_zero(measure, value):
    made = episode(last={"depth": 2}, most={"depth": 4}, followed={"held": 7.5, "unknown": None})
    found = made.measured(measure)
    assert isnan(found) if value is None else found == value


def test_a_program_has_no_model_whatever_is_configured():
    assert episode().asked_model == {}
    asked = episode(calls={"act": Calls(count=1)})
    assert asked.asked_model == {"name": "m"}
    assert (episode(model={}).model_name, asked.model_name) == ("?", "m")
    assert not any_asked([episode(), episode()])
    assert any_asked([episode(), asked])
    assert not any_asked([])


def test_answering_models_are_listed_once_in_order_of_their_names():
    assert answering([episode(answered_by=["b", "a"]), episode(), episode(answered_by=["a", "c"])]) == [
        "a",
        "b",
        "c",
    ]
    assert answering([]) == []


def test_totals_add_every_field():
    first, second = (Calls(*range(start, start + 13)) for start in (1, 100))
    first.add(second)
    assert [getattr(first, name) for name in Calls.__struct_fields__] == [101 + 2 * n for n in range(13)]


def test_waiting_is_for_answers_and_searches():
    made = episode(
        calls={"act": Calls(seconds=2.0), "query": Calls(seconds=0.5)}, lookups=Lookups(seconds=0.25)
    )
    assert made.seconds == 2.75


def test_look_ups_add_up_by_word_and_used_are_those_whose_text_was_in_the_prompt():
    first = Lookups(1, 1, 3, 1, 1, 0.5, {"fresh": 2, "no label": 1})
    first.add(Lookups(2, 0, 0, 2, 1, 0.25, {"kept": 4, "reused": 1, "no label": 5}))
    assert (first.count, first.hits, first.passages, first.queries, first.steps, first.seconds) == (
        3,
        1,
        3,
        3,
        2,
        0.75,
    )
    assert first.ends == {"fresh": 2, "no label": 6, "kept": 4, "reused": 1}
    assert first.used == 7
    assert Lookups().used == 0


def test_each_list_of_look_ups_is_its_own():
    one, other = Lookups(), Lookups()
    one.add(Lookups(ends={"fresh": 1}))
    assert other.ends == {}


@pytest.mark.parametrize(
    ("outcome", "death", "cause", "preventable"),
    [
        ("died", "killed by a newt", "other", False),
        ("died", "starved to death", "hunger", True),
        ("died", "", "other", False),
        ("escaped", "", "left the dungeon", True),
        ("steps", "starved to death", "", False),
        ("ascended", "", "", False),
    ],
)
def test_the_cause_of_an_end_is_its_kinds_and_so_is_what_was_preventable(outcome, death, cause, preventable):
    made = episode(outcome=outcome, facts={"death": death})
    assert (made.ended_by, made.cause, made.preventable) == (death, cause, preventable)


def test_games_are_told_apart_by_seeds_and_options_and_only_shared_worlds_have_names():
    plain, other = episode(), episode("minihack/MiniHack-Room-5x5-v0/00")
    assert plain.world_name == other.world_name == ""
    assert plain.game_name == "1/2/None/" + plain.game_name.rpartition("/")[2]
    assert other.game_name.startswith("1/2/None/")
