"""Training data: one sample per segment, and the games of bots in the words of a model."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

import balrog_rag
from balrog_rag.cli.episode import main
from balrog_rag.contracts.data import Message, Reply, Request
from balrog_rag.contracts.events import Answered, Asked
from balrog_rag.export.samples import Sample, SampleCollector
from balrog_rag.results.run_folder import journals
from balrog_rag.run.replay import verify

GOTO = "env.tasks=[babyai/BabyAI-MixedTrainLocal-v0/goto]"
WORDS = ("env=babyai", GOTO, "env.episodes=2", "runner.log=none")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two games of a model with short prompts, so that each has several segments."""
    words = ("agent=naive_append", "model=scripted", "limits.steps=30", "agent.max_prompt_tokens=1000")
    return balrog_rag.evaluate(*WORDS, *words, folder=tmp_path_factory.mktemp("models") / "run").folder


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same games of the scripted player."""
    return balrog_rag.evaluate(
        *WORDS, "agent=scripted", folder=tmp_path_factory.mktemp("bots") / "run"
    ).folder


def exported(run: Path, out: Path, *words: str) -> list[dict[str, Any]]:
    assert main(["export", str(run), "--out", str(out), *words]) == 0
    return [msgspec.json.decode(line) for line in out.read_bytes().splitlines()]


def test_a_sample_per_segment_learns_every_answer_once(models: Path, tmp_path: Path) -> None:
    lines = exported(models, tmp_path / "sft.jsonl", "--to", "sft", "--duplicates")
    segments = [asyncio.run(verify(journal)).segments for journal in journals(models)]
    assert len(lines) == sum(segments)
    assert max(segments) > 1
    weights = [m["weight"] for line in lines for m in line["messages"] if m["role"] == "assistant"]
    assert sum(weights) == 60
    assert 0 in weights  # turns that a later segment repeats are not learned again
    assert all("weight" not in m for line in lines for m in line["messages"] if m["role"] != "assistant")


def test_a_bots_game_reads_as_a_models(bots: Path, tmp_path: Path) -> None:
    lines = exported(bots, tmp_path / "sft.jsonl", "--to", "sft", "agent=naive_append")
    for line, journal in zip(lines, journals(bots), strict=True):
        answers = [m["content"] for m in line["messages"] if m["role"] == "assistant"]
        steps = [msgspec.json.decode(each) for each in journal.read_bytes().splitlines()]
        pressed = [key for step in steps if step["t"] == "step" for key in step["pressed"]]
        assert answers == pressed
        assert line["outcome"] == "solved"
    # The same words that a model reads that plays the first game.
    played = balrog_rag.evaluate(
        *WORDS, "agent=naive_append", "model=scripted", "limits.steps=1", folder=tmp_path / "run"
    )
    asked = next(event for event in played.events() if isinstance(event, Asked))
    shown = [(m.role, m.text) for m in asked.request.messages]
    assert [(m["role"], m["content"]) for m in lines[0]["messages"][:2]] == shown


def test_filters_and_duplicates(models: Path, bots: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert exported(models, out, "--to", "sft", "--outcome", "solved") == []
    assert exported(models, out, "--to", "chat", "--until-progress") == []
    assert len(exported(bots, out, "--to", "chat", "--min-progression", "1", "--until-progress")) == 2
    twice = tmp_path / "twice" / "babyai"
    for name in ("a", "b"):
        (twice / name).mkdir(parents=True)
        (twice / name / "x_run_00.journal.jsonl").write_bytes(journals(bots)[0].read_bytes())
    assert len(exported(twice.parent, out, "--to", "sft")) == 1
    assert len(exported(twice.parent, out, "--to", "sft", "--duplicates")) == 2


def test_preferences_part_where_the_answers_do(models: Path, bots: Path, tmp_path: Path) -> None:
    both = tmp_path / "both" / "babyai"
    for name, run in (("bot", bots), ("model", models)):
        for number, journal in enumerate(journals(run)):
            (both / name).mkdir(parents=True, exist_ok=True)
            (both / name / f"x_run_{number:02d}.journal.jsonl").write_bytes(journal.read_bytes())
    for line in exported(both.parent, tmp_path / "out.jsonl", "--to", "preference"):
        assert line["prompt"][-1]["role"] == "user"
        assert line["chosen"] != line["rejected"]
        assert line["chosen_progression"] > line["rejected_progression"]
    assert (tmp_path / "out.jsonl").read_bytes()


def test_a_shortened_prompt_and_its_reasoning() -> None:
    samples: list[Sample] = []
    collector = SampleCollector(samples.append)
    first = (Message("system", "play"), Message("user", "see"))
    for step, (messages, reply) in enumerate(
        [
            (first, Reply("a", reasoning="because", reasoning_in="reasoning_content")),
            ((*first, Message("assistant", "a"), Message("user", "now")), Reply("b", trimmed=2)),
            ((first[0], Message("user", "now")), Reply("c")),
        ]
    ):
        collector.see(Asked("e", step, Request(messages)))
        collector.see(Answered("e", step, "act", reply, live=False))
    collector.finish()
    assert [sample.trained for sample in samples] == [[2], [2]]
    assert samples[0].decisions[1].trained is False


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "sft", "--outcome", "won"], "--outcome won: unknown"),
        (["--to", "sft", "--min-progression", "2"], "between 0 and 1"),
        (["agent=cot"], "overrides need training data"),
        (["--outcome", "solved"], "need training data"),
        (["--to", "sft", "agent=netplay"], ""),
        (["--to", "sft", "agent=robust_star_rag", "knowledge.index=bm25"], "asks for a query"),
    ],
)
def test_wrong_words_are_one_line(
    bots: Path, tmp_path: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.jsonl"
    assert main(["export", str(bots), "--out", str(out), *words]) != 0
    error = capsys.readouterr().err
    assert said in error
    assert error.count("error:") == 1
    assert list(tmp_path.iterdir()) == []
