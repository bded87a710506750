"""A run in shards: killed, given again, split anew halfway, read unmerged and merged."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

import balrog_rag
from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.results.arms import load_arms
from balrog_rag.results.run_folder import journals
from balrog_rag.run.merging import merge
from balrog_rag.util.files import lock
from tests.support import CLEAN, PATIENCE, edit_journal, evaluate, timeless, until

RUN = [
    "model=scripted",
    "agent=naive",
    "env=corridor",
    "limits.steps=4",
    "runner.workers=1",
    "runner.log=none",
]


def play(place: Path, *words: str) -> balrog_rag.Run:
    """Play a run in this process."""
    return balrog_rag.evaluate(*RUN, *words, f"run.folder={place / 'results'}")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a whole run and the same run in three shards."""
    place = tmp_path_factory.mktemp("shards")
    play(place, "env.episodes=6", "run.name=whole")
    for number in (1, 2, 3):
        play(place, "env.episodes=6", "run.name=run", f"runner.shard={number}/3")
    return place / "results"


def equal_but_for_times(ours: Path, theirs: Path) -> None:
    paths = [path.relative_to(ours) for path in journals(ours)]
    assert paths == [path.relative_to(theirs) for path in journals(theirs)]
    for path in paths:
        assert timeless(ours / path) == timeless(theirs / path)
        stem = str(path).removesuffix(".journal.jsonl")
        for suffix in (".csv", ".json"):
            assert (ours / f"{stem}{suffix}").read_bytes() == (theirs / f"{stem}{suffix}").read_bytes()
    for name in ("episodes.csv", "summary.json"):
        assert (ours / name).read_bytes() == (theirs / name).read_bytes()


def test_merged_equals_whole_run_and_merging_again_changes_nothing(played: Path, tmp_path: Path) -> None:
    merged = merge([played / "run.shards"], tmp_path / "merged")
    assert (merged.parts, merged.missing, merged.is_new) == (3, [], True)
    equal_but_for_times(played / "whole", tmp_path / "merged")
    assert not merge([played / "run.shards"], tmp_path / "merged").is_new
    # The merged folder is an ordinary run: nothing is left to play, so no journal changes.
    before = [path.read_bytes() for path in journals(tmp_path / "merged")]
    balrog_rag.evaluate(f"resume={tmp_path / 'merged'}")
    assert [path.read_bytes() for path in journals(tmp_path / "merged")] == before


def test_unmerged_shards_are_read_as_one_run(played: Path) -> None:
    both = load_arms([played / "run.shards", played / "whole"])
    assert len(both) == 1  # the same settings: one arm of two runs
    (arm,) = load_arms([played / "run.shards"])
    assert (arm.name, len(arm.runs), len(arm.episodes)) == ("run.shards", 1, 6)
    assert all(arm.runs[0].journal(episode.name).exists() for episode in arm.episodes)
    (beside,) = load_arms([played])
    assert len(beside.runs) == 2


def test_a_shard_is_complete_by_itself_but_not_the_run(played: Path, tmp_path: Path) -> None:
    one = load_arms([played / "run.shards/1-of-3"])[0]
    assert one.partial == ""
    shutil.copytree(played / "run.shards", tmp_path / "run.shards")
    shutil.rmtree(tmp_path / "run.shards/2-of-3")
    lost = 6 - len(load_arms([tmp_path / "run.shards"])[0].episodes)
    assert load_arms([tmp_path / "run.shards"])[0].partial == f"partial: {6 - lost} of 6"
    merged = merge([tmp_path / "run.shards"], tmp_path / "merged")
    assert len(merged.missing) == lost
    balrog_rag.evaluate(f"resume={tmp_path / 'merged'}")
    equal_but_for_times(played / "whole", tmp_path / "merged")


def test_same_command_continues_a_shard_and_another_is_refused(played: Path) -> None:
    split = ["env.episodes=6", "run.name=run", "runner.shard=1/3"]
    first = journals(played / "run.shards/1-of-3")[0]
    before = first.read_bytes()
    assert play(played.parent, *split).complete
    assert first.read_bytes() == before
    with pytest.raises(RunFolderError, match=r"another configuration \(run.seed\)"):
        play(played.parent, *split, "run.seed=5")
    with pytest.raises(ConfigError, match=r"resume cannot change runner.shard"):
        balrog_rag.evaluate(f"resume={played / 'run.shards/1-of-3'}", "runner.shard=2/3")
    with pytest.raises(ConfigError, match=r"add run.name=NAME"):
        play(played.parent, "runner.shard=1/3")
    with pytest.raises(ConfigError, match=r"use limits.until=plan"):
        play(played.parent, *split, "limits.until=verdict", f"limits.against={played / 'whole'}")


def test_a_shard_without_episodes_ends_at_once(tmp_path: Path) -> None:
    words = [*RUN, "env.episodes=1", "run.name=run", "runner.log=plain"]
    ended = [evaluate(*words, f"runner.shard={number}/2", cwd=tmp_path) for number in (1, 2)]
    assert [each.returncode for each in ended] == [0, 0]
    assert sorted("0 of 1 episode" in each.stdout + each.stderr for each in ended) == [False, True]
    assert not merge([tmp_path / "results/run.shards"], tmp_path / "merged").missing


def test_count_of_shards_changed_halfway(played: Path, tmp_path: Path) -> None:
    shards = tmp_path / "results/run.shards"
    shutil.copytree(played / "run.shards", shards)
    half = journals(shards / "1-of-3")[0]
    half.write_bytes(b"".join(half.read_bytes().splitlines(keepends=True)[:-4]))  # it was half played
    for number in (1, 2):
        play(tmp_path, "env.episodes=6", "run.name=run", f"runner.shard={number}/2")
    # Finished episodes were copied, not played again: their times are the same to the bit.
    copied = [*journals(shards / "1-of-2"), *journals(shards / "2-of-2")]
    copies = {path.name: path.read_bytes() for path in copied}
    for path in journals(played / "run.shards"):
        assert (copies[path.name] == path.read_bytes()) == (path.name != half.name)
    assert not merge([shards], tmp_path / "merged").missing
    equal_but_for_times(played / "whole", tmp_path / "merged")


def test_an_episode_in_play_is_not_copied(played: Path, tmp_path: Path) -> None:
    shards = tmp_path / "results/run.shards"
    shutil.copytree(played / "run.shards", shards)
    with ExitStack() as open_files:
        for path in journals(shards):
            assert lock(open_files.enter_context(open(path, "rb")).fileno())
        with pytest.raises(RunFolderError, match=r"is being played; stop \d-of-3 first"):
            play(tmp_path, "env.episodes=6", "run.name=run", "runner.shard=1/2")


def test_duplicates_that_disagree_are_refused(played: Path, tmp_path: Path) -> None:
    shutil.copytree(played / "whole", tmp_path / "copy")
    merge([played / "whole", tmp_path / "copy"], tmp_path / "merged")  # equal copies are fine
    edit_journal(journals(tmp_path / "copy")[0], "llm", lambda entry: entry["reply"].update(latency=9.0))
    merge([played / "whole", tmp_path / "copy"], tmp_path / "slower")  # and so are other times
    edit_journal(journals(tmp_path / "copy")[0], "step", lambda entry: entry.update(reward=1e9))
    with pytest.raises(RunFolderError, match="played differently"):
        merge([played / "whole", tmp_path / "copy"], tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_what_is_not_one_run_is_refused(played: Path, tmp_path: Path) -> None:
    shutil.copytree(played / "whole", tmp_path / "copy")
    first = journals(tmp_path / "copy")[0]
    first.write_bytes(first.read_bytes().replace(b'"reward"', b'"rewarD"', 1))
    with pytest.raises(RunFolderError, match=rf"copy/.*{first.name}: line"):
        merge([tmp_path / "copy"], tmp_path / "merged")
    play(tmp_path, "env.episodes=6", "run.seed=1", "run.name=seed")
    with pytest.raises(RunFolderError, match=r"another configuration .*\(run.seed\)"):
        merge([played / "whole", tmp_path / "results/seed"], tmp_path / "merged")
    (tmp_path / "merged").mkdir()
    with pytest.raises(RunFolderError, match="not a run folder"):
        merge([played / "whole"], tmp_path / "merged")
    with pytest.raises(RunFolderError, match="exists and is not this merge"):
        merge([played / "run.shards/1-of-3"], played / "whole")


def start_shard(place: Path, number: int, count: int, words: Sequence[str]) -> subprocess.Popen[bytes]:
    variables = {"SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": str(count)}
    return subprocess.Popen(
        [sys.executable, "-m", "balrog_rag.eval", *words],
        cwd=place,
        env={**CLEAN, **variables, "SLURM_ARRAY_TASK_ID": str(number)},
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3, 8])
def test_array_jobs_that_are_killed_and_requeued(tmp_path: Path, count: int) -> None:
    words = [*RUN, "model.options.latency=0.05", "env.episodes=12", "limits.steps=10", "runner.concurrency=2"]
    assert evaluate(*words, "run.name=whole", cwd=tmp_path).returncode == 0
    words += ["run.name=run"]
    shards = tmp_path / "results/run.shards"
    for number in range(1, count + 1):
        folder = shards / f"{number}-of-{count}"
        for kind in (signal.SIGKILL, signal.SIGTERM):
            job = start_shard(tmp_path, number, count, words)
            begun = sum(path.stat().st_size for path in journals(folder)) if folder.exists() else 0
            more = lambda: sum(path.stat().st_size for path in journals(folder)) > begun + 5_000  # noqa: B023, E731
            until(lambda: job.poll() is not None or more(), "an answer on disk")  # noqa: B023
            if job.poll() is None:
                os.killpg(job.pid, kind)
            job.wait(PATIENCE)
        assert start_shard(tmp_path, number, count, words).wait(PATIENCE) == 0
    assert not merge([shards], tmp_path / "results/merged").missing
    equal_but_for_times(tmp_path / "results/whole", tmp_path / "results/merged")
