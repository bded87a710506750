"""The estimate of `--dry-run` against the prompts that a run with the same settings really sends."""

import asyncio
import json
from pathlib import Path

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.run.begin import previewed_run
from balrog_rag.run.cost_estimate import CostEstimate, _Sample, estimated
from tests.support import evaluate


def estimate_of(*words: str) -> CostEstimate:
    found = asyncio.run(estimated(previewed_run(compose(["model=scripted", *words]))))
    assert found is not None
    return found


@pytest.mark.parametrize(
    "words",
    [
        ["agent=cot"],
        pytest.param(["agent.retrieval.reuse=never", "limits.steps=40"], marks=pytest.mark.slow),
        pytest.param(["agent=naive", "env=crafter"], marks=pytest.mark.slow),
        pytest.param(["agent=cot_rag", "agent.retrieval.when=interval"], marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_prompts_are_as_many_and_as_long_as_those_of_a_run(words: list[str], tmp_path: Path) -> None:
    words = ["limits.steps=60", *words, "env.episodes=2"]
    done = evaluate(*words, "run.name=r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    entries = [
        json.loads(line)
        for path in (tmp_path / "results/r").rglob("*.journal.jsonl")
        for line in path.read_text().splitlines()
    ]
    inputs = [entry["reply"]["usage"]["input"] for entry in entries if entry["t"] == "llm"]
    found = estimate_of(*words)
    # The estimate is for games that last to their limit, as some of the run's do not.
    played = sum(entry["steps"] for entry in entries if entry["t"] == "end") / (2 * found.most_steps)
    assert found.used.calls * played == pytest.approx(len(inputs), rel=0.1)
    assert found.used.input * played == pytest.approx(sum(inputs), rel=0.2)


def test_later_prompts_are_as_long_as_the_last_ones() -> None:
    sample = _Sample([(step, 100 * (step + 1)) for step in range(10)], 10)
    assert sample.of_steps(2).input == 300
    tail = sum(100 * step for step in range(3, 11)) / 8
    assert sample.of_steps(30).input == 5500 + 20 * tail
    assert (sample.of_steps(30).decisions, sample.of_steps(30).calls) == (30, 30)


def test_a_decision_may_take_several_steps_and_calls() -> None:
    sample = _Sample([(step, 10) for step in (0, 0, 5, 5)], 10)
    assert (sample.of_steps(100).decisions, sample.of_steps(100).calls) == (20, 40)


def test_a_game_that_asks_nothing_costs_nothing() -> None:
    assert _Sample([], 0).of_steps(50).calls == 0
