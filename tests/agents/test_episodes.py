"""Whole episodes on real games through the command line, then again from the journals alone."""

from collections import Counter
from pathlib import Path

import pytest

from balrog_rag.config.groups import group_options
from balrog_rag.contracts.outcome import PLAYER_LOST
from balrog_rag.contracts.programs import plays
from balrog_rag.episode.journal import Completion, Lookup, Recording, read
from tests.agents.playable import games_of, needed
from tests.support import command

TASKS = "env.tasks=[nle/NetHackChallenge-v0,minihack/MiniHack-Corridor-R3-v0]"
WRAPPED = [
    "agent.batch.size=3",
    "agent.notebook.enabled=true",
    "agent.loops.enabled=true",
    "agent.retrieval.when=novelty",
    "agent.retrieval.keep=3",
    "agent.retrieval.reuse=seen",
    "agent.retrieval.query=model_memory",
    "agent.history.window=blocks",
    "agent.observation.map=trimmed",
    "agent.observation.past_maps=changed",
    "agent.lenient=true",
]


def succeed(module: str, *words: str) -> str:
    """Run a command, which must succeed, and return its output."""
    done = command(module, *words, cwd=Path.cwd())
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def play(folder: Path, *words: str, episodes: int, steps: int) -> list[Recording]:
    """Play a run with the scripted model and read its journals."""
    bounds = [f"env.episodes={episodes}", f"limits.steps={steps}", f"run.folder={folder}", "run.name=run"]
    games = [] if any(word.startswith("env.tasks=") for word in words) else [TASKS]
    succeed("balrog_rag.eval", "model=scripted", *games, *bounds, *words)
    journals = sorted((folder / "run").rglob("*.jsonl"))
    return [read(journal) for journal in journals]


def purposes(recording: Recording) -> Counter[str]:
    counted = Counter(entry.purpose for entry in recording.entries if isinstance(entry, Completion))
    counted["search"] = sum(isinstance(entry, Lookup) for entry in recording.entries)
    return counted


def test_the_default_agent_makes_three_calls_a_step_and_all_are_counted(tmp_path: Path) -> None:
    for recording in play(tmp_path, episodes=1, steps=6):
        assert purposes(recording) == {"query": 6, "search": 6, "summary": 6, "act": 6}
        spoken = [entry.reply for entry in recording.entries if isinstance(entry, Completion)]
        assert all(reply.usage.input > 0 and reply.cost == 0 for reply in spoken)
        assert {step.notes["lookup"] for step in recording.steps} == {"fresh"}


def test_wrapped_agents_replay_to_the_byte(tmp_path: Path) -> None:
    play(tmp_path, "agent=robust_star_rag", *WRAPPED, episodes=2, steps=40)
    verified = succeed("balrog_rag.episode", "verify", str(tmp_path / "run"))
    assert verified.count("equal\t") == 4


def test_random_plays_with_the_answers_that_balrog_takes(tmp_path: Path) -> None:
    recordings = play(tmp_path, "agent=random", "env.actions=balrog", episodes=2, steps=60)
    assert all(len(recording.steps) == 60 or recording.end is not None for recording in recordings)


@pytest.mark.slow
@pytest.mark.parametrize("agent", sorted({*group_options()["agent"]} - {"human", "own_loop"}))
def test_every_agent_plays_three_games_of_each_kind(tmp_path: Path, agent: str) -> None:
    """One command plays all kinds of game that the agent plays; then they are replayed from the journals."""
    chosen, games = needed(agent, tmp_path), games_of(agent)
    recordings = play(tmp_path, *chosen, *games, episodes=3, steps=25)
    kinds = Counter(recording.header.spec.game.env for recording in recordings)
    assert kinds
    assert set(kinds.values()) == {3}
    for recording in recordings:
        assert recording.end is not None
        assert recording.end.outcome not in PLAYER_LOST
        assert 0 < sum(step.count for step in recording.steps) == recording.end.steps <= 25
        calls = sum(isinstance(entry, Completion) for entry in recording.entries)
        assert calls == calls_a_step(agent) * len(recording.steps)
    verified = succeed("balrog_rag.episode", "verify", str(tmp_path / "run"))
    assert verified.count("equal\t") == len(recordings)


def calls_a_step(agent: str) -> int:
    if plays(agent) or agent.startswith("floor_") or agent == "reader":
        return 0
    # robust_rag makes queries by rules and shows passages whole.
    return 3 if agent.endswith("_rag") and agent != "robust_rag" else 1


@pytest.mark.parametrize(
    ("agent", "kinds"),
    [
        ("naive", {"babaisai", "babyai", "crafter", "decisions", "minihack", "nethackers", "netplay", "nle"}),
        ("netplay", {"decisions", "minihack", "nethackers", "netplay", "nle"}),
        ("scripted", {"babaisai", "babyai", "crafter"}),
        ("delver", {"decisions", "nethackers", "nle"}),
    ],
)
def test_which_games_an_agent_plays_is_known_before_it_plays(agent: str, kinds: set[str]) -> None:
    tasks = games_of(agent)[0].removeprefix("env.tasks=[").removesuffix("]")
    assert {task.partition("/")[0] for task in tasks.split(",")} - {"textworld"} == kinds


def test_dummy_needs_no_model_and_is_told_nothing_of_one(tmp_path: Path) -> None:
    bounds = ["env=corridor", "env.episodes=1", "limits.steps=3", f"run.folder={tmp_path}"]
    said = succeed("balrog_rag.eval", "agent=dummy", "model=openai", *bounds)
    assert "key" not in said
    assert [path.name.split("_", 2)[2] for path in tmp_path.iterdir()] == ["dummy"]
    assert "embedded model" not in succeed("balrog_rag.eval", "agent=dummy", "model=local", *bounds)
