"""One episode against the caller's model server, from Python and from the shell."""

import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import balrog_rag
from balrog_rag.cli.verbs import main
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.events import Asked, Event
from balrog_rag.episode import journal
from balrog_rag.models.serving.testserver import TestServer
from balrog_rag.rollouts.rollout import Rollouts
from balrog_rag.rollouts.rollout_request import read_request
from balrog_rag.rollouts.rollout_result import RolloutResult
from balrog_rag.run.replay import verify
from tests.rollouts.support import GOTO, KEY, NLE, QUICK, endpoint, files_with
from tests.support import largest_file


def played(folder: Path, *requests: dict[str, Any], server: TestServer | None = None) -> list[RolloutResult]:
    """Play these requests at once, in this process."""

    async def run() -> list[RolloutResult]:
        async with server or TestServer() as model, Rollouts(folder, workers=0) as rollouts:
            asked = [
                {"task": GOTO, "max_steps": 6, "model": endpoint(model.url), "overrides": QUICK, **request}
                for request in requests
            ]
            return await asyncio.gather(*(rollouts.play(read_request(each)) for each in asked))

    return asyncio.run(run())


def test_a_rollout_returns_one_scored_result(tmp_path: Path) -> None:
    server = TestServer()
    (result,) = played(tmp_path, {"task": NLE, "seed": 3, "max_steps": 5, "id": "one"}, server=server)
    assert (result.error, result.outcome, result.steps, result.segments) == (None, "steps", 5, 1)
    assert result.reward == result.progression is not None
    assert result.usage["act"].calls == 5
    assert result.progression_held is not None
    path = Path(result.journal)
    assert path.is_relative_to(tmp_path / "one")
    assert asyncio.run(verify(path)).complete
    header = next(journal.entries_of(path))
    assert isinstance(header, journal.Header)
    assert (header.spec.game.seeds.core, header.spec.steps) == (3, 5)


def test_the_endpoint_gets_its_name_sampling_and_key(tmp_path: Path) -> None:
    server = TestServer()
    sampling = {"temperature": 0.25, "top_k": 7, "chat_template_kwargs": {"enable_thinking": False}}

    async def run() -> None:
        async with server, Rollouts(tmp_path, workers=0) as rollouts:
            given = {"task": GOTO, "max_steps": 3, "model": endpoint(server.url, sampling=sampling)}
            await rollouts.play(read_request(given))

    asyncio.run(run())
    calls = list(server.calls)
    assert len(calls) == 3
    for call in calls:
        sent = call.json
        sent.pop("messages")
        assert sent == {"model": "org/Model-X", **sampling}
        assert call.headers["authorization"] == f"Bearer {KEY}"
        assert call.headers["x-balrog-purpose"] == "act"
        assert call.headers["x-stainless-retry-count"] == "0"
    assert len({call.headers["idempotency-key"] for call in calls}) == 3


def test_a_repeated_call_keeps_its_key_and_says_that_it_is_repeated(tmp_path: Path) -> None:
    server = TestServer(script=["500", "", "500"])
    (result,) = played(tmp_path, {"max_steps": 2}, server=server)
    assert result.error is None
    sent = [
        (call.headers["idempotency-key"], call.headers["x-stainless-retry-count"]) for call in server.calls
    ]
    (first, _), (again, _), (second, _), (once_more, _) = sent
    assert first == again != second == once_more
    assert [count for _, count in sent] == ["0", "1", "0", "1"]


def test_calls_for_queries_and_summaries_say_so(tmp_path: Path) -> None:
    server = TestServer(answer=lambda texts: "Query: newts")
    overrides = (*QUICK, "agent.retrieval.enabled=true", "knowledge.index=bm25")
    (result,) = played(tmp_path, {"task": NLE, "max_steps": 1, "overrides": overrides}, server=server)
    assert [call.headers["x-balrog-purpose"] for call in server.calls] == ["query", "summary", "act"]
    assert set(result.usage) == {"query", "summary", "act"}


def test_the_same_seed_and_answers_give_the_same_result(tmp_path: Path) -> None:
    one, other, different = played(tmp_path, {"seed": 5}, {"seed": 5}, {"seed": 6})
    first, again = (json.loads(each.json()) for each in (one, other))
    for each in (first, again):
        each.pop("id"), each.pop("journal"), each.pop("seconds")
    assert first == again
    steps = [
        [step.obs for step in journal.read(Path(each.journal)).steps] for each in (one, other, different)
    ]
    assert steps[0] == steps[1] != steps[2]


def test_a_split_chooses_the_seed(tmp_path: Path) -> None:
    train, test = played(tmp_path, {"split": "train", "index": 4}, {"split": "test", "index": 4})
    assert (train.seed % 4, test.seed % 4) == (0, 2)
    assert (train.split, train.index) == ("train", 4)


def test_python_needs_one_call_and_leaves_nothing_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path / "cache"))
    events: list[Event] = []

    class Watching:
        def see(self, event: Event) -> None:
            events.append(event)

    async def run() -> list[RolloutResult]:
        async with TestServer() as server:
            many = [
                balrog_rag.rollout(GOTO, seed=seed, max_steps=3, model=endpoint(server.url), watch=Watching())
                for seed in range(4)
            ]
            return await asyncio.gather(*many)

    results = asyncio.run(run())
    assert [each.error for each in results] == [None] * 4
    assert all(Path(each.journal).is_relative_to(tmp_path / "cache" / "rollouts") for each in results)
    assert list(here.iterdir()) == []
    assert sum(isinstance(event, Asked) for event in events) == sum(each.steps for each in results)


def test_the_key_reaches_no_file_and_no_error_text(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Also if the server sends it back in an answer, or in an error."""
    echoing = TestServer(answer=lambda texts: f"north {KEY} <|ACTION|>go forward<|END|>")
    (result,) = played(tmp_path, {"id": "echo"}, server=echoing)
    assert result.error is None
    assert KEY not in result.json().decode()

    async def refusing() -> RolloutResult:
        from aiohttp import web

        async def refuse(request: web.Request) -> web.Response:
            return web.json_response(
                {"error": {"message": f"no: {request.headers['authorization']}"}}, status=400
            )

        app = web.Application()
        app.router.add_post("/v1/chat/completions", refuse)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        async with Rollouts(tmp_path, workers=0) as rollouts:
            found = await rollouts.play(read_request({"task": GOTO, "model": endpoint(url), "id": "refused"}))
        await runner.cleanup()
        return found

    refused = asyncio.run(refusing())
    assert refused.error is not None
    assert KEY not in refused.error
    assert refused.reward is None
    assert files_with(tmp_path, KEY) == []
    assert (tmp_path / "echo" / "request.json").exists()
    said = capfd.readouterr()
    assert KEY not in said.out + said.err


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"task": "nle/NetHackChalenge-v0"}, "did you mean NetHackChallenge-v0"),
    ({"task": "nle"}, "expected env/task"),
    ({"task": "nosuch/thing"}, "nosuch"),
    ({"agent": "naiv"}, "naive"),
    ({"deadline": 0}, "deadline: expected a number of seconds above 0"),
    ({"deadline": -1.0}, "deadline"),
    ({"max_steps": 0}, "max_steps"),
    ({"seed": -1}, "seed"),
    ({"seed": 1, "split": "train", "index": 0}, "seed: given together with split"),
    ({"split": "train"}, "split and index go together"),
    ({"id": "../up"}, "id: expected"),
    ({"overrides": ["limits.steps=3"]}, "limits.steps"),
    ({"overrides": ["agent.lenint=true"]}, "agent.lenient"),
    ({"model": {"base_url": "ftp://x", "name": "m"}}, "model.base_url: not a server address"),
    ({"model": {"base_url": "http://u:p@h/v1", "name": "m"}}, "put the key into model.api_key"),
    ({"model": {"base_url": "http://h/v1", "name": ""}}, "model.name: empty"),
    (
        {"model": {"base_url": "http://h/v1", "name": "m", "sampling": {"stream": True}}},
        "model.sampling.stream",
    ),
    ({"model": {"base_url": "http://h/v1", "nam": "m"}}, "nam"),
    ({"modle": 1}, "modle"),
]


@pytest.mark.parametrize(
    ("wrong", "said"), WRONG, ids=[f"{next(iter(wrong))}-{n}" for n, (wrong, _) in enumerate(WRONG)]
)
def test_what_cannot_be_played_is_one_clear_error(tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as error:
        played(tmp_path, wrong)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_cannot_be_reached_is_an_error_without_a_reward(tmp_path: Path) -> None:
    (result,) = played(tmp_path, {"model": endpoint("http://127.0.0.1:9/v1")})
    assert (result.reward, result.progression) == (None, None)
    assert result.error is not None
    assert "127.0.0.1:9" in result.error
    assert "\n" not in result.error


@pytest.mark.parametrize("junk", ["", "\x00\x1b[31m" * 50, "no action at all", "x" * 300_000])
def test_junk_from_the_model_is_played_as_an_invalid_answer(tmp_path: Path, junk: str) -> None:
    (result,) = played(tmp_path, {"max_steps": 2}, server=TestServer(answer=lambda texts: junk))
    assert (result.error, result.steps) == (None, 2)


def test_a_deadline_ends_a_rollout_which_its_id_continues(tmp_path: Path) -> None:
    slow = TestServer(latency=0.3)
    request = {"id": "late", "max_steps": 3}
    (late,) = played(tmp_path, {**request, "deadline": 0.5}, server=slow)
    assert late.reward is None
    assert late.error is not None
    assert late.error.startswith("deadline: 0.5 s passed after")
    rest = TestServer()
    (done,) = played(tmp_path, {**request, "deadline": 60.0}, server=rest)
    assert (done.error, done.steps) == (None, 3)
    assert 0 < len(rest.calls) < 3 or late.steps == 0


def test_a_finished_rollout_is_returned_again_and_an_id_belongs_to_one_request(tmp_path: Path) -> None:
    (first,) = played(tmp_path, {"id": "x", "seed": 1})
    unasked = TestServer()
    (again,) = played(tmp_path, {"id": "x", "seed": 1}, server=unasked)
    assert again == first
    assert not unasked.calls
    with pytest.raises(ConfigError, match="another rollout had this id"):
        played(tmp_path, {"id": "x", "seed": 2})
    with pytest.raises(ConfigError, match="is being played"):
        played(tmp_path, {"id": "y"}, {"id": "y"})


def test_a_full_disk_is_an_error_and_loses_no_answer(tmp_path: Path) -> None:
    with largest_file(9000):
        (full,) = played(tmp_path, {"id": "full", "max_steps": 30})
    assert full.reward is None
    assert full.error is not None
    assert "cannot be written" in full.error
    (path,) = tmp_path.rglob("*.journal.jsonl")
    answers = sum(isinstance(entry, journal.Completion) for entry in journal.read(path).entries)
    assert answers > 0
    server = TestServer()
    (done,) = played(tmp_path, {"id": "full", "max_steps": 30}, server=server)
    assert done.error is None
    assert len(server.calls) == done.usage["act"].calls - answers


@pytest.mark.parametrize(
    "said",
    [
        {"content": "go forward", "reasoning_content": "A door."},
        {"content": "<think>\nA door.\n</think>\n\ngo forward"},
    ],
)
def test_a_proxy_sees_one_growing_dialogue(tmp_path: Path, said: dict[str, str]) -> None:
    """Each request repeats the one before and the answer to it, reasoning included."""
    bodies: list[dict[str, Any]] = []

    async def play() -> RolloutResult:
        from aiohttp import web

        async def answer(request: web.Request) -> web.Response:
            bodies.append(await request.json())
            return web.json_response({"choices": [{"message": {"role": "assistant", **said}}]})

        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        async with Rollouts(tmp_path, workers=0) as rollouts:
            found = await rollouts.play(
                read_request({"task": GOTO, "max_steps": 5, "seed": 1, "model": endpoint(url)})
            )
        await runner.cleanup()
        return found

    result = asyncio.run(play())
    assert (result.error, result.segments) == (None, 1)
    assert len(bodies) == result.steps
    for before, after in pairwise(body["messages"] for body in bodies):
        assert after[:-1] == [*before, {"role": "assistant", **said}]
        assert after[-1]["role"] == "user"


def test_the_command_prints_one_line_of_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rollout", GOTO, "--model", "scripted", "--seed", "4", "--max-steps", "5", "--json"]
    assert main([*words, "--folder", str(tmp_path), "agent.lenient=true"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    result = json.loads(line)
    assert (result["task"], result["seed"], result["error"]) == (GOTO, 4, None)
    assert main(["rollout", GOTO, "--max-steps", "5"]) == 2
    assert "--base-url: missing" in capsys.readouterr().err


def test_make_takes_presses_and_the_former_name() -> None:
    for name in ("max_presses", "max_steps"):
        with balrog_rag.make(GOTO, seed=1, **{name: 2}) as game:
            assert game.spec.max_steps == 2
