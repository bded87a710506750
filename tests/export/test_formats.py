"""Runs in the formats of other tools: what their readers find is what the journals hold."""

import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import msgspec
import pytest

import balrog_rag
from balrog_rag.cli.episode import main
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.export.every_eval import ModelIdentity
from balrog_rag.results.episodes import Calls, Episode
from balrog_rag.results.runs import load
from tests.support import edit_journal

WORDS = (
    *("model=scripted", "env=corridor", "env.episodes=2"),
    *("limits.steps=3", "runner.workers=1", "runner.log=none"),
)
RAG = ("agent=robust_star_rag", "knowledge.index=bm25")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> balrog_rag.Run:
    """Two episodes of an agent that searches, asks for a summary, and acts."""
    return balrog_rag.evaluate(*WORDS, *RAG, folder=tmp_path_factory.mktemp("formats") / "run")


def export(run: balrog_rag.Run, kind: str, out: Path, *words: str) -> list[Path]:
    assert main(["export", str(run.folder), "--to", kind, "--out", str(out), *words]) == 0
    return sorted(path for path in out.iterdir() if path.is_file())


def actions(run: balrog_rag.Run) -> list[str]:
    return [action for name in run.episodes["episode"] for action in run.steps(name)["taken"]]


@pytest.mark.parametrize("kind", ["jsonl", "atif", "hf-traces", "otlp"])
def test_a_file_for_each_episode_of_a_run(run: balrog_rag.Run, tmp_path: Path, kind: str) -> None:
    made = export(run, kind, tmp_path / "out")
    assert len(made) == 2
    one = tmp_path / "one.json"
    assert main(["export", str(run.journal()), "--to", kind, "--out", str(one)]) == 0
    assert one.read_bytes() == made[0].read_bytes()  # the same as the journal by itself


def test_session_traces_are_a_conversation(run: balrog_rag.Run, tmp_path: Path) -> None:
    (first, *lines), *_ = [
        [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
        for path in export(run, "hf-traces", tmp_path / "out")
    ]
    assert (first["type"], first["harness"], first["name"]) == (
        "session",
        "balrog_rag",
        run.episodes["episode"][0],
    )
    messages = [line["message"] for line in lines]
    assert [message["role"] for message in messages[:2]] == ["user", "user"]
    assert "MiniHack" in messages[0]["content"]
    called = {call["id"]: call for message in messages for call in message.get("toolCalls", ())}
    answered = [message["toolCallId"] for message in messages if message["role"] == "tool"]
    assert sorted(called) == sorted(answered)  # every call has exactly one result
    acts = [msgspec.json.decode(call["function"]["arguments"]) for call in called.values()]
    taken = [act["action"] for act in acts if "action" in act]
    assert taken == list(run.steps()["taken"])


def test_inspect_logs_hold_scores_usage_and_messages(run: balrog_rag.Run, tmp_path: Path) -> None:
    (path,) = export(run, "inspect", tmp_path / "out")
    with ZipFile(path) as file:
        content = {name: msgspec.json.decode(file.read(name)) for name in file.namelist()}
    header, episodes = content["header.json"], load(run.folder).episodes
    assert (header["version"], header["status"]) == (2, "success")
    (score,) = header["results"]["scores"]
    assert score["metrics"]["mean"]["value"] == sum(each.progression for each in episodes) / 2
    usage = header["stats"]["model_usage"]["scripted"]
    assert usage["total_tokens"] == sum(each.total.input + each.total.output for each in episodes)
    samples = [content[f"samples/{name}_epoch_1.json"] for name in header["eval"]["dataset"]["sample_ids"]]
    taken = [
        call["arguments"]["action"]
        for sample in samples
        for message in sample["messages"]
        for call in message.get("tool_calls") or ()
        if call["function"] == "act"
    ]
    assert taken == actions(run)
    assert [sample["limit"]["type"] for sample in samples] == ["turn", "turn"]
    assert [sample["metadata"]["episode"] for sample in samples] == list(run.episodes["episode"])
    assert [summary["completed"] for summary in content["summaries.json"]] == [True, True]


def test_a_sample_without_an_end_has_no_score(run: balrog_rag.Run, tmp_path: Path) -> None:
    cut = tmp_path / "run"
    shutil.copytree(run.folder, cut)
    journal = balrog_rag.Run(cut).journal(1)
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    (path,) = export(balrog_rag.Run(cut), "inspect", tmp_path / "out")
    with ZipFile(path) as file:
        header = msgspec.json.decode(file.read("header.json"))
        unfinished = msgspec.json.decode(
            file.read(f"samples/{header['eval']['dataset']['sample_ids'][1]}_epoch_1.json")
        )
    assert header["status"] == "cancelled"
    assert header["results"]["completed_samples"] == 1
    assert "scores" not in unfinished


def test_results_of_a_run_that_goes_on_are_noted_as_such(
    run: balrog_rag.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = shutil.copytree(run.folder, tmp_path / "run")
    journal = balrog_rag.Run(cut).journal(1)
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    export(balrog_rag.Run(cut), "eee", tmp_path / "cut")
    assert capsys.readouterr().err == "note: run: 1 episode unfinished\n"
    export(run, "eee", tmp_path / "whole")
    assert capsys.readouterr().err == ""


def test_every_eval_ever_has_our_interval(run: balrog_rag.Run, tmp_path: Path) -> None:
    words = ("--organization", "A University", "--relationship", "third_party")
    assert export(run, "eee", tmp_path, *words) == []
    results, samples = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    made = msgspec.json.decode(results.read_bytes())
    (result,) = made["evaluation_results"]
    assert made["schema_version"] == "0.3.0"
    assert made["source_metadata"]["source_organization_name"] == "A University"
    assert made["source_metadata"]["evaluator_relationship"] == "third_party"
    details = result["score_details"]
    assert details["score"] == run.summary["average_progress"]
    found = details["uncertainty"]["confidence_interval"]
    assert found["lower"] <= details["score"] <= found["upper"]
    assert details["uncertainty"]["num_samples"] == 2
    fits(made, EVERY_EVAL_EVER)
    detailed = made["detailed_evaluation_results"]
    assert tmp_path / detailed["file_path"] == samples
    assert detailed["checksum"] == sha256(samples.read_bytes()).hexdigest()
    rows = [msgspec.json.decode(line) for line in samples.read_bytes().splitlines()]
    assert [row["sample_id"] for row in rows] == list(run.episodes["episode"])
    assert {row["evaluation_result_id"] for row in rows} == {result["evaluation_result_id"]}
    assert sum(row["evaluation"]["score"] for row in rows) / 2 == details["score"]
    called = [
        call["arguments"] for row in rows for line in row["messages"] for call in line.get("tool_calls", ())
    ]
    assert [each["action"] for each in called if "action" in each] == actions(run)


def test_players_and_files_have_names_that_every_eval_ever_accepts() -> None:
    def identity(model: dict[str, str], calls: int = 1) -> tuple[str, str]:
        asked = {"act": Calls(count=1)} if calls else {}
        game = GameSpec("minihack", "MiniHack-Corridor-R3-v0", Seeds(0, 0))
        found = ModelIdentity.of(Episode("", game, {"name": "delver"}, model, {}, "", "", calls=asked))
        return found.id, found.platform

    assert identity({}, calls=0) == ("balrog_rag/delver", "")
    assert identity({"name": "openai/gpt-5.4-mini"}) == ("openai/gpt-5.4-mini", "")
    assert identity({"name": "hosted_vllm/Qwen/Qwen3-8B"}) == ("Qwen/Qwen3-8B", "hosted_vllm")
    assert identity({"backend": "local", "name": "/models/own.gguf"}) == ("local/own.gguf", "")


EVERY_EVAL_EVER: Any = {
    "schema_version": str,
    "evaluation_id": str,
    "retrieved_timestamp": str,
    "source_metadata": {
        "source_type": str,
        "source_organization_name": str,
        "evaluator_relationship": str,
    },
    "eval_library": {"name": str, "version": str},
    "model_info": {"name": str, "id": str},
    "evaluation_results": [
        {
            "evaluation_name": str,
            "source_data": {"dataset_name": str, "source_type": str},
            "metric_config": {
                "lower_is_better": bool, "score_type": {"continuous"},
                "min_score": (int, float), "max_score": (int, float),
            },
            "score_details": {
                "score": (int, float),
                "uncertainty": {
                    "num_samples": int,
                    "standard_deviation": (int, float),
                    "standard_error": {"value": (int, float), "method": str},
                    "confidence_interval": {"lower": (int, float), "upper": (int, float),
                                            "confidence_level": (int, float), "method": str},
                },
            },
        }
    ],
}  # fmt: skip
"""What a record of schema 0.3.0 has. `integrations/formats` validates records with the package itself."""


def fits(value: Any, shape: Any) -> None:
    """Check that a value has every key of a shape, with values of the types or among the choices there."""
    match shape:
        case dict():
            assert shape.keys() <= value.keys()
            for key, inner in shape.items():
                fits(value[key], inner)
        case list():
            assert value
            for each in value:
                fits(each, shape[0])
        case set():
            assert value in shape
        case _:
            assert isinstance(value, shape)


def test_results_for_a_models_card_say_how_they_were_made(
    run: balrog_rag.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = export(run, "hf-results", tmp_path / "out", "--dataset", "university/balrog")
    (entry,) = msgspec.yaml.decode(path.read_bytes())
    assert entry["dataset"] == {"id": "university/balrog", "task_id": "minihack"}
    assert entry["value"] == round(run.summary["average_progress"], 4)
    assert "n=2" in entry["notes"]
    assert "with retrieval" in entry["notes"]
    words = ["export", str(run.folder), "--to", "hf-results", "--out", str(tmp_path / "none")]
    assert main(words) == 2
    assert (
        "--dataset: missing; --to hf-results needs a dataset repository ORG/NAME" in capsys.readouterr().err
    )


def test_one_journal_is_a_log_of_one_sample(run: balrog_rag.Run, tmp_path: Path) -> None:
    named, folder = tmp_path / "one.eval", tmp_path / "logs"
    for out in (named, folder):
        assert main(["export", str(run.journal(1)), "--to", "inspect", "--out", str(out)]) == 0
    (inside,) = folder.iterdir()
    for path in (named, inside):
        with ZipFile(path) as file:
            header = msgspec.json.decode(file.read("header.json"))
            sample = msgspec.json.decode(file.read("samples/1_epoch_1.json"))
        assert header["results"]["completed_samples"] == 1
        assert sample["metadata"]["episode"] == run.episodes["episode"][1]


def test_one_journal_is_a_record_of_its_own(
    run: balrog_rag.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in (run.folder, run.journal(0), run.journal(1)):
        assert main(["export", str(place), "--to", "eee", "--out", str(tmp_path)]) == 0
    made = [msgspec.json.decode(path.read_bytes()) for path in sorted(tmp_path.rglob("*[!s].json"))]
    assert len({each["evaluation_id"] for each in made}) == 3
    counts = [each["detailed_evaluation_results"]["total_rows"] for each in made]
    assert sorted(counts) == [1, 1, 2]
    words = ["export", str(run.journal(0)), "--to", "hf-results", "--dataset", "a/b", "--out", str(tmp_path)]
    assert main(words) == 2
    assert "of a whole run: pass its folder" in capsys.readouterr().err


@pytest.fixture
def unasked(tmp_path: Path) -> balrog_rag.Run:
    """A game of a program, whose configuration has a model that it never asks."""
    words = ("env=nethack", "agent=delver", "env.episodes=1", "limits.steps=20", "runner.log=none")
    return balrog_rag.evaluate(*words, folder=tmp_path / "delver")


def test_spans_name_no_model_that_was_not_asked(unasked: balrog_rag.Run, tmp_path: Path) -> None:
    (path,) = export(unasked, "otlp", tmp_path / "out")
    content = path.read_text()
    assert "gen_ai.request.model" not in content
    assert str(unasked.config["model"]["name"]) not in content
    root, *_ = msgspec.json.decode(content)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert attributes(root)["gen_ai.provider.name"] == "balrog_rag"


def test_tool_definitions_fit_the_calls(unasked: balrog_rag.Run, run: balrog_rag.Run, tmp_path: Path) -> None:
    kinds = {"string": str, "integer": int, "array": list}
    for each in (unasked, run):
        made = msgspec.json.decode(export(each, "atif", tmp_path / f"{each.folder.name} out")[0].read_bytes())
        defined = {
            tool["function"]["name"]: tool["function"]["parameters"]["properties"]
            for tool in made["agent"]["tool_definitions"]
        }
        for call in (call for step in made["steps"] for call in step.get("tool_calls") or ()):
            for name, value in call["arguments"].items():
                shape = defined[call["function_name"]][name]
                assert type(value) is kinds[shape["type"]]
                if isinstance(value, list):
                    assert {type(item) for item in value} == {kinds[shape["items"]["type"]]}


def damaged(run: balrog_rag.Run, folder: Path) -> balrog_rag.Run:
    shutil.copytree(run.folder, folder)
    journal = balrog_rag.Run(folder).journal(1)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:4], b"{}\n", *lines[4:]]))
    return balrog_rag.Run(folder)


@pytest.mark.parametrize("kind", ["parquet", "eee", "inspect"])
def test_a_damaged_journal_replaces_no_file_that_was_made_before(
    kind: str, run: balrog_rag.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, out = damaged(run, tmp_path / "run"), tmp_path / "out"

    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}

    # Under the name of the damaged one, so that the same files would be written.
    whole = tmp_path / "whole" / "run"
    shutil.copytree(run.folder, whole)
    assert main(["export", str(whole), "--to", kind, "--out", str(out)]) == 0
    before = files()
    assert main(["export", str(broken.folder), "--to", kind, "--out", str(out)]) == 1
    said = capsys.readouterr().err
    assert "line 5 is not a journal entry" in said
    assert said.count("\n") == 1
    assert files() == before


@pytest.mark.parametrize("kind", ["jsonl", "atif", "inspect", "hf-traces", "eee", "otlp", "parquet"])
def test_what_cannot_be_read_or_written_is_one_line_and_leaves_no_folder(
    kind: str, run: balrog_rag.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, text, empty, begun = (tmp_path / name for name in ("out", "text", "empty", "begun.journal.jsonl"))
    text.write_text("no journal")
    empty.mkdir()
    begun.touch()  # the process ended before it wrote the header
    for place in (tmp_path / "missing", text, empty, begun):
        assert main(["export", str(place), "--to", kind, "--out", str(out)]) in (1, 2)
        said = capsys.readouterr().err
        assert said.startswith(f"error: {place}: ")
        assert said.count("\n") == 1
        assert not out.exists()
    assert main(["export", str(run.folder), "--to", kind, "--out", "/proc/nowhere"]) == 2
    assert "error: --out /proc/nowhere: cannot be created (" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["jsonl", "atif", "hf-traces", "otlp", "sft", "chat"])
def test_no_file_of_a_run_is_replaced(
    kind: str, run: balrog_rag.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run.folder, folder)
    journal = balrog_rag.Run(folder).journal(0)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for out in (journal, folder / "config.json", folder / "run.json"):
        assert main(["export", str(journal), "--to", kind, "--out", str(out)]) == 2
        assert f"--out {out}: is a file of a run, which would be lost" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_names_that_cannot_be_written_are_one_line(
    run: balrog_rag.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal, name = str(run.journal(0)), "x" * 300
    for words in (
        [journal, "--to", "jsonl", "--out", name],
        [journal, "--to", "eee", "--out", name],
        [name, "--to", "jsonl"],
    ):
        assert main(["export", *words]) == 2
        said = capsys.readouterr().err
        assert said.startswith("error: ")
        assert said.endswith(": File name too long\n") or "(File name too long)" in said
        assert said.count("\n") == 1
    (tmp_path / "out" / "steps.parquet").mkdir(parents=True)
    assert main(["export", journal, "--to", "parquet", "--out", str(tmp_path / "out")]) == 1
    assert "steps.parquet: cannot be written (Is a directory)" in capsys.readouterr().err
    assert not [*(tmp_path / "out").glob(".*")]  # no draft is left


def test_spans_of_absurd_durations_have_times_of_64_bits(run: balrog_rag.Run, tmp_path: Path) -> None:
    shutil.copytree(run.folder, tmp_path / "run")
    journal = balrog_rag.Run(tmp_path / "run").journal(0)
    edit_journal(journal, "llm", lambda entry: entry["reply"].update(latency=1e300))
    out = tmp_path / "out.json"
    assert main(["export", str(journal), "--to", "otlp", "--out", str(out)]) == 0
    (scope,) = msgspec.json.decode(out.read_bytes())["resourceSpans"][0]["scopeSpans"]
    times = [(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])) for span in scope["spans"]]
    assert all(begun <= ended < 2**63 for begun, ended in times)


def attributes(span: Mapping[str, Any]) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


def test_spans_are_nested_and_add_up(run: balrog_rag.Run, tmp_path: Path) -> None:
    path = export(run, "otlp", tmp_path / "out")[0]
    ((scope,),) = [each["scopeSpans"] for each in msgspec.json.decode(path.read_bytes())["resourceSpans"]]
    root, *spans = scope["spans"]
    (event,) = root["events"]
    assert event["name"] == "gen_ai.evaluation.result"
    assert attributes(event)["gen_ai.evaluation.name"] == "progression"
    assert "parentSpanId" not in root
    assert {span["parentSpanId"] for span in spans} == {root["spanId"]}
    assert len({span["spanId"] for span in scope["spans"]}) == len(scope["spans"])
    kinds = [attributes(span)["gen_ai.operation.name"] for span in spans]
    assert kinds == ["chat", "retrieval", "chat", "chat", "execute_tool"] * 3
    tokens = sum(int(attributes(span).get("gen_ai.usage.input_tokens", 0)) for span in spans)
    assert tokens == run.episodes["input_tokens"][0]
    assert all(int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) for span in scope["spans"])
    assert not any("gen_ai.input.messages" in attributes(span) for span in spans)  # only with --prompts


def test_tables_hold_every_step_and_call(run: balrog_rag.Run, tmp_path: Path) -> None:
    read = pytest.importorskip("pyarrow.parquet").read_table
    out = tmp_path / "out"
    assert [path.name for path in export(run, "parquet", out)] == [
        "calls.parquet",
        "episodes.parquet",
        "steps.parquet",
    ]
    tables = {name: read(out / f"{name}.parquet").to_pylist() for name in ("episodes", "steps", "calls")}
    assert [row["episode"] for row in tables["episodes"]] == list(run.episodes["episode"])
    assert [row["taken"] for row in tables["steps"]] == actions(run)
    purposes = [row["purpose"] for row in tables["calls"]]
    assert purposes == ["query", "search", "summary", "act"] * 6
    assert sum(row["input_tokens"] or 0 for row in tables["calls"]) == sum(run.episodes["input_tokens"])
    assert {each["name"]: each["value"] for each in tables["steps"][0]["numbers"]}["turn"] >= 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "inspect"], "add --out FOLDER"),
        (["--to", "atif"], "--to atif: writes several files; add --out FOLDER"),
        (["--to", "parquet", "--out", "FILE"], "is a file"),
        (["--to", "otlp", "agent=cot"], "overrides need training data"),
        (["--to", "eee", "--min-progression", "1"], "need training data"),
    ],
)
def test_mistakes_are_one_line(
    run: balrog_rag.Run, tmp_path: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "FILE").write_text("")
    words = [str(tmp_path / word) if word == "FILE" else word for word in words]
    assert main(["export", str(run.folder), *words]) == 2
    assert said in capsys.readouterr().err
