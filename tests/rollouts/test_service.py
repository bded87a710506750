"""The service over HTTP: rollouts that go on without their client, and after a kill."""

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from balrog_rag.models.serving.testserver import TestServer
from tests.rollouts.support import (
    GOTO,
    KEY,
    NLE,
    Client,
    ServerProcess,
    body,
    children,
    endpoint,
    files_with,
    serving,
    wait_until,
)


def run(task: Any) -> Any:
    return asyncio.run(task)


def test_a_rollout_is_started_watched_and_fetched(tmp_path: Path) -> None:
    async def play() -> None:
        async with TestServer(latency=0.02) as model, serving(tmp_path) as client:
            status, begun = await client.ask("POST", "/rollouts", json=body(model.url, id="one"))
            assert (status, begun["id"]) == (202, "one")
            async with client.session.get(f"{client.url}/rollouts/one/events") as stream:
                assert stream.content_type == "text/event-stream"
                lines = (await stream.read()).decode().split("\n\n")
            events = [dict(part.split(": ", 1) for part in line.split("\n")) for line in lines if line]
            names = [event["event"] for event in events]
            assert names[0] == "started"
            assert names.count("call") == names.count("step") == 4
            assert names[-2:] == ["ended", "result"]
            result = json.loads(events[-1]["data"])
            assert (result["error"], result["steps"], result["segments"]) == (None, 4, 1)
            assert await client.played("one") == result
            metrics = await (await client.session.get(f"{client.url}/metrics")).text()
            assert 'balrog_rollouts_total{state="finished"} 1' in metrics
            assert (await client.ask("GET", "/health"))[1]["status"] == "ok"

    run(play())


def test_waiting_answers_with_the_result_and_a_group_plays_one_game(tmp_path: Path) -> None:
    async def play() -> None:
        async with TestServer() as model, serving(tmp_path) as client:
            asked = body(model.url, id="g", count=3)
            status, results = await client.ask("POST", "/rollouts?wait=true", json=asked)
            assert status == 200
            assert [each["id"] for each in results] == ["g-0", "g-1", "g-2"]
            assert {each["seed"] for each in results} == {3}
            assert all(each["error"] is None for each in results)

    run(play())


def test_a_client_that_disconnects_can_fetch_the_result(tmp_path: Path) -> None:
    async def play() -> None:
        async with TestServer(latency=0.05) as model, serving(tmp_path) as client:
            events = {"accept": "text/event-stream"}
            async with aiohttp.ClientSession() as leaving:
                async with leaving.post(
                    f"{client.url}/rollouts", json=body(model.url, id="gone"), headers=events
                ) as stream:
                    assert b"started" in await stream.content.readline()
            result = await client.played("gone")
            assert (result["error"], result["steps"]) == (None, 4)
            # Also when it is no longer in memory.
            client.service._finished.clear()
            assert await client.played("gone") == result

    run(play())


def test_cancelling_ends_the_game_and_keeps_the_journal(tmp_path: Path) -> None:
    async def play() -> None:
        async with TestServer(latency=0.05) as model, serving(tmp_path, workers=1) as client:
            await client.ask("POST", "/rollouts", json=body(model.url, id="c", max_steps=10_000))
            while (await client.ask("GET", "/rollouts/c"))[1]["steps"] < 2:
                await asyncio.sleep(0.02)
            status, state = await client.ask("DELETE", "/rollouts/c")
            assert (status, state["status"], state["result"]["error"]) == (200, "failed", "cancelled")
            assert state["result"]["reward"] is None
            pool = client.service.engine._pool
            assert pool is not None
            while any(worker.games for worker in pool.workers):
                await asyncio.sleep(0.02)
            # It is over, also for a server that starts again.
            client.service._finished.clear()
            assert client.service.resume() == 0
            assert (await client.ask("GET", "/rollouts/c"))[1]["result"]["error"] == "cancelled"
            # The same request continues it.
            again = body(model.url, id="c", max_steps=10_000, deadline=0.2)
            assert (await client.ask("POST", "/rollouts", json=again))[0] == 202
            assert "deadline" in (await client.played("c"))["error"]

    run(play())


def test_two_rollouts_with_one_id(tmp_path: Path) -> None:
    async def play() -> None:
        async with TestServer(latency=0.02) as model, serving(tmp_path) as client:
            first = body(model.url, id="same")
            assert (await client.ask("POST", "/rollouts", json=first))[0] == 202
            assert (await client.ask("POST", "/rollouts", json=first))[0] == 202
            status, said = await client.ask("POST", "/rollouts", json=body(model.url, id="same", seed=4))
            assert (status, said["error"]) == (409, "id same: another rollout has this id; choose another")
            await client.played("same")
            assert client.service.counts["started"] == 1

    run(play())


BAD: list[tuple[Any, int, str]] = [
    (b"{", 400, "not JSON"),
    (b"[]", 400, "must be a JSON object"),
    ({"task": "nle/Nowhere"}, 400, "Nowhere"),
    ({"deadline": 0}, 400, "deadline: expected"),
    ({"count": 0}, 400, "count: expected"),
    ({"count": True}, 400, "count: expected"),
    ({"surprise": 1}, 400, "surprise"),
    ({"overrides": ["agent.prompts.closing=@/etc/passwd"]}, 400, "a client may not do"),
    ({"overrides": ["agent.demonstrations=[/etc/passwd]"], "agent": "few_shot"}, 400, "a client may not do"),
    ({"agent": "/tmp/mine.py:act", "task": NLE}, 400, "a client may not do"),
    ({"agent": "own_class", "overrides": ["agent.options.class_name=A"], "task": NLE}, 400, "agent"),
    ({"agent": "program", "overrides": ["agent.options.path=/tmp"], "task": NLE}, 400, "a client may not do"),
    ({"overrides": ["conf_dir=conf"]}, 400, "a client may not do"),
    ({"agent": "program", "task": NLE}, 400, "agent"),
    ({"model": "openai"}, 400, "has to name an endpoint"),
    ({"model": endpoint("http://127.0.0.1:1/v1", api_key="env:HOME")}, 400, "--key-env"),
    ({"model": {"base_url": "http://127.0.0.1:1/v1", "name": "m", "api_key": 5}}, 400, "api_key"),
]


def test_bad_requests_get_one_clear_error(tmp_path: Path) -> None:
    async def play() -> None:
        async with serving(tmp_path) as client:
            for wrong, wanted, said in BAD:
                data = (
                    wrong
                    if isinstance(wrong, bytes)
                    else json.dumps({**body("http://127.0.0.1:1/v1"), **wrong})
                )
                status, answer = await client.ask("POST", "/rollouts", data=data)
                assert (status, list(answer)) == (wanted, ["error"]), wrong
                assert said in answer["error"], answer
                assert "\n" not in answer["error"]
            assert (await client.ask("GET", "/rollouts/none"))[0] == 404
            assert (await client.ask("GET", "/rollouts/..%2Fup"))[0] == 404
            assert (await client.ask("GET", "/other"))[0] == 404
            assert client.service.running == 0

    run(play())


def test_who_may_ask(tmp_path: Path) -> None:
    async def play() -> None:
        async with serving(tmp_path) as client:
            for headers in ({"host": "evil.example"}, {"origin": "https://evil.example"}):
                assert (await client.ask("GET", "/health", headers=headers))[0] == 403
        async with serving(tmp_path, token="a-token-1234") as client:
            assert (await client.ask("GET", "/health"))[0] == 401
            for wrong in ("Bearer a-token-123", "a-token-1234", "Bearer ä"):
                assert (await client.ask("GET", "/health", headers={"authorization": wrong}))[0] == 401
            right = {"authorization": "Bearer a-token-1234"}
            assert (await client.ask("GET", "/health", headers=right))[0] == 200

    run(play())


def test_another_address_needs_a_token(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, "--host", "0.0.0.0")
    assert server.process.wait(60) == 2
    assert server.said.startswith("error: --host 0.0.0.0: needs a token")


@pytest.fixture
def slow_model() -> Iterator[TestServer]:
    """A model server in a thread of its own, which survives the service."""
    server, loop = TestServer(latency=0.1), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.open(), loop).result()
    yield server
    asyncio.run_coroutine_threadsafe(server.close(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


@pytest.mark.slow
def test_a_killed_server_resumes_from_its_journals(tmp_path: Path, slow_model: TestServer) -> None:
    """By itself where the key is a variable, else as soon as the client sends its request again."""
    stored, secret = "stored", "secret"
    steps = 12

    async def begin(url: str) -> None:
        async with aiohttp.ClientSession() as session:
            client = Client(url, session)
            named = endpoint(slow_model.url, api_key="env:MODEL_KEY")
            for name, model in ((stored, named), (secret, endpoint(slow_model.url))):
                asked = body(slow_model.url, id=name, max_steps=steps, model=model)
                assert (await client.ask("POST", "/rollouts", json=asked))[0] == 202
            for name in (stored, secret):
                while (await client.ask("GET", f"/rollouts/{name}"))[1]["steps"] < 3:
                    await asyncio.sleep(0.02)

    async def end(url: str) -> list[dict[str, Any]]:
        async with aiohttp.ClientSession() as session:
            client = Client(url, session)
            assert (await client.ask("GET", "/health"))[1]["need_their_key"] == 1
            assert (await client.ask("GET", f"/rollouts/{secret}"))[1]["status"] == "interrupted"
            asked = body(slow_model.url, id=secret, max_steps=steps)
            assert (await client.ask("POST", "/rollouts", json=asked))[0] == 202
            return [await client.played(name) for name in (stored, secret)]

    variables, words = {"MODEL_KEY": KEY}, ("--workers", "1", "--key-env", "MODEL_KEY")
    server = ServerProcess(tmp_path, *words, **variables)
    asyncio.run(begin(server.url))
    games = children(server.process.pid)
    server.kill()
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}/fd/0") for pid in games))
    again = ServerProcess(tmp_path, *words, **variables)
    assert "1 resumed, 1 wait for their key" in again.said
    results = asyncio.run(end(again.url))
    assert [(each["error"], each["steps"]) for each in results] == [(None, steps)] * 2
    # No answer was asked for twice: what had arrived was in the journals. One call each was in flight.
    assert len(slow_model.calls) <= 2 * steps + 2
    keys = [call.headers["idempotency-key"] for call in slow_model.calls]
    assert len(set(keys)) == 2 * steps
    said = again.stop()
    assert again.process.returncode == 0
    assert KEY not in said
    assert files_with(tmp_path, KEY) == []


def test_many_at_once_share_workers_and_connections(tmp_path: Path) -> None:
    async def play() -> None:
        async with TestServer(latency=0.05) as model, serving(tmp_path, workers=1) as client:
            asked = [body(model.url, id=f"m{n}", seed=n, task=GOTO) for n in range(24)]
            await asyncio.gather(*(client.ask("POST", "/rollouts", json=each) for each in asked))
            results = await asyncio.gather(*(client.played(f"m{n}") for n in range(24)))
            assert all(each["error"] is None for each in results)
            assert model.most_in_flight > 1
            assert len(client.service.engine._connections._posters) == 1
            pool = client.service.engine._pool
            assert pool is not None
            assert len(pool.workers) == 1

    run(play())
