"""The served page: loopback and its own page only, the same documents as a file, live episodes, notes."""

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import aiohttp
import msgspec
import pytest

from balrog_rag.results.run_folder import journals as journals_of
from balrog_rag.viewer import bundle
from balrog_rag.viewer.episode_library import MEMORY, MOST_AT_ONCE, Library
from balrog_rag.viewer.listing import listed
from balrog_rag.viewer.packing import unpacked
from balrog_rag.viewer.server import listen, open_browser
from balrog_rag.viewer.slow_work import BY_THREAD, YIELDING
from tests.support import CLEAN, PATIENCE, until
from tests.viewer.support import documents

Client = Callable[..., Awaitable[tuple[int, bytes]]]


TOKEN = "of-this_test"


@asynccontextmanager
async def served(*paths: Path, memory: int = MEMORY, token: str = TOKEN) -> AsyncIterator[tuple[Client, int]]:
    library = Library(paths, memory)
    runner, port = await listen(library, 0, token)
    async with aiohttp.ClientSession() as session:

        async def ask(path: str, method: str = "GET", under: str = token, **more: Any) -> tuple[int, bytes]:
            url = f"http://127.0.0.1:{port}{under and '/' + under}{path}"
            async with session.request(method, url, allow_redirects=False, **more) as answer:
                return answer.status, await answer.read()

        try:
            yield ask, port
        finally:
            library.close()
            await runner.cleanup()


@pytest.fixture
def run(runs: Path, tmp_path: Path) -> Path:
    """A copy of the run that may be written to."""
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


def test_only_an_address_with_the_token_is_answered(run: Path) -> None:
    """Every account on the machine reaches the port; only this user was given the token."""

    async def asked() -> None:
        note = msgspec.json.encode({"key": "nle/NetHackChallenge-v0/00", "step": 1, "text": "x"})
        async with served(run) as (ask, port):
            page = {"Origin": f"http://127.0.0.1:{port}", "Content-Type": "application/json"}
            for wrong in ("", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "%ff", f"../{TOKEN[:-1]}"):
                for path in ("/", "/data/run", "/data/rows", "/data/0/head", "/data/0/0", "/none"):
                    status, body = await ask(path, under=wrong)
                    assert (status, b"including the token" in body) == (403, True), (wrong, path)
                assert (await ask("/notes", "POST", wrong, data=note, headers=page))[0] == 403
            assert not (run / "notes.json").exists()
            assert (await ask("/"))[0] == (await ask("/data/run"))[0] == 200
        async with served(run, token="") as (ask, _):
            assert (await ask("/"))[0] == (await ask("/data/run"))[0] == 200

    asyncio.run(asked())


@pytest.mark.skipif(not BY_THREAD, reason="threads have no priority of their own on this system")
def test_slow_work_yields_and_answers_do_not(run: Path) -> None:
    """A page beside a run that is being played is answered at once; its episodes are rebuilt meanwhile."""
    process = subprocess.Popen(
        [sys.executable, "-m", "balrog_rag", "view", str(run), "--no-browser"],
        env=CLEAN, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split(" on ")[1].split()[0]
        for path in ("data/run", "data/0/head"):
            with urlopen(address + path, timeout=PATIENCE) as answer:
                assert answer.status == 200
        tasks = Path(f"/proc/{process.pid}/task").iterdir()
        nice = {int(task.name): os.getpriority(os.PRIO_PROCESS, int(task.name)) for task in tasks}
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert nice[process.pid] == own
        assert min(own + YIELDING, 19) in nice.values()
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_the_printed_address_has_a_token(run: Path) -> None:
    """And with --no-token there is none."""

    def address(*words: str) -> str:
        process = subprocess.Popen(
            [sys.executable, "-m", "balrog_rag", "view", str(run), "--no-browser", *words],
            env=CLEAN, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            return process.stdout.readline().split(" on ")[1].split()[0]
        finally:
            process.terminate()
            process.wait(PATIENCE)

    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address())
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address("--no-token"))


def test_a_server_without_descriptors_says_so_in_one_line_and_goes_on(run: Path, tmp_path: Path) -> None:
    err = tmp_path / "err"
    with err.open("wb") as file:
        process = subprocess.Popen(
            ["bash", "-c", f"ulimit -n 32; exec {sys.executable} -m balrog_rag view {run} --no-browser"],
            env=CLEAN, stdout=subprocess.PIPE, stderr=file, stdin=subprocess.DEVNULL, text=True,
        )  # fmt: skip
    held: list[socket.socket] = []
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split(" on ")[1].split()[0]
        port = int(address.split(":")[2].partition("/")[0])
        for _ in range(40):
            held.append(socket.socket())
            held[-1].setblocking(False)
            held[-1].connect_ex(("127.0.0.1", port))
        until(lambda: err.stat().st_size, "the server has no descriptor left")
        for each in held:
            each.close()
        with urlopen(f"{address}data/0/head", timeout=PATIENCE) as answer:
            assert answer.status == 200
    finally:
        process.terminate()
        process.wait(PATIENCE)
    assert err.read_text().startswith("note: cannot accept connections (Too many open files)")
    assert err.read_text().count("\n") == 1


def test_a_browsers_command_line_does_not_hold_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every account can read it; the address is in a file that only this user can read."""
    opened: list[str] = []

    class Remembering(webbrowser.BaseBrowser):
        def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
            opened.append(url)
            return True

    monkeypatch.setattr(webbrowser, "_tryorder", ["remembering"])
    monkeypatch.setitem(webbrowser._browsers, "remembering", [None, Remembering()])  # type: ignore[attr-defined]
    open_browser(f"http://127.0.0.1:1/{TOKEN}/", TOKEN)
    file = Path(opened[0].removeprefix("file://"))
    assert f"url=http://127.0.0.1:1/{TOKEN}/" in file.read_text()
    assert TOKEN not in opened[0]
    assert file.parent.stat().st_mode & 0o077 == 0


def test_nothing_outside_the_run_is_served(run: Path) -> None:
    (run.parent / "secret").write_text("secret")

    async def asked() -> None:
        async with served(run, token="") as (ask, _):
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
            while not head.get("settled"):
                head = unpacked((await ask("/data/0/head"))[1])
            assert head == wanted["0/head"]
            assert unpacked((await ask("/data/run"))[1]) == wanted["run"]
            for name in ("0/0", "0/1"):
                assert unpacked((await ask(f"/data/{name}"))[1]) == wanted[name]

    asyncio.run(asked())


def test_a_chunk_is_whole_from_the_first_request_on(run: Path, tmp_path: Path) -> None:
    """Whatever is asked first, while the episode is being rebuilt, or after it was dropped from memory."""
    bundle.write(listed([run]), tmp_path / "page.html")
    wanted = documents(tmp_path / "page.html")
    names = ("0/1", "0/0", "1/0", "0/1", "1/1", "0/0")

    async def asked() -> None:
        async with served(run, memory=0) as (ask, _):
            for name in names:
                assert unpacked((await ask(f"/data/{name}"))[1]) == wanted[name]

    asyncio.run(asked())


def test_a_head_has_the_steps_that_were_asked_for_or_says_that_it_is_not_settled(run: Path) -> None:
    async def asked() -> None:
        async with served(run, memory=0) as (ask, _):
            for steps in (0, 66, 70, 500):
                head: dict[str, Any] = {"settled": False, "steps": -1}
                while not (head["settled"] or head["steps"] >= steps):
                    head = unpacked((await ask(f"/data/0/head?steps={steps}"))[1])
                assert head["steps"] >= min(steps, 70)

    asyncio.run(asked())


def test_more_episodes_than_are_rebuilt_at_once_are_all_served(run: Path, tmp_path: Path) -> None:
    """Ended ones wait for their turn; one that only waits for its journal to grow makes room for them."""
    ended, *_ = journals_of(run)
    lines = ended.read_bytes().splitlines(keepends=True)
    paths = []
    for place in range(2 * MOST_AT_ONCE + 2):
        paths.append(tmp_path / f"{place:02d}.journal.jsonl")
        paths[-1].write_bytes(b"".join(lines if place % 2 else lines[:30]))

    async def asked() -> None:
        async with served(*paths) as (ask, _):

            async def whole(place: int) -> dict[str, Any]:
                head: dict[str, Any] = {}
                while not head.get("settled"):
                    head = unpacked((await ask(f"/data/{place}/head"))[1])
                return head

            heads = await asyncio.gather(*(whole(place) for place in range(len(paths))))
            assert [head["steps"] == 70 for head in heads] == [bool(place % 2) for place in range(len(paths))]
            assert {head["done"] for head in heads[::2]} == {False}

    asyncio.run(asyncio.wait_for(asked(), PATIENCE))


def test_an_episode_that_was_resumed_is_read_again(runs: Path, tmp_path: Path) -> None:
    path = tmp_path / "resumed.journal.jsonl"
    lines = journals_of(runs / "told")[0].read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:30]))

    async def asked() -> None:
        library = Library([path])
        watched = await library._opened(0)
        watched.stop()
        while not watched.outdated:  # its journal is no longer followed
            await asyncio.sleep(0.05)
        path.write_bytes(b"".join(lines))
        head: dict[str, Any] = {}
        while not head.get("settled"):
            head = unpacked(await library.head(0))
        assert (head["steps"], head["done"]) == (70, True)
        path.write_bytes(b"".join(lines[:40]))
        assert unpacked(await library.head(0))["steps"] < 70
        library.close()

    asyncio.run(asyncio.wait_for(asked(), PATIENCE))


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

    asyncio.run(asyncio.wait_for(asked(), PATIENCE))


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

    asyncio.run(asyncio.wait_for(asked(), PATIENCE))


def test_a_watcher_gives_up_when_nobody_looks(runs: Path, tmp_path: Path) -> None:
    growing = tmp_path / "growing.journal.jsonl"
    lines = journals_of(runs / "told")[0].read_bytes().splitlines(keepends=True)
    growing.write_bytes(b"".join(lines[:30]))

    async def asked() -> None:
        library = Library([growing])
        first = await library._opened(0)
        library.close()
        while not first.outdated:
            await asyncio.sleep(0.05)
        assert (await library._opened(0)) is not first  # somebody looks again
        library.close()

    asyncio.run(asyncio.wait_for(asked(), PATIENCE))


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
