"""Servers that change behind a name: fingerprints in journals, the canary, and who says so."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from balrog_rag.cli.verbs import main
from balrog_rag.models.canary import PROMPTS
from balrog_rag.models.serving.testserver import TestServer
from balrog_rag.results.served import canaries
from balrog_rag.util.loop_thread import LoopThread


@pytest.fixture
def server() -> Iterator[TestServer]:
    """A server in a thread of its own, since commands run their own event loops."""
    made, loop = TestServer(served="m-2026-01", fingerprint="fp-1"), LoopThread("server")
    loop.run(made.open())
    yield made
    loop.run(made.close())
    loop.close()


def words(server: TestServer, folder: Path, name: str) -> list[str]:
    return [
        *("agent=naive", "env.tasks=[babyai/BabyAI-MixedTrainLocal-v0/goto]", "env.episodes=2"),
        *(
            "limits.steps=2",
            "runner.log=none",
            "runner.workers=1",
            f"run.folder={folder}",
            f"run.name={name}",
        ),
        *("model=vllm", "model.name=m", f"model.base_url={server.url}"),
    ]


def test_a_server_that_changed_is_reported(
    server: TestServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *words(server, tmp_path, "a")]) == 0
    lines = next((tmp_path / "a").rglob("*.jsonl")).read_text().splitlines()
    replies = [json.loads(line)["reply"] for line in lines if '"t":"llm"' in line]
    assert {(each["model"], each["fingerprint"]) for each in replies} == {("m-2026-01", "fp-1")}
    served = json.loads((tmp_path / "a" / "summary.json").read_text())["served"]
    assert served == {"models": ["m-2026-01"], "fingerprints": ["fp-1"]}

    server.fingerprint = "fp-2"
    assert main(["run", *words(server, tmp_path, "b")]) == 0
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "the servers may not have been the same: fingerprint of hosted_vllm/m: fp-1 (a), fp-2 (b)" in said
    assert main(["report", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(tmp_path / "report")]) == 0
    written = " ".join(path.read_text() for path in (tmp_path / "report").rglob("*.md"))
    assert "fp-2" in written
    capsys.readouterr()
    board = [
        "leaderboard",
        "build",
        str(tmp_path / "a"),
        str(tmp_path / "b"),
        "--out",
        str(tmp_path / "board"),
    ]
    assert main(board) == 0
    assert "the servers may not have been the same" in " ".join(capsys.readouterr().out.split())


def test_the_canary_is_stored_and_compared(
    server: TestServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        assert main(["run", *words(server, tmp_path, name)]) == 0
    capsys.readouterr()
    before = server.counts.total()
    asked = ["models", "canary", "vllm", "model.name=m", f"model.base_url={server.url}", "--run"]
    assert main([*asked, str(tmp_path / "a")]) == 0
    assert server.counts.total() == before + len(PROMPTS)
    assert {call.json["temperature"] for call in list(server.calls)[-20:]} == {0.0}
    server._answer = lambda texts: "something else"
    assert main([*asked, str(tmp_path / "b")]) == 0
    assert "returned model id: m-2026-01" in capsys.readouterr().out
    (one,), (other,) = canaries(tmp_path / "a"), canaries(tmp_path / "b")
    assert len(one.answers) == len(PROMPTS) == 20
    assert one.digest != other.digest
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert f"canary of hosted_vllm/m: {one.digest} (a), {other.digest} (b)" in " ".join(
        capsys.readouterr().out.split()
    )
    asked[2] = f"model={asked[2]}"  # as for a run
    assert main([*asked, str(tmp_path / "b")]) == 0
    assert "(as before)" in capsys.readouterr().out
    assert len(canaries(tmp_path / "b")) == 2


@pytest.mark.parametrize("content", [b"", b"[", b'{"a": 1}', b'[{"model": 3}]', b"[" * 100_000])
def test_an_unreadable_canary_is_none(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "canary.json").write_bytes(content)
    assert canaries(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["vllm", "agent.lenient=true"], "agent.lenient=true: not a setting of the model"),
        (["scripted", "--run", "nowhere"], "nowhere"),
    ],
)
def test_wrong_uses_are_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "canary", *arguments]) != 0
    said = capsys.readouterr().err.strip().splitlines()
    assert message in said[-1]
