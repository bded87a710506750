"""Episodes exported for other programs: every event with its prompts and screens, by replay."""

from pathlib import Path

import msgspec
import pytest

import balrog_rag
from balrog_rag.cli.episode import main
from balrog_rag.contracts.events import Event
from tests.support import edit_journal

WORDS = ("model=scripted", "env=corridor", "env.episodes=1", "limits.steps=3", "runner.log=none")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> balrog_rag.Run:
    """An agent that searches, asks for a summary, and acts."""
    words = ("agent=robust_star_rag", "knowledge.index=bm25")
    return balrog_rag.evaluate(*WORDS, *words, folder=tmp_path_factory.mktemp("export") / "run")


def test_lines_are_the_events(run: balrog_rag.Run, tmp_path: Path) -> None:
    out = tmp_path / "events.jsonl"
    assert main(["export", str(run.folder), "--out", str(out)]) == 0
    first, *lines = out.read_bytes().splitlines()
    assert msgspec.json.decode(first)["spec"]["episode"] == run.episodes["episode"][0]
    told = [msgspec.json.decode(line, type=Event) for line in lines]
    assert told == list(run.events())
    assert {"Started", "Asked", "Answered", "Searched", "Stepped", "Ended"} == {
        type(e).__name__ for e in told
    }


def test_a_trajectory_holds_what_was_asked_done_and_paid(run: balrog_rag.Run, tmp_path: Path) -> None:
    atif = pytest.importorskip("atif")
    out = tmp_path / "trajectory.json"
    assert main(["export", str(run.folder), "--format", "atif", "--out", str(out)]) == 0
    made = atif.Trajectory.model_validate(msgspec.json.decode(out.read_bytes()))
    row = run.episodes.iloc[0]
    first, *turns = made.steps
    assert first.source == "user"
    assert "@" in first.message
    assert [turn.llm_call_count for turn in turns] == [3, 3, 3]
    assert [[call.function_name for call in turn.tool_calls] for turn in turns] == [["search", "act"]] * 3
    assert [turn.tool_calls[-1].arguments["action"] for turn in turns] == list(run.steps()["taken"])
    assert made.final_metrics.total_prompt_tokens == row["input_tokens"]
    assert [len(turn.extra["prompts"]) for turn in turns] == [3, 3, 3]
    tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in made.agent.tool_definitions}
    assert tools.keys() == {"search", "act"}
    for call in (call for turn in turns for call in turn.tool_calls):
        assert call.arguments.keys() == set(tools[call.function_name]["required"])


def test_a_program_that_plays_asks_nobody(tmp_path: Path) -> None:
    atif = pytest.importorskip("atif")
    played = balrog_rag.evaluate(*WORDS, "agent=random", folder=tmp_path / "run")
    out = tmp_path / "trajectory.json"
    assert main(["export", str(played.folder), "--format", "atif", "--out", str(out)]) == 0
    made = atif.Trajectory.model_validate(msgspec.json.decode(out.read_bytes()))
    assert sum(len(step.tool_calls[0].arguments["pressed"]) for step in made.steps[1:]) == 3
    assert {step.llm_call_count for step in made.steps[1:]} == {0}
    assert made.agent.model_name is None


def test_skills_are_trajectories_of_subagents(tmp_path: Path) -> None:
    atif = pytest.importorskip("atif")
    answers = ("model.options.answers=[explore_level,search]", "model.options.order=sequence")
    words = ("agent=naive", "model=scripted", *answers)
    game = ("env=nethack", "env.actions=skills", "env.episodes=1", "limits.steps=2", "runner.log=none")
    played = balrog_rag.evaluate(*words, *game, folder=tmp_path / "run")
    out = tmp_path / "trajectory.json"
    assert main(["export", str(played.folder), "--to", "atif", "--out", str(out)]) == 0
    made = atif.Trajectory.model_validate(msgspec.json.decode(out.read_bytes()))
    _, explored, searched = made.steps
    (program,) = made.subagent_trajectories
    (reference,) = explored.observation.results[0].subagent_trajectory_ref
    assert reference.trajectory_id == program.trajectory_id
    assert program.agent.name == "explore_level"
    assert program.steps[-1].extra["keys"] == explored.extra["keys"] > 1
    assert program.steps[-1].message == explored.extra["stopped"]
    assert searched.observation.results[0].subagent_trajectory_ref is None  # a key, not a program


def test_a_changed_journal_leaves_no_file(
    run: balrog_rag.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal, out = tmp_path / "copy.journal.jsonl", tmp_path / "events.jsonl"
    journal.write_bytes(run.journal().read_bytes())
    edit_journal(journal, "step", lambda entry: entry.update(obs="0" * 32), at=1)
    assert main(["export", str(journal), "--out", str(out)]) == 1
    assert "step 1" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [journal]
