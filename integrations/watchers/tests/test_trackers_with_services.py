"""Runs that are watched by the real packages, and what arrives at their servers or in their files."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import SHORT, Collector, free_port
from mlflow import MlflowClient
from wandb.proto import wandb_internal_pb2

import balrog_rag
from balrog_rag.cli.main import main
from balrog_rag.export import genai_conventions as conventions
from balrog_rag.run import user_watchers
from balrog_rag.run.user_watchers import Patience


def played(folder: Path, *words: str) -> balrog_rag.Run:
    run = balrog_rag.evaluate(*SHORT, *words, folder=folder)
    assert (run.complete, run.troubles) == (True, [])
    return run


def wandb_records(path: Path) -> Iterator[Any]:
    """The records of a .wandb file, which is a log in LevelDB's format."""
    data, at, parts, block = path.read_bytes(), 7, b"", 32_768
    while at + 7 <= len(data):
        if (left := block - at % block) < 7:
            at += left
            continue
        length, kind = struct.unpack("<HB", data[at + 4 : at + 7])
        parts += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield wandb_internal_pb2.Record.FromString(parts)
            parts = b""


def test_wandb_keeps_a_run_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    run = played(tmp_path / "results" / "run", "run.watch=[wandb]")
    assert capfd.readouterr().err == ""
    (path,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    records = list(wandb_records(path))
    (about,) = [record.run for record in records if record.WhichOneof("record_type") == "run"]
    config = {item.key: json.loads(item.value_json) for item in about.config.update}
    assert (about.project, about.display_name, about.run_group) == ("balrog_rag", "run", "run")
    assert config["config"]["limits"]["steps"] == 3
    assert config["viewer"] == (run.folder / "view.html").as_uri()
    history = [
        {"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item}
        for record in records
        if record.WhichOneof("record_type") == "history"
    ]
    ended = [line for line in history if "episode/minihack/progression" in line]
    assert [line["progress/ended"] for line in ended] == [1, 2]
    assert ended[-1]["progress/calls"] == run.episodes["calls"].sum()
    summary = {item.key: item.value_json for record in records for item in record.summary.update}
    assert float(summary["results/minihack/progression"]) == run.summary["average_progress"]
    (table,) = path.parent.glob("files/media/table/episodes_*.table.json")
    assert len(json.loads(table.read_text())["data"]) == 2


def test_wandb_without_a_key_does_not_ask_on_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played(tmp_path / "run", "run.watch=[wandb]")
    said = capsys.readouterr().err
    assert "no API key; run `wandb login`, set WANDB_API_KEY, or set WANDB_MODE=offline" in said
    assert "it is switched off, the run continues" in said


def check_mlflow(run: balrog_rag.Run, address: str, experiment: str) -> None:
    client = MlflowClient(address)
    (logged,) = client.search_runs([client.get_experiment_by_name(experiment).experiment_id])
    assert (logged.info.status, logged.info.run_name) == ("FINISHED", "run")
    assert logged.data.params["limits.steps"] == "3"
    assert logged.data.tags["balrog_rag.viewer"] == (run.folder / "view.html").as_uri()
    assert logged.data.metrics["results/minihack/progression"] == run.summary["average_progress"]
    assert logged.data.metrics["progress/calls"] == run.episodes["calls"].sum()
    history = client.get_metric_history(logged.info.run_id, "episode/minihack/progression")
    assert len(history) == 2
    files = {file.path for file in client.list_artifacts(logged.info.run_id)}
    assert files == {"results.json", "episodes.json", "run.json"}


def test_mlflow_logs_to_a_server(
    mlflow_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", mlflow_server)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "games")
    run = played(tmp_path / "run", "run.watch=[mlflow]")
    printed = capfd.readouterr()
    assert "View run" not in printed.out
    assert printed.err == ""
    check_mlflow(run, mlflow_server, "games")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_mlflow_logs_to_a_local_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"sqlite:///{tmp_path}/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    monkeypatch.chdir(tmp_path)
    check_mlflow(played(tmp_path / "run", "run.watch=[mlflow]"), address, "balrog_rag")


def test_a_server_that_is_away_does_not_stop_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    played(tmp_path / "run", "run.watch=[mlflow]")
    assert capsys.readouterr().err.count("watcher MlflowTracker failed: ") == 1


def attributes(span: Any) -> dict[str, Any]:
    def value(given: Any) -> Any:
        kind = given.WhichOneof("value")
        return (
            [value(each) for each in given.array_value.values]
            if kind == "array_value"
            else getattr(given, kind)
        )

    return {each.key: value(each.value) for each in span.attributes}


def test_a_collector_receives_each_episode_as_a_trace(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
    run = played(tmp_path / "run", "run.watch=[otel]")
    sent = [spans for request in collector.requests for spans in request.resource_spans]
    assert attributes(sent[0].resource)["service.name"] == "balrog_rag"
    spans = [span for each in sent for scope in each.scope_spans for span in scope.spans]
    (whole,) = [span for span in spans if span.name == "run run"]
    found = attributes(whole)
    assert found["balrog_rag.results.minihack.progression"] == run.summary["average_progress"]
    assert json.loads(found["balrog_rag.config"])["limits"]["steps"] == 3
    assert found["balrog_rag.viewer"] == (run.folder / "view.html").as_uri()
    roots = [span for span in spans if span.name == "invoke_agent robust_star"]
    assert len(roots) == len({span.trace_id for span in roots}) == 2
    for root in roots:
        about = attributes(root)
        assert about["gen_ai.request.model"] == "scripted"
        children = [span for span in spans if span.parent_span_id == root.span_id]
        kinds = [attributes(span)["gen_ai.operation.name"] for span in children]
        calls = run.episodes.set_index("episode").loc[about["balrog_rag.episode"], "calls"]
        assert (kinds.count("chat"), kinds.count("execute_tool")) == (calls, 3)
        assert kinds.count("retrieval") == 3
        (event,) = root.events
        assert event.name == conventions.EVALUATION
        assert attributes(event)["gen_ai.evaluation.score.value"] == about["gen_ai.evaluation.score.value"]
        assert all(root.start_time_unix_nano <= span.end_time_unix_nano for span in children)
        assert "gen_ai.input.messages" not in attributes(children[0])


def test_a_player_that_asks_no_model_names_none(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
    words = ("env=corridor", "agent=random", "env.episodes=1", "limits.steps=3", "runner.log=none")
    balrog_rag.evaluate(*words, "run.watch=[otel]", folder=tmp_path / "run")
    sent = [spans for request in collector.requests for spans in request.resource_spans]
    spans = [span for each in sent for scope in each.scope_spans for span in scope.spans]
    (root,) = [attributes(span) for span in spans if span.name == "invoke_agent random"]
    assert root["gen_ai.provider.name"] == "balrog_rag"
    assert "gen_ai.request.model" not in root


def test_prompts_are_sent_on_request(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    played(tmp_path / "run", "run.watch=[otel]")
    spans = [
        attributes(span)
        for request in collector.requests
        for each in request.resource_spans
        for scope in each.scope_spans
        for span in scope.spans
    ]
    chats = [found for found in spans if found.get("gen_ai.operation.name") == "chat"]
    assert all(json.loads(found["gen_ai.input.messages"])[0]["role"] for found in chats)


@pytest.mark.parametrize("status", [0, 400])
def test_spans_that_are_lost_are_counted(
    status: int, collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    collector.status = status
    address = collector.address if status else f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2")
    played(tmp_path / "run", "run.watch=[otel]")
    said = capsys.readouterr().err
    assert "33 of 33 spans could not be sent; check OTEL_EXPORTER_OTLP_ENDPOINT" in said
    assert said.count("\n") == 1


def test_several_watchers_of_a_sweep_have_a_run_each(
    mlflow_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", mlflow_server)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "sweep")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    arms = ("-m", "agent=random,naive", "model=scripted", "env=corridor", "env.episodes=2", "limits.steps=3")
    code = main([*arms, "runner.log=none", f"run.folder={tmp_path}/results", "run.watch=[mlflow,wandb]"])
    assert code == 0
    client = MlflowClient(mlflow_server)
    logged = client.search_runs([client.get_experiment_by_name("sweep").experiment_id])
    assert sorted(run.data.params["agent.name"] for run in logged) == ["naive", "random"]
    assert {run.data.metrics["progress/ended"] for run in logged} == {2}
    assert len(list(tmp_path.glob("wandb/offline-run-*/run-*.wandb"))) == 2


def test_a_package_that_hangs_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(user_watchers, "PATIENCE", Patience(start=0.5))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://192.0.2.1:5000")  # an address that never answers
    played(tmp_path / "run", "run.watch=[mlflow]")
    assert "watcher MlflowTracker hangs: it has spent" in capsys.readouterr().err
