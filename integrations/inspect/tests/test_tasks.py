"""Inspect plays games through balrog_rag's loop, with a model of Inspect."""

from pathlib import Path

import pytest
from balrog_inspect import babyai, minihack
from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model

import balrog_rag
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Completion

GOTO = "babyai/BabyAI-MixedTrainLocal-v0/goto"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path / "cache"))


def answering(text: str) -> object:
    outputs = [ModelOutput.from_content("mockllm/model", text) for _ in range(100)]
    for output in outputs:  # Inspect would count them with a tokenizer that it fetches
        output.usage = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=12)
    return get_model("mockllm/model", custom_outputs=outputs)


def test_a_game_is_a_sample_and_its_journal_has_the_answers(tmp_path: Path) -> None:
    made = babyai(games=2, max_steps=3, tasks=GOTO)
    (log,) = evaluate(made, model=answering("turn left"), log_dir=str(tmp_path), display="none")
    assert log.status == "success"
    assert [sample.id for sample in log.samples] == [
        "babyai.BabyAI-MixedTrainLocal-v0.goto.00",
        "babyai.BabyAI-MixedTrainLocal-v0.goto.01",
    ]
    for sample in log.samples:
        score = sample.scores["progression"]
        assert (score.value, score.answer) == (0.0, "steps")
        entries = journal.read(Path(score.metadata["journal"])).entries
        answers = [entry.reply.text for entry in entries if isinstance(entry, Completion)]
        assert answers == ["turn left"] * 3
        assert [message.role for message in sample.messages[-2:]] == ["user", "assistant"]


def test_splits_share_no_game_and_the_same_split_is_the_same_games() -> None:
    seeds = {
        split: [sample.metadata["seed"] for sample in minihack(games=3, split=split).dataset]
        for split in ("train", "eval")
    }
    assert set(seeds["train"]).isdisjoint(seeds["eval"])
    assert seeds["eval"] == [sample.metadata["seed"] for sample in minihack(games=3).dataset]


def test_a_game_without_a_score_is_an_error(tmp_path: Path) -> None:
    made = babyai(games=1, max_steps=3, tasks=GOTO, overrides="model.retry.attempts=1")

    def fails(*arguments: object) -> ModelOutput:
        raise RuntimeError("no answer")

    model = get_model("mockllm/model", custom_outputs=fails)
    (log,) = evaluate(made, model=model, log_dir=str(tmp_path), display="none", fail_on_error=False)
    (sample,) = log.samples
    assert sample.error is not None
    assert not sample.scores


def test_unknown_agents_are_named(tmp_path: Path) -> None:
    made = babyai(games=1, agent="no_such_agent", tasks=GOTO)
    (log,) = evaluate(made, model=answering("go"), log_dir=str(tmp_path), display="none", fail_on_error=False)
    assert "no_such_agent" in log.samples[0].error.message


def test_version_of_the_harness() -> None:
    assert balrog_rag.__version__.startswith("0.2")
