"""What settings may demand of a machine. No test here starts what the settings demand."""

import json
from pathlib import Path

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import config_digest, plain
from balrog_rag.config.schema import Config, RunnerConfig
from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.results import run_folder
from balrog_rag.results.run_seal import is_local_run
from balrog_rag.results.runs import load
from balrog_rag.results.stored_run import read_run
from balrog_rag.run.capacity import MOST_IN_PLAY, lowered, most_at_once
from balrog_rag.run.plan import plan
from balrog_rag.run.resume import resumed_config
from balrog_rag.run.scheduler import EpisodeSlots
from balrog_rag.run.services import player_spec, resolved
from balrog_rag.run.trust import refuse_untrusted_folder
from balrog_rag.util.child_processes import available_cores
from balrog_rag.workers.pool import WORKERS_PER_CORE, WorkerPool, most_workers
from tests.support import evaluate

SMALL = ["agent=naive", "model=scripted", "env.episodes=1", "env.tasks=[nle/NetHackChallenge-v0]"]


def runner(*words: str) -> RunnerConfig:
    return compose([*SMALL, *words]).runner


def test_a_pool_plans_at_most_so_many_workers_per_core() -> None:
    assert most_workers() == WORKERS_PER_CORE * available_cores() == 8 * available_cores()
    assert WorkerPool(4096).size == most_workers()
    assert WorkerPool(10**12).size == most_workers()
    assert (WorkerPool(0).size, WorkerPool(1).size) == (available_cores(), 1)


def test_a_thousand_episodes_at_once_stay_possible_and_not_a_hundred_thousand() -> None:
    assert EpisodeSlots(1000, most_at_once()).width == 1000
    gate = EpisodeSlots(100_000, most_at_once())
    assert gate.width <= MOST_IN_PLAY == 10_000
    gate.change(width=50_000)
    assert gate.width <= MOST_IN_PLAY


def test_what_was_lowered_is_one_line() -> None:
    assert lowered(runner()) == []
    assert lowered(runner("runner.concurrency=1000", f"runner.workers={most_workers()}")) == []
    assert lowered(runner("runner.concurrency=100000", "runner.workers=4096")) == [
        f"runner.workers=4096 lowered to {most_workers()} (8 per core), "
        "runner.concurrency=100000 lowered to 10000 (the most in one process)"
    ]


def test_a_run_with_lowered_settings_says_so_and_goes_on(tmp_path: Path) -> None:
    words = ["agent=dummy", "env=corridor", "env.episodes=2", "limits.steps=2", "run.name=r"]
    done = evaluate(*words, "runner.workers=4096", "runner.concurrency=100000", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if "lowered to" in line]
    assert len(set(said)) == 1
    assert f"runner.workers=4096 lowered to {most_workers()} (8 per core)" in said[0]


def test_a_plan_of_too_many_episodes_is_refused_before_it_is_made(tmp_path: Path) -> None:
    config = compose(SMALL)
    config.env.episodes = 10**12
    with pytest.raises(
        ConfigError, match=r"1,000,000,000,000 episodes in total, but a run can have at most 1,000,000"
    ):
        plan(config, player_spec(config))
    tree = plain(config)
    run_folder.write_json(tmp_path / "config.json", {"digest": config_digest(tree), "config": tree})
    with pytest.raises(RunFolderError, match="plans 1,000,000,000,000 episodes"):
        load(tmp_path)


def theirs(tmp_path: Path, *words: str) -> tuple[Path, Config]:
    """An untrusted run folder."""
    run = tmp_path / "theirs"
    run_folder.create(run, plain(resolved(compose([*SMALL, *words]))))
    return run, resumed_config(read_run(run), [])


DEMANDING = {
    "runner.workers": 4096,
    "runner.concurrency": 100_000,
    "runner.worker_memory": 100_000,
    "env.episodes": 99_999,
}


def test_what_another_persons_folder_asks_of_the_machine_is_shown_and_asked_for_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, config = theirs(tmp_path, *(f"{key}={value}" for key, value in DEMANDING.items()))
    with pytest.raises(RunFolderError, match="add --trust once"):
        refuse_untrusted_folder(read_run(run), config, [], trust=False)
    said = capsys.readouterr().err
    assert [f"\n  {key} = {value}\n" in said for key, value in DEMANDING.items()] == [True] * 4
    refuse_untrusted_folder(read_run(run), config, [], trust=True)
    assert is_local_run(run)
    refuse_untrusted_folder(read_run(run), config, [], trust=False)


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["runner.worker_memory=null"], "runner.worker_memory"),
        (["env.max_steps={nle: 100000000}"], "env.max_steps.nle"),
        (["agent=naive_rag", "knowledge.threads=256"], "knowledge.threads"),
        (["model=local", "model.options.slots=4000"], "model.options.slots"),
        (["model=local", "model.options.slot_context=100000000"], "model.options.slot_context"),
    ],
)
def test_other_settings_that_cost_memory_time_or_threads_are_shown_too(
    tmp_path: Path, words: list[str], key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run, config = theirs(tmp_path, *words)
    with pytest.raises(RunFolderError, match="add --trust once"):
        refuse_untrusted_folder(read_run(run), config, [], trust=False)
    assert capsys.readouterr().err.count(f"\n  {key} = ") == 1


def test_a_folder_that_keeps_to_the_defaults_asks_for_nothing(tmp_path: Path) -> None:
    run, config = theirs(tmp_path, "runner.workers=1", "runner.concurrency=4")
    refuse_untrusted_folder(read_run(run), config, [], trust=False)


def test_settings_on_the_command_line_need_no_trust(tmp_path: Path) -> None:
    run, _ = theirs(tmp_path, "runner.workers=4096")
    words = ["runner.workers=1"]
    refuse_untrusted_folder(read_run(run), resumed_config(read_run(run), words), words, trust=False)
    assert json.loads((run / "config.json").read_text())["config"]["runner"]["workers"] == 4096
