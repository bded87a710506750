"""Native tool calls over the protocols of three providers and through LiteLLM, on a loopback server."""

import asyncio
import json
from typing import Any

import pytest

from balrog_rag.contracts.data import Action, AnswerFormat, Message, Parameter, Reply, Request, ToolCall
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.tool_calls import schema, tool_name
from balrog_rag.models import tool_turns, wire
from balrog_rag.models.client import RemoteModel
from balrog_rag.models.own_server import OwnServer
from balrog_rag.models.serving.testserver import TestServer
from tests.models.support import model_config

REST = Action("rest", "rest for a while", (Parameter("turns", least=1, most=20),))
GO = Action("go", "go somewhere", (Parameter("way", "word", choices=("north", "south")),))
TOOLS = AnswerFormat((), tools=(REST, GO))
HEAD = Message("system", "You play a game.", stable=True)
ROUTES = {
    "chat": ("vllm", {"name": "hosted_vllm/m"}),
    "responses": ("openai", {"name": "openai/responses/gpt-5.4"}),
    "messages": ("anthropic", {}),
    "litellm": ("deepseek", {"name": "deepseek/deepseek-chat"}),
}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "ANTHROPIC", "DEEPSEEK", "HOSTED_VLLM"):
        monkeypatch.setenv(f"{provider}_API_KEY", "key-of-a-test")


def said_back(reply: Reply) -> Message:
    return Message(
        "assistant", reply.text, reasoning=reply.reasoning, calls=reply.calls, native=reply.native
    )  # as an append-only history keeps it


def dialogue(route: str, call: Any = None, **server_settings: Any) -> tuple[list[Reply], list[Any]]:
    """Ask twice; the second prompt has the first answer and its results. Return answers and bodies."""
    option, changes = ROUTES[route]

    async def run() -> tuple[list[Reply], list[Any]]:
        async with TestServer(call=call, fingerprint="fp_1", **server_settings) as server:
            model = RemoteModel(model_config(option, base_url=server.url, **changes))
            try:
                messages = (HEAD, Message("user", "A newt."))
                first = await model.complete(Request(messages, answer=TOOLS))
                ids = tuple(each.id for each in first.calls)
                messages = (*messages, said_back(first), Message("user", "A rat.", results=ids))
                second = await model.complete(Request(messages, answer=TOOLS))
            finally:
                await model.close()
            return [first, second], [each.json for each in server.calls]

    return asyncio.run(run())


@pytest.mark.parametrize("route", ROUTES)
def test_a_call_is_read_and_sent_back_as_the_provider_sent_it(route: str) -> None:
    if route == "litellm":
        pytest.importorskip("litellm")
    replies, bodies = dialogue(route)
    first, _ = replies
    (call,) = first.calls
    assert call.name in ("rest", "go")
    assert first.native
    assert first.fingerprint == ("fp_1" if route in ("chat", "litellm") else "")
    sent = {
        "chat": lambda body: body["messages"][2],
        "litellm": lambda body: body["messages"][2],
        "responses": lambda body: body["input"][2:-1],
        "messages": lambda body: body["messages"][1]["content"],
    }[route](bodies[1])
    kept = json.loads(first.native.partition(" ")[2])
    assert sent == ({"role": "assistant", **kept} if isinstance(kept, dict) else kept)
    if route == "messages":
        assert sent[0] == {"type": "thinking", "thinking": "I think.", "signature": "c2lnbmVk"}
    if route == "responses":
        assert sent[0]["encrypted_content"] == "c2VjcmV0"


@pytest.mark.parametrize(
    ("route", "choice"),
    [
        ("chat", {"tool_choice": "required", "parallel_tool_calls": False}),
        ("responses", {"tool_choice": "required", "parallel_tool_calls": False}),
        ("messages", {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}}),
    ],
)
def test_exactly_one_call_is_asked_for(route: str, choice: dict[str, Any]) -> None:
    _, bodies = dialogue(route)
    assert {name: bodies[0][name] for name in choice} == choice


@pytest.mark.parametrize("route", ["chat", "responses", "messages"])
def test_several_calls_get_several_results(route: str) -> None:
    def two(texts: object, tools: object) -> list[ToolCall]:
        return [ToolCall("a", "rest", '{"turns": 3}'), ToolCall("b", "go", '{"way": "north"}')]

    replies, _ = dialogue(route, call=two)  # the server refuses calls without results, as providers do
    assert [call.id for call in replies[1].calls] == ["a", "b"]


def test_a_result_without_its_call_is_sent_as_text() -> None:
    call = ToolCall("a", "rest", '{"turns": 3}')
    lost = [HEAD, Message("user", "A rat.", results=("a",))]
    assert [each.results for each in tool_turns.paired(lost)] == [(), ()]
    unanswered = [HEAD, Message("user", "x"), Message("assistant", "", calls=(call,)), Message("user", "y")]
    assert [each.text for each in tool_turns.paired(unanswered)] == [
        *("You play a game.", "x", 'rest {"turns": 3}', "y")
    ]
    complete = [HEAD, Message("assistant", "", calls=(call,)), Message("user", "y", results=("a",))]
    assert list(tool_turns.paired(complete)) == complete


def test_an_answer_of_another_provider_is_sent_without_what_only_that_one_reads() -> None:
    call = ToolCall("a", "rest", '{"turns": 3}')
    foreign = Message("assistant", "I rest.", calls=(call,), native='anthropic [{"type": "thinking"}]')
    (turn, _) = wire.outgoing([foreign, Message("user", "y", results=("a",))], fuse=False, mark=False)
    assert turn["content"] == "I rest."
    assert turn["tool_calls"][0]["function"] == {"name": "rest", "arguments": '{"turns": 3}'}


def test_anthropic_marks_the_stable_start_and_bills_what_its_cache_read() -> None:
    replies, bodies = dialogue("messages", tokens=(1000, 10, 900))
    assert bodies[0]["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert (replies[0].usage.input, replies[0].usage.cached) == (1000, 900)
    # The table's rates of the model: $1 a million fresh, $0.10 cached, $5 answered.
    assert replies[0].cost == pytest.approx((100 * 1 + 900 * 0.1 + 10 * 5) / 1e6)


def test_a_model_that_thinks_is_asked_but_not_forced_to_call() -> None:
    option, changes = ROUTES["messages"]
    server = OwnServer(model_config(option, thinking_budget=2000, **changes))
    body = server.body([HEAD, Message("user", "A newt.")], TOOLS)
    assert body["tool_choice"]["type"] == "auto"
    assert body["max_tokens"] == 4096
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2000}


@pytest.mark.parametrize(
    ("route", "changes", "message"),
    [
        ("responses", {"seed": 3}, "model.seed=3: the Responses API has no such field"),
        ("responses", {"stop": ["x"]}, 'model.stop=["x"]: the Responses API'),
        ("messages", {"seed": 3}, "model.seed=3: the Messages API has no seed"),
        ("messages", {"reasoning_effort": "huge"}, "use none, low, medium, high"),
    ],
)
def test_settings_that_a_protocol_lacks_are_refused(route: str, changes: Any, message: str) -> None:
    option, settings = ROUTES[route]
    with pytest.raises(ConfigError) as refused:
        OwnServer(model_config(option, **settings, **changes))
    assert message in str(refused.value)


@pytest.mark.parametrize(
    "body",
    [
        b'{"output": [{"type": "function_call"}, {"type": "message", "content": "x"}, {"type": "none"}]}',
        b'{"output": [], "usage": {"input_tokens": "many"}}',
    ],
)
def test_odd_responses_are_read_without_an_exception(body: bytes) -> None:
    from balrog_rag.models import openai_responses

    answer = asyncio.run(openai_responses.read(body, [Message("user", "x")]))
    assert all(call.id for call in answer.reply.calls)


def test_the_schema_of_an_action() -> None:
    assert schema(REST) == {
        "type": "object",
        "properties": {"turns": {"type": "integer", "minimum": 1, "maximum": 20}},
        "required": ["turns"],
        "additionalProperties": False,
    }
    assert schema(GO)["properties"]["way"]["enum"] == ["north", "south"]
    assert tool_name("go to the stairs!" * 9) == ("go_to_the_stairs_" * 9)[:64]
