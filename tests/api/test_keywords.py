"""Keyword arguments of `evaluate`: names, classes and objects, mixed with override strings."""

import asyncio
import inspect
import pydoc
from pathlib import Path
from typing import Any

import pytest

import balrog_rag
from balrog_rag.contracts.data import Decision, Observation, Reply, Request
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.programs import Begin, Program, ProgramKind
from tests.api.test_api import CORRIDOR, North, counting

QUIET = ("limits.steps=3", "runner.log=none")


def test_keywords_mean_the_same_as_override_strings(tmp_path: Path) -> None:
    first = balrog_rag.evaluate(
        *QUIET, agent="naive", model="scripted", env="corridor", episodes=2, folder=tmp_path / "a"
    )
    words = ("agent=naive", "model=scripted", "env=corridor", "env.episodes=2")
    second = balrog_rag.evaluate(*QUIET, *words, folder=tmp_path / "b")
    assert first.config["run"].pop("name") == "a"
    assert second.config["run"]["name"] == "b"
    sections = ("agent", "model", "env", "limits")
    assert [first.config[name] for name in sections] == [second.config[name] for name in sections]
    assert len(first.episodes) == 2


class Walker:
    """An agent object that alternates, which shows whether episodes share it."""

    def __init__(self, *actions: str) -> None:
        self.actions, self.turn = actions, 0

    async def act(self, observation: Observation) -> Decision:
        self.turn += 1
        return Decision(self.actions[(self.turn - 1) % len(self.actions)])

    def recall(self, observation: Observation, decision: Decision) -> None:
        self.turn += 1


def test_an_agent_object_is_copied_for_every_episode(tmp_path: Path) -> None:
    walker = Walker("east", "west")
    task = {"env": CORRIDOR, "episodes": 2}
    run = balrog_rag.evaluate(*QUIET, agent=walker, **task, folder=tmp_path / "run")
    for episode in range(2):
        assert list(run.steps(episode)["taken"]) == ["east", "west", "east"]
    assert walker.turn == 0
    again = balrog_rag.evaluate(*QUIET, agent=walker, **task, folder=tmp_path / "again")
    other = balrog_rag.evaluate(*QUIET, agent=Walker("north"), **task, folder=tmp_path / "other")
    names = [each.config["agent"]["name"] for each in (run, again, other)]
    assert names == ["walker", "walker", "walker_2"]  # different objects are different arms
    assert list(run.events())


def test_an_agent_class_defined_again_replaces_the_first(tmp_path: Path) -> None:
    def cell(action: str) -> type:
        class Steady(North):
            async def act(self, observation: Observation) -> Decision:
                return Decision(action)

        return Steady

    for action in ("east", "west"):
        run = balrog_rag.evaluate(
            *QUIET, agent=cell(action), env=[CORRIDOR], episodes=1, folder=tmp_path / action
        )
        assert (run.config["agent"]["name"], set(run.steps()["taken"])) == ("steady", {action})


class Canned:
    """A model object."""

    def __init__(self, text: str) -> None:
        self.text, self.asked, self.closed = text, 0, False

    async def complete(self, request: Request) -> Reply:
        self.asked += 1
        return Reply(self.text)

    async def close(self) -> None:
        self.closed = True


class Named(Canned):
    """A model class, which gets the configuration."""

    name = "named"

    def __init__(self, config: Any) -> None:
        super().__init__("east")


def test_a_model_object_is_shared_and_left_open(tmp_path: Path) -> None:
    model = Canned("west")
    run = balrog_rag.evaluate(
        *QUIET, agent="naive", model=model, env="corridor", episodes=2, folder=tmp_path / "run"
    )
    assert (run.complete, model.asked, model.closed) == (True, 6, False)
    assert set(run.steps()["taken"]) == {"west"}
    made = balrog_rag.evaluate(
        *QUIET, agent="naive", model=Named, env="corridor", episodes=1, folder=tmp_path / "b"
    )
    assert (made.config["model"]["backend"], set(made.steps()["taken"])) == ("named", {"east"})


def to_three(begin: Begin) -> Program:
    """Count to three."""
    while True:
        yield "count"


def test_a_program_and_a_kind_of_game_are_passed_as_they_are(tmp_path: Path) -> None:
    program, kind = ProgramKind(name="to_three", make=to_three, plays=True), counting("threes")
    for name in ("a", "b"):  # and passed again
        run = balrog_rag.evaluate(
            "runner.log=none", agent=program, env=kind, episodes=1, folder=tmp_path / name
        )
        assert run.summary["average_progress"] == 100.0


def test_in_a_running_loop_the_same_keywords_are_awaited(tmp_path: Path) -> None:
    playing = balrog_rag.aevaluate(
        *QUIET, agent="random", env="corridor", episodes=1, folder=tmp_path / "run"
    )
    assert asyncio.run(playing).complete


class Uncopyable(Walker):
    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("holds a connection")


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        (["agent=cot"], {"agent": "naive"}, "agent: given as an override and as a keyword argument"),
        (["env.episodes=3"], {"episodes": 2}, r"env\.episodes: given as an override"),
        (["run.name=x"], {"folder": "y"}, r"run\.name: given as an override"),
        ([], {"agent": 3}, "agent: a int cannot play"),
        ([], {"agent": Uncopyable("east")}, "agent: the Uncopyable object cannot be copied .*holds a conn"),
        ([], {"model": 3}, "model: a int cannot answer"),
        ([], {"env": 3}, "env: expected a preset"),
        ([], {"env": "coridor"}, "corridor"),
        ([], {"episodes": 0}, r"env\.episodes"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: list[str], given: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said):
        balrog_rag.evaluate(*words, **{"folder": tmp_path / "run", **given})
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", balrog_rag.__all__)
def test_help_answers(name: str) -> None:
    """One sentence for every name, and the arguments of `evaluate` with an example."""
    text = pydoc.plain(pydoc.render_doc(getattr(balrog_rag, name)))
    assert inspect.getdoc(getattr(balrog_rag, name)), name
    assert len(text.splitlines()) > 3
    if name in ("evaluate", "aevaluate"):
        assert ">>> " in text
        assert all(word in text for word in ("agent", "env", "model", "episodes", "folder", "watch", "trust"))
