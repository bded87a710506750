"""Loading a run folder: what is complete, open, missing or foreign."""

import os
import shutil

import pytest

from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.episode.journal import End, Step
from balrog_rag.results import run_folder
from balrog_rag.results.runs import LoadedRun, load, partial
from balrog_rag.results.summary import write_all
from tests.results.conftest import ENCODE, NETHACK, RunBuilder
from tests.support import rechained


def open_again(run: RunBuilder, name: str) -> None:
    """Cut the end off an episode's journal."""
    path = run.journal(name)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def steps(count: int) -> list[Step]:
    return [Step(n, "north", "north", "o") for n in range(count)]


@pytest.mark.parametrize(
    ("ended", "open_", "cut", "planned", "holes", "missing", "said"),
    [
        (3, 0, 0, 3, 0, 0, ""),
        (2, 0, 0, 3, 1, 1, "partial: 2 of 3"),
        (2, 1, 0, 3, 1, 0, "partial: 2 of 3"),
        (2, 1, 0, 5, 3, 2, "partial: 2 of 5"),
        (2, 0, 1, 3, 1, 0, "partial: 2 of 3"),
        (1, 1, 1, 4, 3, 1, "partial: 1 of 4"),
        (0, 0, 0, 2, 2, 2, "partial: 0 of 2"),
        (0, 0, 3, 3, 3, 0, "partial: 0 of 3"),
        (3, 0, 0, 2, 0, 0, ""),  # more than planned
        (2, 1, 0, 2, 1, 0, "partial: 2 of 3"),  # one that was begun beyond the plan
    ],
)
def test_a_run_is_partial_while_any_episode_of_it_has_no_result(
    new_run, ended, open_, cut, planned, holes, missing, said
):
    run = new_run("run", planned=planned)
    for number in range(ended):
        run.nethack(number, [{}])
    for number in range(ended, ended + open_):
        open_again(run, run.nethack(number, [{}]))
    for number in range(ended + open_, ended + open_ + cut):
        run.write(f"{NETHACK}/{number:02d}", [*steps(1), End("dollars", 1, of_run=True)])
    found = load(run.path)
    assert (found.holes, found.missing, found.partial) == (holes, missing, said)
    assert (len(found.episodes), len(found.unfinished), len(found.cut)) == (ended + cut, open_, cut)
    assert found.partial_in("nle") == said
    assert found.partial_in("minihack") == ""


def test_partial_counts_those_that_ended_of_all():
    assert partial(0, 0) == partial(5, 0) == ""
    assert partial(0, 1) == "partial: 0 of 1"
    assert partial(4, 2) == "partial: 4 of 6"


def test_an_environment_is_partial_apart_from_the_others(builder):
    builder.nethack(0, [{}])
    open_again(builder, builder.nethack(1, [{}]))
    builder.minihack("MiniHack-Room-5x5-v0", 0, True)
    found = load(builder.path)
    assert (found.partial_in("nle"), found.partial_in("minihack")) == ("partial: 1 of 2", "")
    summary = write_all(builder.path)
    assert summary.environments["nle"]["partial"] == "1 of 2"
    assert "partial" not in summary.environments["minihack"]
    assert summary.overall["partial"] == "2 of 3"


def test_open_games_are_those_of_open_and_of_cut_episodes(builder):
    builder.nethack(0, [{}], seed=10)
    open_again(builder, builder.nethack(1, [{}], seed=11))
    builder.write(f"{NETHACK}/02", [*steps(1), End("tokens", 1, of_run=True)], seed=12)
    builder.nethack(3, [{}], seed=13)
    builder.journal(f"{NETHACK}/03").write_bytes(b"")  # begun, and not even a header is there
    games = load(builder.path).open_games()
    assert {game for _, _, game in games} == {"11/12/None/@", "12/13/None/@"}
    assert {(env, task) for env, task, _ in games} == {("nle", "NetHackChallenge-v0")}


@pytest.mark.parametrize(
    ("damage", "cut", "open_", "said"),
    [
        (0, 0, 0, ""),
        (1, 0, 0, "run: 1 unusable journal left out"),
        (0, 1, 1, "run: 1 episode unfinished, 1 episode cut off by a cap of the run"),
        (2, 0, 2, "run: 2 unusable journals left out, 2 episodes unfinished"),
    ],
)
def test_the_caveat_names_what_figures_leave_out_or_include_in_error(builder, damage, cut, open_, said):
    numbers = iter(range(9))
    builder.nethack(next(numbers), [{}])
    for _ in range(damage):
        builder.journal(builder.nethack(next(numbers), [{}])).write_bytes(b"[]\n")
    for _ in range(cut):
        builder.write(f"{NETHACK}/{next(numbers):02d}", [End("tokens", 0, of_run=True)])
    for _ in range(open_):
        open_again(builder, builder.nethack(next(numbers), [{}]))
    assert load(builder.path).caveat == said


def test_the_caveat_counts_missing_episodes_of_those_planned_and_says_who_else_played(new_run):
    run = new_run("run", planned=5)
    for number in range(2):
        run.nethack(number, [{}])
    found = load(run.path)
    assert found.caveat == "run: 3 of 5 episodes missing"
    found.episodes[0].forked = "cot / m to step 3"
    assert found.caveat == "run: 3 of 5 episodes missing, forked: another player decided its first steps"


def test_episodes_are_in_the_order_of_their_numbers_not_of_their_letters(builder):
    for number in (100, 99, 9, 1000):
        builder.nethack(number, [{}])
    builder.nethack(3, [{}], task="nle/Another-v0")
    builder.minihack("MiniHack-Room-5x5-v0", 7, True)
    assert [(episode.env, episode.number) for episode in load(builder.path).episodes] == [
        ("minihack", "07"), ("nle", "03"), ("nle", "09"), ("nle", "99"), ("nle", "100"), ("nle", "1000"),
    ]  # fmt: skip


@pytest.mark.parametrize("task", ["nle/Zielzeit-ä-v0", "nle/цель/タスク", "nle/a b"])
def test_names_of_tasks_may_be_in_any_script(builder, task):
    builder.nethack(0, [{"depth": 2}], task=task)
    (episode,) = load(builder.path).episodes
    assert episode.name == f"{task}/00"
    write_all(builder.path)
    record = run_folder.episode_stem(builder.path, episode.name).with_suffix(".json")
    assert record.is_file()
    assert load(builder.path).episodes[0].task == task.partition("/")[2]


def test_a_journal_that_calls_itself_something_outside_is_foreign(builder):
    builder.nethack(0, [{}])
    path = builder.journal(f"{NETHACK}/00")
    header = builder.header("nle/../../evil/00")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(rechained(b"".join([ENCODE(header) + b"\n", *lines[1:]])))
    (problem,) = load(builder.path).problems
    assert problem.what == "foreign: 'nle/../../evil/00' is not an episode name"
    assert write_all(builder.path).run.episodes == []
    assert not (builder.path.parent / "evil").exists()


def test_a_dangling_link_is_a_problem_and_not_the_end_of_the_others(builder):
    builder.nethack(0, [{}])
    builder.journal(f"{NETHACK}/01").symlink_to(builder.path / "nowhere")
    run = load(builder.path)
    assert [problem.what for problem in run.problems] == ["cannot be read"]
    assert len(run.episodes) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_journal_that_may_not_be_read_is_a_problem(builder):
    builder.journal(builder.nethack(0, [{}])).chmod(0)
    assert "cannot be read" in load(builder.path).problems[0].what


def test_a_plan_whose_names_alone_would_fill_the_memory_is_refused(tmp_path):
    def planned(count):
        run = RunBuilder(tmp_path / str(count), planned=count)
        return run.path

    assert load(planned(1_000_000)).planned == 1_000_000
    with pytest.raises(RunFolderError, match=r"plans 1,000,001 episodes; a run can have at most 1,000,000"):
        load(planned(1_000_001))


def test_without_a_number_a_run_plans_what_its_kind_of_game_plays(tmp_path):
    config = {
        "env": {"tasks": ["nle/NetHackChallenge-v0", "minihack/MiniHack-Room-5x5-v0"], "episodes": None}
    }
    run = LoadedRun(tmp_path, "", config, [], [], [])
    names = run.asked_for
    assert names[0] == "nle/NetHackChallenge-v0/00"
    assert (
        sum(name.startswith("nle") for name in names),
        sum(name.startswith("mini") for name in names),
    ) == (
        5,
        5,
    )
    assert LoadedRun(tmp_path, "", {}, [], [], []).asked_for == []


def test_only_episodes_that_belong_here_are_fresh(builder, new_run):
    builder.nethack(0, [{}])
    other = new_run("other", agent="cot")
    other.nethack(1, [{}])
    shutil.copy(other.journal(f"{NETHACK}/01"), builder.journal(f"{NETHACK}/01"))
    assert load(builder.path).fresh == {f"{NETHACK}/00"}
    assert load(builder.path).fresh == frozenset()


def test_a_journal_that_is_gone_is_gone_from_the_index_too(builder):
    for number in range(2):
        builder.nethack(number, [{}])
    load(builder.path)
    before = (builder.path / ".episodes").stat().st_size
    builder.journal(f"{NETHACK}/01").unlink()
    assert len(load(builder.path).episodes) == 1
    assert (builder.path / ".episodes").stat().st_size < before


def test_a_linked_folder_has_the_name_of_the_folder_itself(builder, tmp_path):
    builder.nethack(0, [{}])
    (tmp_path / "latest").symlink_to(builder.path)
    assert load(tmp_path / "latest").name == "run"


def test_runs_are_grouped_by_environment_with_their_episodes_in_order(builder):
    for number in (2, 0):
        builder.nethack(number, [{}])
    builder.minihack("MiniHack-Room-5x5-v0", 0, True)
    grouped = load(builder.path).by_env()
    assert {env: [episode.number for episode in episodes] for env, episodes in grouped.items()} == {
        "minihack": ["00"],
        "nle": ["00", "02"],
    }


def test_games_of_an_environment_that_is_not_installed_are_named_with_their_run(new_run, monkeypatch):
    run = new_run("run", planned=1)
    run.nethack(0, [{}])
    others = {name: where for name, where in registry.environments._builtin.items() if name != "nle"}
    monkeypatch.setattr(registry.environments, "_builtin", others)  # put back as it was, in its order
    with pytest.raises(RunFolderError, match=r"run/config.json: plans games of 'nle', .*; install"):
        load(run.path)
