"""Exported runs, read by the formats' own readers."""

from pathlib import Path

import pytest
from google.protobuf.json_format import Parse
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

import balrog_rag
from balrog_rag.cli.episode import main

WORDS = ("model=scripted", "agent=robust_star_rag", "knowledge.index=bm25", "env=corridor", "runner.log=none")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> balrog_rag.Run:
    place = tmp_path_factory.mktemp("readers") / "run"
    return balrog_rag.evaluate(*WORDS, "env.episodes=2", "limits.steps=3", folder=place)


def test_inspect_reads_its_log(run: balrog_rag.Run, tmp_path: Path) -> None:
    assert main(["export", str(run.folder), "--to", "inspect", "--out", str(tmp_path)]) == 0
    (path,) = tmp_path.iterdir()
    log = read_eval_log(str(path))
    assert (log.status, log.eval.task, len(log.samples)) == ("success", "balrog_rag/minihack", 2)
    assert log.results.scores[0].metrics["mean"].value == run.summary["average_progress"] / 100
    assert log.samples[0].limit.type == "turn"
    called = [
        call for message in log.samples[0].messages for call in getattr(message, "tool_calls", None) or ()
    ]
    assert [call.function for call in called] == ["search", "act"] * 3
    usage = log.samples[0].model_usage["scripted"]
    assert usage.input_tokens == run.episodes["input_tokens"][0]
    assert len(read_eval_log_sample_summaries(str(path))) == 2


def test_opentelemetry_reads_the_spans(run: balrog_rag.Run, tmp_path: Path) -> None:
    assert main(["export", str(run.folder), "--to", "otlp", "--prompts", "--out", str(tmp_path)]) == 0
    for path in sorted(tmp_path.iterdir()):
        request = Parse(path.read_text(), ExportTraceServiceRequest())
        spans = request.resource_spans[0].scope_spans[0].spans
        assert len(spans) == 1 + 3 * 5
        assert all(span.parent_span_id == spans[0].span_id for span in spans[1:])
