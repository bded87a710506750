"""The built-in watchers: what `jsonl` writes, and that watching changes nothing."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import balrog_rag
from balrog_rag.contracts.data import Reply, Request, Usage
from balrog_rag.contracts.errors import ConfigError, ModelUnavailable
from balrog_rag.results.run_folder import frozen_config
from balrog_rag.tracking import run_tracker
from balrog_rag.tracking.run_records import VIEWER_URL

SHORT = ("agent=naive", "env=corridor", "env.episodes=2", "limits.steps=4", "runner.log=none", "run.seed=5")


class Priced:
    """A model whose answers have a price; fails at the calls that are named."""

    def __init__(self, *failing: int) -> None:
        self.calls, self.failing = 0, failing

    async def complete(self, request: Request) -> Reply:
        self.calls += 1
        if self.calls in self.failing:
            raise ModelUnavailable("out of order")
        return Reply("north", usage=Usage(10, 2), cost=0.25)


def lines_of(folder: Path, kind: str = "") -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "progress.jsonl").read_text().splitlines()]
    return [line for line in lines if kind in ("", line["record"])]


def test_a_file_of_lines_has_configuration_progress_costs_and_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_tracker, "INTERVAL", 0.0)
    run = balrog_rag.evaluate(*SHORT, "run.watch=[jsonl]", model=Priced(), folder=tmp_path / "run")
    assert (run.complete, run.troubles) == (True, [])
    (about,) = lines_of(run.folder, "run")
    frozen = frozen_config(run.folder)
    assert (about["config_digest"], about["planned"]) == (frozen.digest, 2)
    assert about["config"]["limits"]["steps"] == 4
    assert about["viewer"] == (run.folder / "view.html").as_uri()
    episodes = lines_of(run.folder, "episode")
    assert len(episodes) == 2
    for line in episodes:
        record = json.loads((run.folder / f"{run_stem(line['episode'])}.json").read_text())
        assert line["progression"] == 100 * record["progression"]
        assert (line["steps"], line["calls"], line["dollars"], line["earlier"]) == (4, 4, 1.0, False)
    counts = [line["calls"] for line in lines_of(run.folder, "progress")]
    assert (counts == sorted(counts), counts[-1]) == (True, 8)
    assert set(counts) > {1, 8}  # calls of episodes in play are counted as they come
    (results,) = lines_of(run.folder, "results")
    summary = json.loads((run.folder / "summary.json").read_text())
    (row,) = results["table"]
    assert row["progression"] == pytest.approx(summary["environments"]["minihack"]["progression_percentage"])
    assert (row["env"], row["episodes"], row["dollars"], row["input_tokens"]) == ("minihack", 2, 2.0, 80)
    assert lines_of(run.folder)[-1]["record"] == "results"


def run_stem(episode: str) -> str:
    env, task, number = episode.split("/")
    return f"{env}/{task}/{task}_run_{number}"


CLOCK = re.compile(rb'"(seconds|latency|chain)":[^,}]+')


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a run without clock readings, which also change the digests of a journal's lines."""
    timed = {"run.json", "eval.log", "progress.jsonl", "episodes.csv"}
    return {
        str(path.relative_to(folder)): CLOCK.sub(b"", path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file() and path.name not in timed and not path.name.startswith(".")
    }


def test_watching_changes_no_journal_digest_or_result(tmp_path: Path) -> None:
    words = (*SHORT, "agent=random")
    plain = balrog_rag.evaluate(*words, folder=tmp_path / "a" / "run")
    watched = balrog_rag.evaluate(*words, "run.watch=[jsonl]", folder=tmp_path / "b" / "run")
    here, there = files_of(plain.folder), files_of(watched.folder)
    assert frozen_config(plain.folder).digest == frozen_config(watched.folder).digest
    here.pop("config.json"), there.pop("config.json")  # one of them names the watcher
    assert here == there


def test_a_resumed_run_appends_and_says_what_ended_earlier(tmp_path: Path) -> None:
    words = (*SHORT, "run.watch=[jsonl]", "runner.concurrency=1")
    with pytest.warns(UserWarning, match="out of order"):
        run = balrog_rag.evaluate(*words, model=Priced(7), folder=tmp_path / "run")
    (partial,) = lines_of(run.folder, "results")
    assert (partial["table"][0]["episodes"], partial["table"][0]["low"]) == (1, None)  # no random sample
    assert [line["text"] for line in lines_of(run.folder, "trouble")] == ["out of order"]
    assert run.resume().complete
    assert [line["earlier"] for line in lines_of(run.folder, "episode")] == [False, True, False]
    assert lines_of(run.folder, "results")[-1]["table"][0]["episodes"] == 2
    assert len(lines_of(run.folder, "run")) == 2


def test_a_file_that_cannot_be_written_switches_the_watcher_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from balrog_rag.tracking import jsonl_tracker

    monkeypatch.setattr(jsonl_tracker, "FILE", "no/such/folder")
    run = balrog_rag.evaluate(*SHORT, "agent=random", "run.watch=[jsonl]", folder=tmp_path / "run")
    assert run.complete
    assert "watcher JsonlTracker failed: " in capsys.readouterr().err


def test_a_configured_address_is_the_link_to_the_viewer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VIEWER_URL, "https://example.org/runs/")
    balrog_rag.evaluate(*SHORT, "agent=random", "run.watch=[jsonl]", folder=tmp_path / "run")
    assert lines_of(tmp_path / "run", "run")[0]["viewer"] == "https://example.org/runs/run/view.html"


@pytest.mark.parametrize(
    ("name", "library"), [("wandb", "wandb"), ("mlflow", "mlflow"), ("otel", "opentelemetry.sdk")]
)
def test_a_missing_library_is_named_with_its_extra(
    name: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [os.path.dirname(balrog_rag.__path__[0])])  # as without any package
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        ConfigError, match=rf"run\.watch={name}: {library} is not installed; .*balrog_rag\[{name}\]"
    ):
        balrog_rag.evaluate(*SHORT, "agent=random", f"run.watch=[{name}]", folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()
