"""A whole run with the test server: each prompt answered once, the right cost, no key left behind."""

from pathlib import Path

import httpx
import pytest

from balrog_rag.episode.journal import Completion, read
from tests.models.test_testserver import serving
from tests.support import command

KEYS = {
    "OPENAI_API_KEY": "sk-proj-Canary0123456789abcdefABCDEF_xyz",
    "ANTHROPIC_API_KEY": "sk-ant-api03-Canary_0123456789-abcdefABCDEF",
    "HF_TOKEN": "hf_CanaryabcdefABCDEF0123456789",
    "CANARY_TEAM_KEY": "canary-team-0123456789",
}


def evaluate(url, folder, *words):
    """Run `python -m balrog_rag.eval` with the test server as its model and canary secrets everywhere."""
    given = [
        *("model=vllm", f"model.base_url={url}", "agent=robust_naive"),
        *("env.episodes=2", "limits.steps=6", "run.name=r", "runner.workers=1", "model.price.input=1"),
        *("model.price.output=1", "model.retry.first_wait=0.01", "model.api_key_env=OPENAI_API_KEY"),
        *("+model.extra_headers.x-team-key=env:CANARY_TEAM_KEY", "model.timeout=5", *words),
    ]
    return resume(folder, *given)


def resume(folder, *words):
    """Resume an existing run folder in the same way."""
    # LiteLLM's debug output must not print headers either.
    return command("balrog_rag.eval", *words, cwd=folder, **KEYS, LITELLM_LOG="DEBUG")


def everything_written(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def completions(folder: Path):
    for path in sorted(folder.rglob("*.journal.jsonl")):
        yield from (entry for entry in read(path).entries if isinstance(entry, Completion))


def test_a_run_through_faults_asks_nothing_twice_counts_right_and_leaks_nothing(tmp_path):
    faults = [f"--fault={name}" for name in ("429", "500", "reset", "truncated", "invalid-utf8", "echo-500")]
    with serving("--tokens", "1000", "0", "0", "--fault-rate", "0.4", *faults) as url:
        done = evaluate(url, tmp_path)
        state = httpx.get(url.replace("/v1", "/counts")).json()
    assert done.returncode == 0, done.stdout + done.stderr
    recorded = list(completions(tmp_path))
    assert len(recorded) == 12 == state["answered"]
    assert sum(entry.reply.cost for entry in recorded) == pytest.approx(12 * 1000 / 1e6)
    assert sum(entry.reply.attempts for entry in recorded) == state["requests"] > state["answered"]
    for seen in (everything_written(tmp_path), done.stdout.encode(), done.stderr.encode()):
        assert b"canary" not in seen.lower().replace(b"canary_team_key", b"")


def test_a_refused_key_stops_the_run_with_one_line_that_tells_no_key_and_it_can_be_resumed(tmp_path):
    with serving("--fault", "echo-401", "--fault-times", "-1") as url:
        done = evaluate(url, tmp_path)
        requests = httpx.get(url.replace("/v1", "/counts")).json()["requests"]
        port = url.split(":")[2].split("/")[0]
    assert done.returncode != 0
    assert "key was refused" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert requests <= 2  # the calls in flight, one of each episode
    for seen in (everything_written(tmp_path), done.stdout.encode(), done.stderr.encode()):
        assert b"canary" not in seen.lower().replace(b"canary_team_key", b"")
    with serving("--port", port):
        again = resume(tmp_path, "resume=results/r")
    assert again.returncode == 0, again.stdout + again.stderr
    assert len(list(completions(tmp_path))) == 12


def test_a_dollar_cap_without_a_price_is_refused_before_anything_is_written(tmp_path):
    unknown = ("model.price.input=null", "model.price.output=null")
    with serving("--tokens", "1000", "0", "0") as url:
        first = evaluate(url, tmp_path, *unknown, "limits.steps=2")
        paid = httpx.get(url.replace("/v1", "/counts")).json()["requests"]
        capped = evaluate(url, tmp_path, *unknown, "run.name=capped", "limits.run.dollars=5")
        assert httpx.get(url.replace("/v1", "/counts")).json()["requests"] == paid == 4
        assert not (tmp_path / "results/capped").exists()
        priced = ("model.price.input=1", "model.price.output=1")
        again = evaluate(url, tmp_path, *priced, "run.name=capped", "limits.run.dollars=5")
    assert first.returncode == 0, first.stderr
    assert capped.returncode == 2
    assert "no known price; set model.price.input" in capped.stderr
    assert "Traceback" not in capped.stderr
    assert again.returncode == 0, again.stderr
    assert len(list(completions(tmp_path / "results/capped"))) == 12
