"""Whole runs with the skills of a plan: every agent, NetHack and MiniHack, journaled and replayed."""

import json
from pathlib import Path

import pytest

from balrog_rag.cli.verbs import main
from balrog_rag.episode import journal
from balrog_rag.models.serving.testserver import TestServer
from balrog_rag.results.run_folder import journals
from balrog_rag.util.loop_thread import LoopThread
from examples.rule_model import choose
from tests.agents.playable import needed
from tests.support import command, evaluate

CALLS = [
    "recall",
    "explore_level",
    "fetch_digger",
    "play_on 40",
    "type_text i",
    "rest 3",
    "go_to stairs_down",
]
AGENTS = {
    "netplay": lambda call: json.dumps(
        {"thoughts": dict.fromkeys(("observations", "reasoning", "speak"), "x"), "skill": by_name(call)}
    ),
    "naive": lambda call: call,
    "cot": lambda call: f"I think.\nACTION: {call}",
    "robust_cot": lambda call: f"I think.\n<|ACTION|>{call}<|END|>",
    "few_shot": lambda call: call,
    "robust_rag": lambda call: f"I think.\n<|ACTION|>{call}<|END|>",
}
SKILLS = ("fetch_digger", "dive", "play_on", "pray", "eat")


def by_name(call: str) -> dict[str, str | int]:
    """A call with its arguments by their names, as NetPlay's agent writes it."""
    name, *given = call.split()
    names = {"go_to": "place", "play_on": "turns", "type_text": "text", "rest": "count"}
    if not given:
        return {"name": name}
    return {"name": name, names[name]: int(given[0]) if given[0].isdigit() else given[0]}


def run(agent: str, env: str, folder: Path, *words: str) -> Path:
    """Play with these answers in turn; return the journal."""
    answers = json.dumps([AGENTS[agent](call) for call in CALLS])
    model = ("model=scripted", f"model.options.answers={answers}", "model.options.order=sequence")
    fixed = ("env.episodes=1", f"limits.steps={len(CALLS)}", "run.name=r", "runner.workers=1", *words)
    done = evaluate(f"agent={agent}", f"env={env}", "env.actions=plan", *model, *fixed, cwd=folder)
    assert done.returncode == 0, done.stderr
    return journals(folder / "results" / "r")[0]


def check(path: Path, folder: Path) -> None:
    """Every call was taken as such, and the game is the same when it is replayed."""
    steps = list(journal.read(path).steps)
    assert [step.action for step in steps] == CALLS[: len(steps)]
    assert all(step.taken == step.action for step in steps)
    assert steps[0].stopped
    done = command("balrog_rag.episode", "verify", str(path), cwd=folder)
    assert done.stdout.startswith(f"equal\t{len(steps)} steps"), done.stdout


def test_netplays_agent_plays_by_a_plan(tmp_path: Path) -> None:
    check(run("netplay", "nethack", tmp_path, "agent.memory=map", "env.advice=true"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("env", ["nethack", "corridor"])
@pytest.mark.parametrize("agent", ["naive", "cot", "robust_cot"])
def test_every_agent_plays_by_a_plan(agent: str, env: str, tmp_path: Path) -> None:
    check(run(agent, env, tmp_path), tmp_path)


@pytest.mark.slow
def test_a_bots_game_is_handed_over_to_a_plan(tmp_path: Path) -> None:
    words = ("agent=delver", "env.tasks=[nle/NetHackChallenge-v0]", "env.episodes=1", "limits.steps=200")
    done = evaluate(*words, "run.name=r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    path, out = journals(tmp_path / "results" / "r")[0], tmp_path / "f"
    more = ("agent=naive", "model=scripted", 'model.options.answers=["recall", "rest 2"]', "env.actions=plan")
    fork = ("fork", str(path), "--at", "150", "--out", str(out), *more, "limits.steps=154")
    done = command("balrog_rag.episode", *fork, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = command("balrog_rag.episode", "verify", str(out), cwd=tmp_path)
    assert done.stdout.startswith("equal\t154 steps"), done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env", "games"),
    [
        ("nethack", ["env.seeding=spread"]),
        ("decisions", ["env.tasks=[decisions/dwarf]", "env.seeding=list", "env.seeds=[0]"]),
    ],
)
def test_retrieval_with_a_plan_looks_up_what_is_seen(env: str, games: list[str], tmp_path: Path) -> None:
    path = run("robust_rag", env, tmp_path, "knowledge.index=bm25", *games)
    check(path, tmp_path)
    looked_up = [entry for entry in journal.entries_of(path) if isinstance(entry, journal.Lookup)]
    assert looked_up
    assert any(passage.text for entry in looked_up for passage in entry.passages)


@pytest.mark.slow
def test_few_shot_plays_by_a_plan(tmp_path: Path) -> None:
    shown = needed("few_shot", tmp_path)[1:]
    check(run("few_shot", "nethack", tmp_path, *shown), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["few_shot", "robust_rag"])
def test_a_model_of_rules_plays_by_a_plan(agent: str, tmp_path: Path) -> None:
    server, loop = TestServer(answer=lambda texts: AGENTS[agent](choose(texts))), LoopThread("server")
    loop.run(server.open())
    model = ("model=vllm", "model.name=rules", f"model.base_url={server.url}", "knowledge.index=bm25")
    fixed = ("env=nethack", "env.actions=plan", "env.episodes=1", "limits.steps=6", "runner.workers=1")
    where = (f"run.folder={tmp_path}", "run.name=r", "runner.log=none")
    try:
        assert main(["run", *needed(agent, tmp_path), *model, *fixed, *where]) == 0
    finally:
        loop.run(server.close())
        loop.close()
    steps = list(journal.read(journals(tmp_path / "r")[0]).steps)
    assert {step.action.split()[0] for step in steps} <= {*SKILLS}, steps
    assert all(step.taken == step.action for step in steps)
    assert main(["verify", str(tmp_path / "r")]) == 0
