"""Records are accepted by the checks that the datastore of Every Eval Ever runs on submissions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import export
from every_eval_ever.eval_types import EvaluationLog
from every_eval_ever.instance_level_types import InstanceLevelEvaluationLog

import balrog_rag


def validated(place: Path, code: int = 0) -> str:
    """Validate everything below a folder; exit code 0 means neither an error nor a warning."""
    words = [sys.executable, "-m", "every_eval_ever", "validate", "data/*/*/*/*.json*"]
    done = subprocess.run(
        words, cwd=place, capture_output=True, text=True, env={**os.environ, "COLUMNS": "300"}
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_runs_are_accepted_together(
    searching: balrog_rag.Run, skilled: balrog_rag.Run, unasked: balrog_rag.Run, tmp_path: Path
) -> None:
    for run in (searching, skilled, unasked):
        export(run, "eee", tmp_path, "--organization", "A University", "--relationship", "third_party")
    assert "6 passed" in validated(tmp_path)


def test_what_the_package_reads_is_what_the_run_holds(searching: balrog_rag.Run, tmp_path: Path) -> None:
    results, samples = export(searching, "eee", tmp_path)
    log = EvaluationLog.model_validate_json(results.read_text())
    (result,) = log.evaluation_results
    assert result.score_details.score == searching.summary["average_progress"]
    found = result.score_details.uncertainty.confidence_interval
    assert found.lower <= result.score_details.score <= found.upper
    assert found.confidence_level == 0.95
    rows = [InstanceLevelEvaluationLog.model_validate_json(line) for line in samples.read_text().splitlines()]
    assert [row.sample_id for row in rows] == list(searching.episodes["episode"])
    assert rows[0].token_usage.input_tokens == searching.episodes["input_tokens"][0]
    assert rows[0].evaluation.tool_calls_count == 6


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda made: made["evaluation_results"][0]["score_details"].update(score=101.0), "outside"),
        (lambda made: made["detailed_evaluation_results"].update(total_rows=3), "total_rows"),
        (lambda made: made["model_info"].update(id="other/model"), "model_id"),
    ],
)
def test_the_checks_notice_changes(
    searching: balrog_rag.Run, tmp_path: Path, change: object, said: str
) -> None:
    results, _ = export(searching, "eee", tmp_path)
    made = json.loads(results.read_text())
    change(made)
    results.write_text(json.dumps(made))
    assert said in validated(tmp_path, code=1)


def test_its_converter_reads_our_inspect_logs(searching: balrog_rag.Run, tmp_path: Path) -> None:
    (log,) = export(searching, "inspect", tmp_path / "logs")
    words = [sys.executable, "-m", "every_eval_ever.converters.inspect", "--log_path", str(log)]
    subprocess.run([*words, "--output_dir", str(tmp_path / "data")], check=True, capture_output=True)
    (converted,) = (tmp_path / "data").rglob("*[!s].json")
    (result,) = EvaluationLog.model_validate_json(converted.read_text()).evaluation_results[:1]
    assert result.score_details.score == searching.summary["average_progress"] / 100
