"""Every figure of summary.json equals BALROG's on the same episodes."""

import asyncio
import csv
import json
import random
import shutil
import sys
from math import sqrt
from pathlib import Path

import msgspec
import pytest

from balrog_rag import evaluate
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.envs.nethack.progression import table
from balrog_rag.episode.journal import End, Lookup, Start, Step
from balrog_rag.results.run_folder import journal_path
from balrog_rag.results.runs import load
from balrog_rag.results.summary import episode_record, mean_and_error, summarise, write_all
from balrog_rag.results.tally import read_episode
from balrog_rag.results.terminal_tables import score_rows
from tests.results.conftest import NETHACK, RunBuilder

PAPER = [
    [{"experience_level": 2}],
    [{"experience_level": 2}, {"experience_level": 3}],
    [{"experience_level": 2}, {"experience_level": 3}],
    [{"experience_level": 2}],
    [{"score": 4}],
]
"""The achievements of the paper's five episodes, from its own files."""


def read(path: Path):
    return msgspec.json.decode(path.read_bytes())


def balrog(values):
    """BALROG's mean and standard error in percent, implemented independently.

    The last digits of its sums depend on the order in which the file system lists episodes.
    """
    total = squares = 0.0
    for value in values:
        total += value
    mean = total / len(values)
    for value in values:
        squares += (value - mean) ** 2
    error = sqrt(squares / len(values)) / sqrt(len(values)) if len(values) > 1 else 0.0
    return pytest.approx((100 * mean, 100 * error), rel=1e-13)


def test_the_papers_five_episodes_give_the_papers_figures_to_the_last_digit(builder):
    for number, climbs in enumerate(PAPER):
        builder.nethack(number, climbs, seed=73)
    overall = write_all(builder.path).overall
    # average_progress and standard_error as in the summary.json that the paper's authors published
    assert overall["average_progress"] == 1.5716016152587824
    assert overall["standard_error"] == 0.3545055275952079


def test_the_order_of_episodes_changes_no_digit():
    values = [random.Random(number).random() for number in range(50)]
    shuffled = [random.Random(seed).sample(values, 50) for seed in range(50)]
    assert {mean_and_error(each) for each in shuffled} == {mean_and_error(values)}
    assert len({sum(each) for each in shuffled}) > 1 or sys.version_info >= (3, 12)


def test_two_hundred_episodes_of_two_environments(builder):
    dice = random.Random(4)
    nethack, minihack = [], {}
    for number in range(120):
        depth, level = dice.choice([1, 1, 1, 2, 3, 5, 10]), dice.choice([1, 1, 2, 3, 8])
        builder.nethack(number, [{"depth": depth}, {"experience_level": level}])
        nethack.append(max(table()[f"Dlvl:{depth}"], table()[f"Xp:{level}"]))
    for number in range(80):
        task, solved = f"MiniHack-Task-{number % 8}-v0", dice.random() < 0.3
        builder.minihack(task, number // 8, solved, steps=number % 5 + 1)
        minihack.setdefault(task, []).append(float(solved))
    summary = write_all(builder.path)

    found = summary.environments
    assert (found["nle"]["progression_percentage"], found["nle"]["standard_error"]) == balrog(nethack)
    pooled = [value for task in sorted(minihack) for value in minihack[task]]
    assert (found["minihack"]["progression_percentage"], found["minihack"]["standard_error"]) == balrog(
        pooled
    )
    for task, values in minihack.items():
        scored = found["minihack"]["tasks"][task]
        assert (scored["progression_percentage"], scored["standard_error"]) == balrog(values)
        assert scored["episodes_played"] == 10
    means, errors = zip(balrog(pooled).expected, balrog(nethack).expected, strict=True)
    fractions = [mean / 100 for mean in means]
    assert summary.overall["average_progress"] == pytest.approx(100 * sum(fractions) / 2, rel=1e-15)
    assert summary.overall["standard_error"] == pytest.approx(
        sqrt(errors[0] ** 2 + errors[1] ** 2) / 2, rel=1e-13
    )
    # by hand: 120 episodes of two steps with three calls each: 1,400 tokens in, 53 out
    assert found["nle"]["average_steps"] == 2
    assert summary.overall["total_input_tokens"] == 120 * 2 * 1400
    assert summary.overall["total_output_tokens"] == 120 * 2 * 53
    assert found["minihack"]["average_steps"] == sum(number % 5 + 1 for number in range(80)) / 80


def test_the_files_have_exactly_balrogs_keys_and_records_the_class_of_their_end_besides(builder):
    builder.nethack(0, [{"depth": 2, "gold": 5}])
    builder.minihack("MiniHack-Corridor-R3-v0", 0, True)
    write_all(builder.path)
    assert list(read(builder.path / "summary.json")) == [
        "average_progress", "standard_error", "environments", "total_input_tokens", "total_output_tokens",
        "client", "agent",
    ]  # fmt: skip
    assert list(read(builder.path / "nle/nle_summary.json")) == [
        "progression_percentage", "standard_error", "average_steps", "episodes_played", "tasks",
        "input_tokens", "output_tokens",
    ]  # fmt: skip
    nethack = read(builder.journal("nle/NetHackChallenge-v0/00").with_name("NetHackChallenge-v0_run_00.json"))
    assert list(nethack) == [
        "task", "action_frequency", "input_tokens", "output_tokens", "done", "episode_return", "num_steps",
        "failed_candidates", "score", "depth", "gold", "experience_level", "time", "dlvl_list", "xplvl_list",
        "highest_achievement", "progression", "end_reason", "process_num", "seed", "agent", "client",
        "cause", "preventable",
    ]  # fmt: skip
    assert (nethack["cause"], nethack["preventable"]) == ("other", False)
    assert nethack["dlvl_list"] == ["Dlvl:1", "Dlvl:2"]
    assert nethack["progression"] == 0.015392269075361172
    assert nethack["end_reason"] == "died: killed by a newt"
    minihack = read(builder.path / "minihack/MiniHack-Corridor-R3-v0/MiniHack-Corridor-R3-v0_run_00.json")
    assert minihack["progression"] == 1.0
    assert "score" not in minihack


def test_one_episode_has_no_error_and_none_gives_zero(builder):
    assert write_all(builder.path).overall["average_progress"] == 0.0
    assert read(builder.path / "summary.json")["environments"] == {}
    builder.nethack(0, [{"depth": 3}])
    overall = write_all(builder.path).overall
    assert overall["average_progress"] == 100 * table()["Dlvl:3"]
    assert overall["standard_error"] == 0.0


def test_numbers_that_netHack_zeroes_at_the_end_of_a_game_are_not_taken(builder):
    builder.nethack(
        0, [{"depth": 4, "score": 321, "gold": 7}, {"depth": 0, "score": 0, "gold": 0, "turn": 0}]
    )
    episode = load(builder.path).episodes[0]
    assert [episode.last[name] for name in ("depth", "score", "gold")] == [4, 321, 7]
    assert episode.most["depth"] == 4


def test_an_episode_counts_calls_look_ups_and_money(builder):
    builder.nethack(0, [{}, {}, {"experience_level": 3}, {}])
    episode = load(builder.path).episodes[0]
    assert {purpose: calls.count for purpose, calls in episode.calls.items()} == {
        "query": 4,
        "summary": 4,
        "act": 4,
    }
    assert episode.total.dollars == pytest.approx(0.012)
    lookups = episode.lookups
    assert (lookups.count, lookups.hits, lookups.queries, lookups.steps, lookups.used) == (4, 3, 2, 4, 3)
    assert [(point.step, point.tokens) for point in episode.curve] == [(3, 3 * 1453), (4, 4 * 1453)]


def test_unknown_prices_are_counted_not_guessed(builder):
    builder.nethack(0, [{}], cost=None)
    total = load(builder.path).episodes[0].total
    assert (total.dollars, total.unpriced) == (0.0, 3)


def test_rebuilding_gives_the_same_files_whatever_the_index_says(builder):
    for number, climbs in enumerate(PAPER):
        builder.nethack(number, climbs)
    write_all(builder.path)
    names = [path for path in sorted(builder.path.rglob("*")) if path.is_file() and path.name != ".episodes"]
    before = {path: path.read_bytes() for path in names}
    for path in names:
        if path.name not in ("config.json",) and not path.name.endswith(".jsonl"):
            path.unlink()
    write_all(builder.path)
    assert {path: path.read_bytes() for path in names} == before
    (builder.path / ".episodes").write_bytes(b"nonsense")
    write_all(builder.path)
    assert {path: path.read_bytes() for path in names} == before


def test_a_changed_journal_is_read_anew(builder):
    builder.nethack(0, [{"depth": 2}])
    assert load(builder.path).episodes[0].most["depth"] == 2
    builder.nethack(0, [{"depth": 2}, {"depth": 3}])
    assert load(builder.path).episodes[0].most["depth"] == 3
    assert load(builder.path).fresh == frozenset()


def test_a_record_of_an_episode_that_is_open_again_goes_away(builder):
    builder.nethack(0, [{"depth": 2}], outcome="dollars")
    write_all(builder.path)
    journal = builder.journal("nle/NetHackChallenge-v0/00")
    record = journal.with_name("NetHackChallenge-v0_run_00.json")
    assert record.exists()
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    assert write_all(builder.path).run.unfinished == ["nle/NetHackChallenge-v0/NetHackChallenge-v0_run_00"]
    assert not record.exists()


def test_the_table_of_episodes_has_a_row_for_each_and_no_formula(builder):
    builder.nethack(0, [{"depth": 2}], death="=HYPERLINK(evil)")
    builder.minihack("MiniHack-Corridor-R3-v0", 0, False)
    write_all(builder.path)
    with (builder.path / "episodes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["episode"] for row in rows] == [
        "minihack/MiniHack-Corridor-R3-v0/00",
        "nle/NetHackChallenge-v0/00",
    ]
    assert rows[1]["ended_by"] == "'=HYPERLINK(evil)"
    assert json.loads(rows[1]["options"])["character"] == "@"


def test_a_folder_that_is_no_run_is_one_clear_error(tmp_path):
    with pytest.raises(RunFolderError, match="not a run folder"):
        load(tmp_path)


def test_a_run_folder_that_may_only_be_read_is_still_read(builder, tmp_path):
    builder.nethack(0, [{"depth": 2}])
    (builder.path / ".episodes").mkdir()  # what is there cannot be replaced by a file
    shutil.copytree(builder.path, tmp_path / "copy")
    assert len(load(tmp_path / "copy").episodes) == 1


def test_a_run_of_a_program_names_no_model(tmp_path):
    """Its configuration has one, by default, which nobody asks."""
    run = evaluate(
        "agent=random", "env.episodes=1", "limits.steps=3", "runner.workers=1", folder=tmp_path / "run"
    )
    configured = json.loads((run.folder / "config.json").read_text())["config"]["model"]["name"]
    for name in ("summary.json", "episodes.csv", "nle/NetHackChallenge-v0/NetHackChallenge-v0_run_00.json"):
        assert configured not in (run.folder / name).read_text()
    assert json.loads((run.folder / "summary.json").read_text())["client"]["model_id"] is None


@pytest.mark.parametrize(("limit", "done"), [("env.max_steps.babyai=3", True), ("limits.steps=3", False)])
def test_an_episode_is_done_at_the_games_own_limit_alone(specs, player, tmp_path, limit, done):
    task = "env.tasks=[babyai/BabyAI-MixedTrainLocal-v0/goto]"
    (spec,) = specs(task, "agent=dummy", limit, steps=None)
    asyncio.run(player()(spec))
    record = episode_record(read_episode(journal_path(tmp_path / "run", spec.episode)))
    assert (record["num_steps"], record["end_reason"]) == (3, "steps")
    assert record.get("done", False) is done


def test_steps_with_a_search_are_counted_once_however_many_searches_they_made(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "run")
    searches = [Lookup(0, "newt", 3, (), 0.1), Lookup(0, "dwarf", 3, (), 0.1), Lookup(1, "newt", 3, (), 0.1)]
    run.write(
        f"{NETHACK}/00",
        [
            *searches[:2],
            Step(0, "north", "north", "o"),
            searches[2],
            Step(1, "north", "north", "o"),
            End("died", 2),
        ],
    )
    (episode,) = load(run.path).episodes
    found = episode.lookups
    assert (found.count, found.steps, found.queries) == (3, 2, 2)


def test_an_average_is_also_shown_without_what_an_oracle_played(new_run) -> None:
    """TextWorld's own script follows the walkthrough that the game computes from its hidden state."""
    for agent, labels in (("best", ["average", "  without textworld"]), ("naive", ["average"])):
        run = new_run(agent, agent=agent)
        run.nethack(0, [{"experience_level": 2}])
        run.minihack("MiniHack-Room-5x5-v0", 0, solved=True)
        run.start = lambda: Start("o", {"score": 0, "most": 1, "over": 0, "won": 0, "lost": 0})
        run.write("textworld/coin_collector/00", [Step(0, "go", "go", "o"), End("steps", 1)])
        rows = [row for row in score_rows(summarise(load(run.path))) if row]
        assert [row[0] for row in rows][3:] == labels
        assert [row[1] for row in rows][3:] == ["3", "2"][: len(labels)]
