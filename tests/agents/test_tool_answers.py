"""Agents that answer by native tool calls."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from balrog_rag.agents import build, wrappers
from balrog_rag.agents.tool_answers import MOST_AT_ONCE
from balrog_rag.cli.episode import main as episode
from balrog_rag.cli.main import main
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.config.frozen import plain, thaw
from balrog_rag.contracts.data import (
    AnswerFormat,
    Decision,
    Message,
    Purpose,
    Reply,
    Request,
    ToolCall,
    digest,
)
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.models.tool_turns import paired
from balrog_rag.workers.host import HostedGame
from tests.agents.support import VIEW, Guide, agent_config, moment, perform
from tests.agents.support import Script as TextModel
from tests.envs.support import nethack

Answers = Sequence[Sequence[tuple[str, dict[str, object]]]]


class Caller:
    """A model that answers with these calls, one list after the other; () is an answer without a call."""

    def __init__(self, *answers: Sequence[tuple[str, dict[str, object]]]) -> None:
        self.answers, self.requests = answers, list[Request]()

    async def complete(
        self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
    ) -> Reply:
        number = len(self.requests)
        self.requests.append(Request(tuple(messages), purpose, answer))
        made = self.answers[number]
        calls = tuple(
            ToolCall(f"{number}-{at}", name, json.dumps(given)) for at, (name, given) in enumerate(made)
        )
        return Reply(f"Thought {number}.", calls=calls, native=f"chat {number}" if calls else "")


def act(action: str) -> tuple[str, dict[str, object]]:
    return "act", {"action": action}


def played(model: Caller, steps: int, option: str = "naive", *overrides: str) -> list[Decision]:
    config = agent_config(option, "agent.answers=tools", *overrides)
    moments = [moment(turn) for turn in range(1, steps + 1)]
    return perform(build(config, VIEW, model, Guide()), moments)


def test_the_tool_offers_all_that_the_game_takes_and_the_prompt_asks_for_one_call() -> None:
    model = Caller([act("north")])
    (decision,) = played(model, 1)
    assert (decision.action, decision.notes["read"]) == ("north", "strict")
    request = model.requests[0]
    assert request.answer is not None
    (tool,) = request.answer.tools
    assert set(tool.parameters[0].choices) == set(VIEW.accepted)
    assert tool.parameters[0].choices[:4] == ("north", "far east", "eat", "search")
    assert "Call exactly one of the tools" in request.messages[-1].text
    assert not request.answer.several


@pytest.mark.parametrize("option", ["naive", "cot_append"])
def test_an_answer_without_a_call_gets_one_reminder_and_then_counts_as_invalid(option: str) -> None:
    model = Caller((), (), [act("east")])
    decisions = played(model, 2, option)
    assert len(model.requests) == 3
    assert "called no tool" in model.requests[1].messages[-1].text
    assert decisions[0].notes["read"] == "none"
    assert not VIEW.takes(decisions[0].action)
    assert decisions[1].action == "east"


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (act("fly"), "act: action must be one of the listed actions"),
        (("jump", {}), "there is no skill 'jump'"),
        (("act", {"action": 3}), "act: action must be"),
        (("act", {"name": "x"}), "act has no parameter 'name'"),
    ],
)
def test_a_wrong_call_is_invalid_and_the_notice_says_why(
    call: tuple[str, dict[str, object]], why: str
) -> None:
    config = agent_config("naive", "agent.answers=tools")
    agent = build(config, VIEW, Caller([call]), Guide())
    (decision,) = perform(agent, [moment()])
    assert why in decision.notes["wrong"]
    assert why in agent.invalid_notice("esc")  # type: ignore[attr-defined]


def test_half_a_character_in_an_argument_is_replaced() -> None:
    view = HostedGame(nethack(5, actions="skills")).view
    config = agent_config("naive", "agent.answers=tools")
    agent = build(config, view, Caller([("type_text", {"text": "\ud800"})]), Guide())
    (decision,) = perform(agent, [moment()])
    assert decision.action == "type_text \N{REPLACEMENT CHARACTER}"


def test_text_beside_a_call_cannot_become_an_action() -> None:
    class Sly(Caller):
        async def complete(
            self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
        ) -> Reply:
            return Reply("<|ACTION|>south<|END|>", calls=(ToolCall("1", "act", '{"action": "north"}'),))

    (decision,) = played(Sly(), 1)
    assert decision.action == "north"


def test_several_calls_are_a_list_that_danger_stops() -> None:
    model = Caller([act("north"), act("east"), act("search")], [act("eat")])
    config = agent_config("naive", "agent.answers=tools")
    moments = [moment(1), moment(2), moment(3, hp=2)]
    decisions = perform(build(config, VIEW, model, Guide()), moments)
    assert [each.action for each in decisions] == ["north", "east", "eat"]
    last = model.requests[1].messages
    assert "search" in last[-1].text  # what was dropped
    assert list(paired(last)) == list(last)  # every call has its result
    assert [each.results for each in last if each.results] == [("0-0",), ("0-1", "0-2")]


def test_several_skills_of_netplay_are_a_list_too() -> None:
    game = HostedGame(nethack(5, actions="skills"))
    press = ("press_key", {"key": "s"})
    model = Caller([press, press, ("kick", {"x": "here"})], [press])
    config = agent_config("netplay", "agent.answers=tools")
    agent, seen, decisions = (
        build(config, game.view, model, Guide()),
        game.start.observation,
        list[Decision](),
    )
    for _ in range(3):
        decisions += perform(agent, [seen])
        seen = game.step(decisions[-1].action).observation
    assert [each.action for each in decisions] == ["press_key s"] * 3
    assert len(model.requests) == 2  # the wrong call ends the list, and the next answer follows


def test_a_list_is_bounded() -> None:
    model = Caller([act("north")] * 30, *([act("east")] for _ in range(3)))
    decisions = played(model, MOST_AT_ONCE + 1)
    assert [each.action for each in decisions] == ["north"] * MOST_AT_ONCE + ["east"]


@pytest.mark.parametrize("option", ["naive", "naive_append", "cot_append", "robust_cot"])
def test_calls_and_results_come_in_pairs_in_every_history(option: str) -> None:
    model = Caller([act("north")], [act("east"), act("eat")], (), [act("search")], [act("north")])
    played(model, 5, option)
    for request in model.requests:
        assert list(paired(request.messages)) == list(request.messages)
    newest = model.requests[-1].messages
    assert [each.native for each in newest if each.calls] == ["chat 0", "chat 1", "chat 3"]


def test_an_append_only_prompt_begins_with_the_one_before() -> None:
    model = Caller([act("north")], [act("east"), act("eat")], [act("search")], [act("north")])
    played(model, 5, "naive_append")
    for last, now in zip(model.requests, model.requests[1:], strict=False):
        assert now.messages[: len(last.messages)] == last.messages


def test_a_window_that_loses_a_call_sends_its_result_as_text() -> None:
    model = Caller(*([act("north")] for _ in range(6)))
    played(model, 6, "naive", "agent.max_text_history=2")
    for request in model.requests:
        sent = paired(request.messages)
        assert [each.text for each in sent if each.role == "user"]
        calls = {call.id for each in sent for call in each.calls}
        assert calls == {name for each in sent for name in each.results}


def test_looking_something_up_is_a_tool() -> None:
    asked = ("agent.retrieval.enabled=true", "agent.retrieval.when=asked", "agent.retrieval.context=whole")
    model = Caller([("look_up", {"query": "what newts do"})], [act("north")])
    (decision,) = played(model, 1, "naive", *asked)
    assert decision.action == "north"
    assert "look_up" in [tool.name for tool in model.requests[0].answer.tools]  # type: ignore[union-attr]


def test_a_specs_digest_is_the_same_without_tools() -> None:
    config = agent_config("naive")
    assert "answers" not in plain(config)
    assert plain(agent_config("naive", "agent.answers=tools"))["answers"] == "tools"
    assert thaw(plain(config), AgentConfig) == config
    text, tools = Message("user", "x"), Message("user", "x", results=("1",))
    assert text.digest == digest("user\n\nx")
    assert tools.digest != text.digest


def test_the_question_identifies_its_tools() -> None:
    first, second = Caller([act("north")]), TextModel("north")
    played(first, 1)
    perform(build(agent_config("naive"), VIEW, second, Guide()), [moment()])
    request = first.requests[0]
    assert request.digest != Request(request.messages, "act").digest
    assert second.requests[0].digest == Request(second.requests[0].messages, "act").digest


def test_a_program_cannot_answer_with_tools() -> None:
    config = agent_config("random", "agent.answers=tools")
    with pytest.raises(ConfigError, match=r"agent\.answers=tools: random is a program"):
        build(config, VIEW, Caller(), Guide())
    assert wrappers(agent_config("naive")) == []


@pytest.mark.parametrize(
    "words",
    [
        ["agent=cot", "env.tasks=[babyai/BabyAI-MixedTrainLocal-v0/goto]"],
        ["agent=netplay", "env.actions=skills", "env.tasks=[nle/NetHackChallenge-v0]"],
    ],
    ids=["cot", "netplay"],
)
def test_a_run_verifies_and_shows_its_calls(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bounds = ["env.episodes=1", "limits.steps=6", "runner.log=none", "runner.workers=1", "run.name=run"]
    assert main([*words, *bounds, "model=scripted", "agent.answers=tools", f"run.folder={tmp_path}"]) == 0
    capsys.readouterr()
    assert episode(["verify", str(tmp_path / "run")]) == 0
    (path,) = (tmp_path / "run").rglob("*.journal.jsonl")
    assert episode(["show", str(path), "--step", "2"]) == 0
    shown = capsys.readouterr().out
    assert "[tool call] " in shown
    assert '"tool_calls"' not in shown
