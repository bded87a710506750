"""The served page: loopback and its own page only, the same documents as a file, episodes followed, notes."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from balrog_rag.results.folder import journals as journals_of
from balrog_rag.viewer import bundle
from balrog_rag.viewer.library import Library
from balrog_rag.viewer.listing import listed
from balrog_rag.viewer.packing import unpacked
from balrog_rag.viewer.server import listen
from tests.viewer.support import documents, until

Client = Callable[..., Awaitable[tuple[int, bytes]]]


@asynccontextmanager
async def served(*paths: Path) -> AsyncIterator[tuple[Client, int]]:
    library = Library(paths)
    runner, port = await listen(library, 0)
    async with aiohttp.ClientSession() as session:

        async def ask(path: str, method: str = "GET", **more: Any) -> tuple[int, bytes]:
            url = f"http://127.0.0.1:{port}{path}"
            async with session.request(method, url, allow_redirects=False, **more) as answer:
                return answer.status, await answer.read()

        try:
            yield ask, port
        finally:
            library.close()
            await runner.cleanup()


@pytest.fixture
def run(runs: Path, tmp_path: Path) -> Path:
    """A copy of the run, to write into."""
    return Path(shutil.copytree(runs / "told", tmp_path / "told"))


def test_only_its_own_page_on_this_machine_is_answered(run: Path) -> None:
    async def asked() -> None:
        async with served(run) as (ask, port):
            assert (await ask("/"))[0] == 200
            assert (await ask("/data/run", headers={"Host": f"localhost:{port}"}))[0] == 200
            for headers in (
                {"Host": "evil.example"},
                {"Host": f"evil.example:{port}"},
                {"Host": "127.0.0.1:1"},
                {"Origin": "http://evil.example"},
                {"Origin": "null"},
                {"Origin": "http://127.0.0.1:1"},
            ):
                for path in ("/", "/data/run", "/data/0/head"):
                    assert (await ask(path, headers=headers))[0] == 403, headers
            note = msgspec.json.encode({"key": "nle/NetHackChallenge-v0/00", "step": 1, "text": "x"})
            plain = {"Content-Type": "application/json"}
            assert (await ask("/notes", "POST", data=note, headers=plain))[0] == 403  # no page says so
            assert not (run / "notes.json").exists()

    asyncio.run(asked())


def test_nothing_outside_the_run_is_served(run: Path) -> None:
    (run.parent / "secret").write_text("secret")

    async def asked() -> None:
        async with served(run) as (ask, _):
            for path in (
                "/../secret", "/data/../../secret", "/data/%2e%2e/secret", "/secret", "/data/0/../../secret",
                "/data//etc/passwd", "/config.json", "/data/99/head", "/data/-1/head", "/data/0/999999",
            ):  # fmt: skip
                status, body = await ask(path)
                assert status == 404, path
                assert b"secret" not in body

    asyncio.run(asked())


def test_it_serves_what_a_file_holds(run: Path, tmp_path: Path) -> None:
    bundle.write(listed([run]), tmp_path / "page.html")
    wanted = documents(tmp_path / "page.html")

    async def asked() -> None:
        async with served(run) as (ask, _):
            head: dict[str, Any] = {}
            while not head.get("done"):
                head = unpacked((await ask("/data/0/head"))[1])
            assert head == wanted["0/head"]
            assert unpacked((await ask("/data/run"))[1]) == wanted["run"]
            for name in ("0/0", "0/1"):
                assert unpacked((await ask(f"/data/{name}"))[1]) == wanted[name]

    asyncio.run(asked())


def test_an_episode_is_followed_while_it_is_played(runs: Path, tmp_path: Path) -> None:
    lines = journals_of(runs / "told")[0].read_bytes().splitlines(keepends=True)
    growing = tmp_path / "growing.journal.jsonl"
    growing.write_bytes(b"".join(lines[:30]))

    async def asked() -> None:
        async with served(growing) as (ask, _):

            async def head() -> dict[str, Any]:
                found: dict[str, Any] = unpacked((await ask("/data/0/head"))[1])
                return found

            begun = await head()
            with growing.open("ab") as file:
                file.write(b"".join(lines[30:60]) + lines[60][:40])  # torn, as a reader may find it
            while (now := await head())["steps"] <= begun["steps"]:
                await asyncio.sleep(0.05)
            assert now["done"] is False
            with growing.open("ab") as file:
                file.write(lines[60][40:] + b"".join(lines[61:]))
            while not (now := await head())["done"]:
                await asyncio.sleep(0.05)
            assert (now["steps"], now["failure"], now["outcome"]) == (70, "", "steps")

    asyncio.run(asyncio.wait_for(asked(), 240))


def test_the_list_grows_with_the_runs(runs: Path, tmp_path: Path) -> None:
    """An episode that begins, one that ends, a run that appears: each is there without a new page."""
    sweep = tmp_path / "sweep"
    told = Path(shutil.copytree(runs / "told", sweep / "told"))
    second = journals_of(told)[1]
    whole = second.read_bytes()
    second.unlink()

    async def asked() -> None:
        async with served(sweep) as (ask, _):

            async def rows() -> list[tuple[str, str]]:
                found = unpacked((await ask("/data/rows"))[1])["episodes"]
                return [(row["key"], row["state"]) for row in found]

            first = ("nle/NetHackChallenge-v0/00", "ended")
            assert await rows() == [first]
            second.write_bytes(b"".join(whole.splitlines(keepends=True)[:20]))
            assert await rows() == [first, ("nle/NetHackChallenge-v0/01", "open")]
            second.write_bytes(whole)
            both = [first, ("nle/NetHackChallenge-v0/01", "ended")]
            assert await rows() == both
            shutil.copytree(runs / "plain", sweep / "plain")
            others = [(f"plain:nle/NetHackChallenge-v0/0{number}", "ended") for number in (0, 1)]
            assert await rows() == both + others  # names that are known stay, and so do their places
            assert unpacked((await ask("/data/run"))[1])["title"] == "told, plain"
            head: dict[str, Any] = {}
            while not head.get("done"):
                head = unpacked((await ask("/data/3/head"))[1])
            assert head["steps"] == 20

    asyncio.run(asyncio.wait_for(asked(), 60))


def test_a_watcher_gives_up_when_nobody_looks(runs: Path, tmp_path: Path) -> None:
    growing = tmp_path / "growing.journal.jsonl"
    lines = journals_of(runs / "told")[0].read_bytes().splitlines(keepends=True)
    growing.write_bytes(b"".join(lines[:30]))
    library = Library([growing])
    library.head(0)
    first = library._watched[0]
    library.close()
    until(lambda: first.given_up, "the replay ends")
    library.head(0)  # somebody looks again
    assert library._watched[0] is not first
    library.close()


def test_notes_are_kept_beside_the_run(run: Path) -> None:
    async def asked() -> None:
        async with served(run) as (ask, port):
            page = {"Origin": f"http://127.0.0.1:{port}", "Content-Type": "application/json"}

            async def send(**note: Any) -> int:
                data = msgspec.json.encode({"key": "nle/NetHackChallenge-v0/00", **note})
                return (await ask("/notes", "POST", data=data, headers=page))[0]

            assert await send(step=4, text="<b>why</b> east?") == 204
            assert await send(step=2, text="here", at="2026-01-01") == 204
            noted = unpacked((await ask("/data/run"))[1])["notes"]
            assert [(note["step"], note["text"]) for note in noted] == [(2, "here"), (4, "<b>why</b> east?")]
            assert await send(step=4, text="<b>why</b> east?", remove=True) == 204
            assert [note["step"] for note in msgspec.json.decode((run / "notes.json").read_bytes())] == [2]
            assert await send(step=4, text=" ") == 404
            assert await send(step=4, text="x" * 10_001) == 404
            assert await send(key="other", step=4, text="x") == 404
            (run / "notes.json").write_text("no notes")
            assert await send(step=4, text="x") == 404
            assert (run / "notes.json").read_text() == "no notes"  # somebody's file is left alone

    asyncio.run(asked())
