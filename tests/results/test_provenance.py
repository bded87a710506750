"""What run.json says about a run in any state: unknown facts are reported as unknown."""

import msgspec
import pytest

from balrog_rag.contracts.data import Reply, Usage
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.arms import load_arms
from balrog_rag.results.asked_again import AskedAgain, Counterfactual, StepCost, keep, kept, sample
from balrog_rag.results.comparing import duel
from balrog_rag.results.looks import LOOKS, MOST, Look, noted
from balrog_rag.results.recorded_provenance import (
    contradiction,
    contradictions,
    different_packages,
    origin,
    packages,
)
from balrog_rag.results.run_folder import journals, write_json
from balrog_rag.results.run_seal import mark
from balrog_rag.results.runs import load
from balrog_rag.results.statistics.verdict import compare
from balrog_rag.results.sweeps import read

VERSIONS = {"balrog_rag": "0"}


def attempt(**fields):
    return {"started": "2026-11-21T10:00:00Z", "versions": VERSIONS, "prompts": {"a": "1"}} | fields


@pytest.mark.parametrize(
    ("content", "versions"),
    [
        (None, "unknown"),
        (b"{", "unknown"),
        (b"\xff", "unknown"),
        (b'{"attempts": [{"versions": {"numpy": 2}}]}', "unknown"),
        (b'{"attempts": []}', "unknown"),
        (b"{}", "unknown"),
        (b'{"attempts": [{}]}', ""),
    ],
)
def test_where_run_json_says_nothing_the_origin_is_unknown(tmp_path, content, versions):
    if content is not None:
        (tmp_path / "run.json").write_bytes(content)
    found = origin(tmp_path)
    assert (found.started, found.versions, found.caps) == ("unknown", versions, ())
    assert packages(tmp_path) == {}
    assert found.attempts == (content == b'{"attempts": [{}]}')


def test_a_run_json_that_cannot_be_read_is_told_apart_from_a_missing_one(tmp_path):
    (tmp_path / "run.json").mkdir()
    assert origin(tmp_path).versions.startswith("unknown (run.json: ")
    assert packages(tmp_path) == {}


def test_a_run_that_was_resumed_under_other_versions_has_both(tmp_path):
    attempts = [
        attempt(versions={"numpy": "1", "nle": "1.2"}, caps={"tokens": 5}),
        attempt(started="2026-11-22", versions={"numpy": "2", "nle": "1.2"}, prompts={"a": "2"}),
        attempt(caps={"tokens": None}),
    ]
    write_json(tmp_path / "run.json", {"attempts": attempts})
    found = origin(tmp_path)
    assert found.started == "2026-11-21T10:00:00Z"
    assert found.versions == "balrog_rag 0, nle 1.2, numpy 1, numpy 2"
    assert found.prompts.count(",") == 1, "two sets of prompts, the third attempt had the first's"
    assert (found.attempts, found.caps) == (3, ({"tokens": 5}, {"tokens": None}))
    assert packages(tmp_path) == {"numpy": {"1", "2"}, "nle": {"1.2"}, "balrog_rag": {"0"}}


@pytest.mark.parametrize(
    ("ours", "theirs", "told"),
    [
        ([{"numpy": "1"}], [{"numpy": "1"}], []),
        ([{"numpy": "1"}], [{"numpy": "2"}], ["numpy 1 against 2"]),
        ([{"numpy": "1", "nle": "3"}], [{"numpy": "1"}], ["nle 3 against none"]),
        ([{"numpy": "1"}, {"numpy": "2"}], [{"numpy": "2"}], ["numpy 1, 2 against 2"]),
        ([{"numpy": "1"}], [None], []),
        ([None], [{"numpy": "1"}], []),
        ([{"b": "1", "a": "1"}], [{"b": "2", "a": "2"}], ["a 1 against 2", "b 1 against 2"]),
    ],
)
def test_packages_differ_between_arms_only_where_both_have_recorded_theirs(tmp_path, ours, theirs, told):
    folders = []
    for place, versions in enumerate([*ours, *theirs]):
        folders.append(tmp_path / str(place))
        if versions is not None:
            write_json(folders[-1] / "run.json", {"attempts": [{"versions": versions}]})
    assert different_packages(folders[: len(ours)], folders[len(ours) :]) == told


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"attempts": [attempt()]}, ""),
        ({"attempts": [attempt(versions={"x": "1"}), attempt()]}, ""),
        ({"attempts": [attempt(versions=VERSIONS | {"x": "1"})]}, "no attempt has the package versions"),
        ({"attempts": []}, "no attempt has the package versions"),
        ([], "damaged"),
        (None, "cannot be read"),
    ],
)
def test_versions_of_journals_must_be_those_of_an_attempt(tmp_path, content, said):
    if content is not None:
        write_json(tmp_path / "run.json", content)
    found = contradiction(tmp_path, VERSIONS)
    assert said in found
    assert bool(found) == bool(said)


def test_a_contradiction_is_told_once_per_run_and_damaged_journals_are_told_by_others(new_run):
    good, bad = new_run("good"), new_run("bad")
    for run in (good, bad):
        for number in range(3):
            run.nethack(number, [{}])
    write_json(good.path / "run.json", {"attempts": [attempt()]})
    write_json(bad.path / "run.json", {"attempts": [attempt(versions={})]})
    bad.journal("nle/NetHackChallenge-v0/00").write_bytes(b"nonsense\n")
    found = contradictions([*journals(good.path), *journals(bad.path)])
    assert [line.partition(":")[0] for line in found] == [str(bad.path / "run.json")]
    assert contradictions([]) == []


@pytest.mark.parametrize(
    ("words", "experiment"),
    [
        ([], ""),
        (["model=scripted"], ""),
        (["+experiment=paper_table1"], "paper_table1"),
        (["experiment=a", "++experiment=b"], "b"),
        (["run.experiment=a"], ""),
    ],
)
def test_a_sweep_is_of_the_experiment_that_was_named_last(tmp_path, words, experiment):
    write_json(tmp_path / "sweep.json", {"words": words, "runs": [{"name": "r"}]})
    assert read(tmp_path).experiment == experiment
    assert read(tmp_path / "nowhere").runs == []


def reply(cost, tokens=(10, 5), latency=1.0):
    return Reply("north", usage=Usage(*tokens), cost=cost, latency=latency)


def test_a_price_that_is_unknown_once_is_unknown_in_the_sum_and_in_the_difference():
    priced = StepCost().plus(reply(0.5)).plus(reply(0.25))
    unpriced = StepCost().plus(reply(0.5)).plus(reply(None)).plus(reply(0.25))
    assert (priced.tokens, priced.dollars, priced.seconds) == (30, 0.75, 2.0)
    assert (unpriced.tokens, unpriced.dollars) == (45, None)
    assert priced.less(StepCost(10, 0.25, 0.5)) == StepCost(20, 0.5, 1.5)
    assert unpriced.less(priced).dollars is priced.less(unpriced).dollars is None


@pytest.mark.parametrize(
    ("without", "again", "differs"), [("a", "a", False), ("b", "a", True), ("a", "b", True), ("b", "b", True)]
)
def test_a_step_differs_if_either_answer_does(without, again, differs):
    assert AskedAgain("e", 3, "a", without, again).differs == differs


@pytest.mark.parametrize(
    "content", [None, b"{", b"\xff", b'{"asked": [{"episode": "e"}]}', b'{"asked": "x"}', b'{"asked": []}']
)
def test_a_record_of_asking_again_that_is_damaged_or_empty_is_none(tmp_path, content):
    """Anybody may have written it: a report on the run is made without it."""
    if content is not None:
        (tmp_path / "counterfactual.json").write_bytes(content)
    assert kept(tmp_path) is None


def test_a_record_of_asking_again_is_read_as_it_was_written(tmp_path):
    made = Counterfactual(
        (AskedAgain("e", 1, "a", "b", "a", StepCost(5, None, 0.5)), AskedAgain("e", 2, "a", "a", "a"))
    )
    keep(tmp_path, made)
    assert kept(tmp_path) == made


def test_a_sample_has_each_step_once_only_those_with_reference_text_and_all_if_they_are_few(builder):
    for number in range(3):
        builder.nethack(number, [{}] * 4)  # the first of four look-ups finds nothing
    run = load(builder.path)
    found = sample(run, 100, seed=0)
    assert found == [
        (builder.journal(f"nle/NetHackChallenge-v0/{number:02d}"), step)
        for number in range(3)
        for step in (1, 2, 3)
    ]
    few = [sample(run, 4, seed) for seed in range(5)]
    assert few == [sample(run, 4, seed) for seed in range(5)]
    assert len(set(map(tuple, few))) > 1, "which steps are asked again depends on the seed"
    assert all(len(set(steps)) == 4 and set(steps) <= set(found) and steps == sorted(steps) for steps in few)


def test_a_run_that_found_nothing_has_no_step_to_ask_again(builder):
    builder.nethack(0, [{}])
    with pytest.raises(ConfigError, match="no prompt contained reference text"):
        sample(load(builder.path), 5, seed=0)


@pytest.fixture
def pair(new_run):
    """Two arms of six games each, in folders of this user."""
    runs = [new_run(name, agent=name) for name in "ab"]
    for place, run in enumerate(runs):
        mark(run.path)
        for number in range(6):
            run.nethack(number, [{"experience_level": 1 + (number + place) % 3}])
    return [load_arms([run.path])[0] for run in runs]


def test_looks_at_another_measure_or_with_other_arms_are_other_looks(pair):
    home = pair[0].runs[0].folder
    made = duel(*pair).whole
    assert noted(pair, made).earlier == noted(pair, made).earlier == ()
    fewer = msgspec.structs.replace(made, our_count=3)
    assert noted(pair, fewer).earlier == (6,)
    assert noted(pair, made).earlier == (3,)
    assert noted(pair, msgspec.structs.replace(fewer, measure="steps")).earlier == ()
    assert noted([pair[0], pair[0]], fewer).earlier == ()
    assert len(msgspec.json.decode((home / LOOKS).read_bytes())) == 4


def test_a_verdict_that_was_not_made_is_not_a_look(pair):
    home = pair[0].runs[0].folder
    assert noted(pair, compare([], [])).earlier == ()
    assert not (home / LOOKS).exists()


def test_only_the_last_looks_are_kept(pair):
    home = pair[0].runs[0].folder
    write_json(home / LOOKS, [Look("old", n, n) for n in range(MOST)])
    noted(pair, duel(*pair).whole)
    looks = msgspec.json.decode((home / LOOKS).read_bytes(), type=list[Look])
    assert len(looks) == MOST
    assert (looks[0].ours, looks[-1].ours) == (1, 6)
