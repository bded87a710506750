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
WORDS = ("env=babyai", GOTO, "env.episodes=2", "runner.workers=1", "runner.log=none")


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


def beside_each_other(folder: Path, *runs: Path) -> Path:
    """Return a run folder with the journals of all."""
    for number, run in enumerate(runs):
        (folder / "babyai" / str(number)).mkdir(parents=True)
        for game, journal in enumerate(journals(run)):
            copy = folder / "babyai" / str(number) / f"x_run_{game:02d}.journal.jsonl"
            copy.write_bytes(journal.read_bytes())
    return folder


def test_a_preference_is_where_a_worse_game_left_a_better_one(bots: Path, tmp_path: Path) -> None:
    good = exported(bots, tmp_path / "sft.jsonl", "--to", "sft")[0]["messages"]
    answers = [message["content"] for message in good if message["role"] == "assistant"]
    wrong = "turn left" if answers[2] != "turn left" else "turn right"
    given = msgspec.json.encode([*answers[:2], wrong]).decode()
    model = ("model=scripted", "model.options.order=sequence", f"model.options.answers={given}")
    words = ("env=babyai", GOTO, "env.episodes=1", "runner.log=none", "limits.steps=3", "agent=naive_append")
    worse = balrog_rag.evaluate(*words, *model, folder=tmp_path / "worse").folder
    pairs = exported(
        beside_each_other(tmp_path / "both", bots, worse), tmp_path / "out.jsonl", "--to", "preference"
    )
    # The first two answers are the same, and after the third the games no longer show the same prompts.
    assert pairs == [
        {
            "prompt": [{"role": message["role"], "content": message["content"]} for message in good[:6]],
            "chosen": [{"role": "assistant", "content": answers[2]}],
            "rejected": [{"role": "assistant", "content": wrong}],
            "chosen_progression": 1.0,
            "rejected_progression": 0.0,
            "episode": "babyai/BabyAI-MixedTrainLocal-v0/goto/00",
        }
    ]


def test_no_preference_between_equal_or_different_games(models: Path, bots: Path, tmp_path: Path) -> None:
    equal = beside_each_other(tmp_path / "equal", models, models)
    assert exported(equal, tmp_path / "out.jsonl", "--to", "preference") == []
    # The second game of the bot and the first of the model: one better than the other, but of another seed.
    other = beside_each_other(tmp_path / "other", bots, models)
    (other / "babyai/0/x_run_00.journal.jsonl").unlink()
    (other / "babyai/1/x_run_01.journal.jsonl").unlink()
    assert exported(other, tmp_path / "out.jsonl", "--to", "preference") == []


NETHACK = ("env=nethack", "env.episodes=1", "limits.steps=60", "runner.log=none")
ROOM = ("env=minihack", "env.tasks=[minihack/MiniHack-Room-5x5-v0]", "env.episodes=1", "runner.log=none")


@pytest.mark.parametrize(
    ("game", "bot", "reader"),
    [
        ((*WORDS[:2], "env.episodes=1", "runner.log=none"), "scripted", "naive"),
        (NETHACK, "delver", "robust_naive"),
        (ROOM, "minihacker", "naive_append"),
    ],
)
def test_a_bots_prompts_are_those_that_a_model_is_sent(
    game: tuple[str, ...], bot: str, reader: str, tmp_path: Path
) -> None:
    agent = f"agent={reader}"
    run = balrog_rag.evaluate(*game, f"agent={bot}", folder=tmp_path / "bot").folder
    lines = exported(run, tmp_path / "sft.jsonl", "--to", "sft", "--duplicates", agent)
    learned = [
        (as_pairs(line["messages"][:place]), message["content"])
        for line in lines
        for place, message in enumerate(line["messages"])
        if message.get("weight")
    ]
    answers = msgspec.json.encode([answer for _, answer in learned]).decode()
    model = ("model=scripted", "model.options.order=sequence", f"model.options.answers={answers}")
    steps = f"limits.steps={len(learned)}"
    played = balrog_rag.evaluate(*game, agent, *model, steps, folder=tmp_path / "model")
    asked = [event.request.messages for event in played.events() if isinstance(event, Asked)]
    assert [[(m.role, m.text) for m in messages] for messages in asked] == [prompt for prompt, _ in learned]


def as_pairs(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in messages]


BOT = """
from nle import nethack
class Bot:
    def reset(self, observation):
        pass
    def act(self, observation):
        return [int(key) for key in nethack.ACTIONS].index(ord({key!r}))
def make_agent():
    return Bot()
"""


@pytest.mark.parametrize(
    ("key", "words", "agent", "said"),
    [
        ("@", "env.options.actions=balrog", "naive_append", ": @ is not an action of a model in nle/"),
        ("@", "env.options.actions=full", "naive_append", "the agent reads the answer '@' as "),
        ("@", "env.options.actions=full", "robust_naive", ""),
    ],
)
def test_a_key_without_an_answer_of_a_model_is_refused_in_one_line(
    key: str, words: str, agent: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.py").write_text(BOT.format(key=key))
    program = ("agent=program", f"agent.options.path={folder}", "limits.steps=2")
    run = balrog_rag.evaluate(
        *NETHACK[:2], "runner.log=none", words, *program, folder=tmp_path / "run"
    ).folder
    code = main(["export", str(run), "--to", "sft", "--out", str(tmp_path / "o"), f"agent={agent}"])
    error = capsys.readouterr().err
    assert code == (2 if said else 0)
    assert said in error
    assert error.count("\n") == 1


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
        (["--to", "sft", "agent=cot"], "the agent asks for thoughts, which a bot does not have"),
        (["--to", "sft", "agent=robust_cot"], "the agent asks for thoughts, which a bot does not have"),
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


def test_an_unknown_agent_is_a_mistake_even_if_no_bot_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("agent=naive_append", "model=scripted", "limits.steps=1", "runner.log=none", "env.episodes=1")
    run = balrog_rag.evaluate(*words, "env=corridor", folder=tmp_path / "run").folder
    out = tmp_path / "out.jsonl"
    assert main(["export", str(run), "--to", "sft", "--out", str(out), "agent=nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
    assert not out.exists()
