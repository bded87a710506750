"""`balrog-rag mcp` with the SDK's own client, over stdio and HTTP, in real games."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp: pip install 'balrog_rag[mcp]'")
import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from balrog_rag.episode import journal
from tests.support import CLEAN, PATIENCE, command

pytestmark = pytest.mark.slow
GAMES = ("env=corridor", "run.folder=.", "run.name=r", "agent.name=my-agent", "runner.workers=1")
TOKEN = "sesame"


@asynccontextmanager
async def over_stdio(cwd: Path, *words: str) -> AsyncIterator[Client]:
    """A client of a server of its own."""
    arguments = ["-m", "balrog_rag", "mcp", *GAMES, *words]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, cwd=cwd, env=CLEAN)
    with open(cwd / "server.log", "a") as log:
        async with Client(stdio_client(parameters, errlog=log)) as client:
            yield client


@contextmanager
def http_server(cwd: Path, *words: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A server for several clients: its address and process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "balrog_rag", "mcp", "--http", *GAMES, *words],
        cwd=cwd,
        env={**CLEAN, "BALROG_RAG_TOKEN": TOKEN},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        address = next(found[0] for line in process.stderr if (found := re.search(r"http://\S+/mcp", line)))
        process.stderr.readline()
        yield address, process
    finally:
        process.terminate()
        process.communicate()


@asynccontextmanager
async def over_http(address: str, mode: str = "auto") -> AsyncIterator[Client]:
    """One of its clients."""
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE)
    async with Client(streamable_http_client(address, http_client=http), mode=mode) as client:
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """The text of an answer, and where the game stands."""
    answer = await client.call_tool(tool, arguments)
    return answer.content[0].text, answer.structured_content or {"refused": answer.is_error}


def steps_in(run: Path) -> int:
    return sum(journal.read(path).count for path in run.rglob("*.journal.jsonl"))


def test_twenty_steps_over_stdio_verify(tmp_path: Path) -> None:
    async def play() -> None:
        async with over_stdio(tmp_path, "env.episodes=2", "limits.steps=20") as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["next_game", "observe", "act", "give_up", "report_usage"]
            assert (await called(client, "act", action="west"))[1] == {"refused": True}
            rules, place = await called(client, "next_game")
            assert "act" in rules
            assert place["step"] == 0
            for _ in range(19):
                _, place = await called(client, "act", action="west")
            assert place == {"episode": place["episode"], "step": 19, "over": False}
            last, place = await called(client, "act", action="west")
            assert place["over"]
            assert "after 20 steps" in last
            await called(client, "next_game")
            text, place = await called(client, "give_up")
            assert "given up after 0 steps" in text
            text, place = await called(client, "next_game")
            assert "no other game" in text
            assert "mean progression" in text

    asyncio.run(play())
    assert steps_in(tmp_path / "r") == 20
    verified = command("balrog_rag", "verify", "r", cwd=tmp_path)
    assert verified.returncode == 0, verified.stdout
    compared = command("balrog_rag", "results", "rebuild", "r", cwd=tmp_path)
    assert compared.returncode == 0, compared.stderr
    summary = json.loads((tmp_path / "r/summary.json").read_text())
    assert summary["total_input_tokens"] is None
    assert "own loop" in json.dumps(summary)


def test_a_killed_server_continues_at_the_same_step(tmp_path: Path) -> None:
    async def begin() -> str:
        async with over_stdio(tmp_path, "env.episodes=2", "limits.steps=30") as client:
            await called(client, "next_game")
            for _ in range(7):
                text, _ = await called(client, "act", action="southwest")
            (pid,) = await asyncio.to_thread(server_of, tmp_path)
            os.kill(pid, signal.SIGKILL)
            return text

    async def go_on(before: str) -> None:
        async with over_stdio(tmp_path, "env.episodes=2", "limits.steps=30") as client:
            text, place = await called(client, "next_game")
            assert place["step"] == 7
            assert place["episode"].endswith("/00")
            assert before in text
            await called(client, "act", action="west")

    last = asyncio.run(begin())
    asyncio.run(go_on(last))
    assert steps_in(tmp_path / "r") == 8
    assert command("balrog_rag", "verify", "r", cwd=tmp_path).returncode == 0
    # The game was begun and not finished: given up with the progression it had. The other one is missing.
    table = command("balrog_rag", "results", "rebuild", "r", cwd=tmp_path)
    assert table.returncode == 0, table.stderr
    record = json.loads(next((tmp_path / "r").rglob("*_run_00.json")).read_text())
    assert record["end_reason"] == "given_up"


def server_of(cwd: Path) -> list[int]:
    """The process that plays into a folder: the parent of its workers, found by its working directory."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            line = (folder / "cmdline").read_bytes().split(b"\0")
            if b"mcp" in line and b"balrog_rag" in line and (folder / "cwd").resolve() == cwd.resolve():
                found.append(int(folder.name))
        except (OSError, ValueError):
            continue
    return found


def test_three_clients_at_once_get_different_games(tmp_path: Path) -> None:
    async def play(address: str, mode: str, query: str) -> str:
        async with over_http(address + query, mode) as client:
            _, place = await called(client, "next_game")
            episode = str(place["episode"])
            for _ in range(20):
                _, place = await called(client, "act", action="west", episode=episode)
            assert place["step"] == 20
            return episode

    async def all_of_them(address: str) -> list[str]:
        ways = (("auto", "?client=a"), ("legacy", ""), ("auto", ""))
        return await asyncio.gather(*(play(address, mode, query) for mode, query in ways))

    async def again(address: str) -> dict[str, Any]:
        async with over_http(f"{address}?client=a") as client:
            return (await called(client, "next_game"))[1]

    with http_server(tmp_path, "env.episodes=4", "limits.steps=60") as (address, _):
        assert httpx2.post(address, json={}).status_code == 401
        episodes = asyncio.run(all_of_them(address))
        assert len(set(episodes)) == 3
        # A client that comes back under its name finds its game where it was.
        assert asyncio.run(again(address)) == {"episode": episodes[0], "step": 20, "over": False}
    assert command("balrog_rag", "verify", "r", cwd=tmp_path).returncode == 0


def test_wrong_calls_cost_a_step_and_nothing_else(tmp_path: Path) -> None:
    async def play(address: str) -> None:
        async with over_http(f"{address}?client=a") as client:
            await called(client, "next_game")
            wrong: list[tuple[str, dict[str, Any], str]] = [
                ("act", {"action": 5}, "act needs action"),
                ("act", {}, "act needs action"),
                ("act", {"action": "fly away"}, "is not an action of this game"),
                ("act", {"action": ["west"] * 21}, "at most 20 actions"),
                ("act", {"action": "x" * 1_000_000}, "characters; at most"),
                ("act", {"action": "west", "speed": 2}, "no parameter 'speed'"),
                ("search", {"query": "newt"}, "there is no tool 'search'"),
                ("no_such_tool", {"deep": [[[[1]]]]}, "there is no tool"),
            ]
            for number, (tool, arguments, line) in enumerate(wrong, 1):
                text, place = await called(client, tool, **arguments)
                assert line in text.splitlines()[0], (tool, text[:200])
                assert place["step"] == number
            text, _ = await called(client, "act", action=["west", "fly", "west"])
            assert "because 'fly' is not an action of this game. Left out: fly, west." in text
            text, place = await called(client, "report_usage", input_tokens=-1, output_tokens="many")
            assert place == {"refused": True}
            text, place = await called(client, "act", action="west", episode="nle/Other/07")
            assert place == {"refused": True}
            begun = time.monotonic()
            answers = await asyncio.gather(*(called(client, "observe") for _ in range(200)))
            print(f"200 calls in {time.monotonic() - begun:.2f} s")
            assert {place["step"] for _, place in answers} >= {len(wrong) + 1}

    with http_server(tmp_path, "env.episodes=1") as (address, _):
        asyncio.run(play(address))
    (path,) = (tmp_path / "r").rglob("*.journal.jsonl")
    assert path.stat().st_size < 200_000  # of the megabyte only its length was kept
    assert command("balrog_rag", "verify", "r", cwd=tmp_path).returncode == 0


def test_skills_are_tools_with_a_schema_of_their_parameters(tmp_path: Path) -> None:
    async def play() -> None:
        words = ("env=nethack", "env.actions=skills", "env.episodes=1", "limits.steps=20")
        async with over_stdio(tmp_path, *words) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            schema = tools["move_to"].input_schema
            assert schema["required"] == ["x", "y"]
            assert schema["properties"]["x"]["type"] == "integer"
            await called(client, "next_game")
            text, place = await called(client, "move_to", x="here", y=3)
            assert text.splitlines()[0].startswith("Wrong call: move_to: x must be a whole number")
            text, place = await called(client, "explore_level")
            assert place["step"] == 2

    asyncio.run(play())
    assert command("balrog_rag", "verify", "r", cwd=tmp_path).returncode == 0


def test_a_client_plays_by_plan_and_is_in_every_table(tmp_path: Path) -> None:
    plan = ("env=nethack", "env.actions=plan", "env.episodes=2", "limits.steps=4")

    async def play() -> None:
        async with over_stdio(tmp_path, *plan) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert {"explore_level", "fetch_digger", "dive", "play_on"} <= tools.keys()
            assert tools["play_on"].input_schema["properties"]["turns"]["type"] == "integer"
            for _ in range(2):
                rules, _ = await called(client, "next_game")
                assert "fetch_digger" in rules
                await called(client, "play_on", turns=20)
                text, place = await called(client, "go_to", place="moon")
                assert text.startswith("Wrong call"), text[:200]
                await called(client, "explore_level")
                text, place = await called(client, "act", action="rest 5")
                assert place["over"]

    asyncio.run(play())
    beside = ("run.folder=.", "run.name=other", "runner.log=none")
    for words in (
        ("verify", "r"),
        ("run", "agent=naive", "model=scripted", *plan, *beside),
        ("compare", "other", "r"),
        ("report", "other", "r"),
        ("leaderboard", "build", "other", "r"),
        ("view", "r", "--out", "r.html"),
    ):
        done = command("balrog_rag", *words, cwd=tmp_path)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
    board = (tmp_path / "reports/leaderboard/leaderboard.html").read_text()
    assert "my-agent" in board
    assert "own loop" in board


def test_search_is_a_tool_of_runs_with_retrieval(tmp_path: Path) -> None:
    async def play() -> None:
        words = ("agent.retrieval.enabled=true", "knowledge.index=bm25", "env.episodes=1", "limits.steps=4")
        async with over_stdio(tmp_path, *words) as client:
            assert "search" in [tool.name for tool in (await client.list_tools()).tools]
            await called(client, "next_game")
            text, place = await called(client, "search", query="closed door")
            assert "reference material" in text
            assert place["step"] == 0
            await called(client, "act", action="west")

    asyncio.run(play())
    assert command("balrog_rag", "verify", "r", cwd=tmp_path).returncode == 0
    (path,) = (tmp_path / "r").rglob("*.journal.jsonl")
    assert any(isinstance(entry, journal.Lookup) for entry in journal.read(path).entries)
