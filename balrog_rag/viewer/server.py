"""The page served on loopback: to this machine's browser and nobody else, and nothing outside the runs."""

import asyncio
import os
import webbrowser
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.util.wording import many
from balrog_rag.viewer.library import YIELDING, Library
from balrog_rag.viewer.notes import NoteChange, change_notes
from balrog_rag.viewer.page import page, policy

HOST = "127.0.0.1"
LARGEST_BODY = 1 << 16
NAMES = (HOST, "localhost")
"""What a browser on this machine may call the server."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def serve(paths: Sequence[Path], port: int, browser: bool) -> int:
    """Serve until interrupted, at a low priority: a run that is being played comes first."""
    os.nice(YIELDING)
    library = Library(paths)

    async def run() -> None:
        try:
            runner, chosen = await listen(library, port)
        except OSError as error:
            raise ConfigError(
                f"--port {port}: cannot be listened on ({error.strerror}); choose another"
            ) from error
        address = f"http://{HOST}:{chosen}/"
        print(f"serving {many(len(library.episodes), 'episodes')} on {address} (Ctrl-C ends it)", flush=True)
        if browser:
            await asyncio.to_thread(webbrowser.open, address)
        try:
            await asyncio.Event().wait()
        finally:
            library.close()
            await runner.cleanup()

    asyncio.run(run())
    return 0


async def listen(library: Library, port: int) -> tuple[web.AppRunner, int]:
    """The server, listening, and its port; port 0 takes a free one."""
    runner = web.AppRunner(application(library), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port).start()
    except OSError:
        await runner.cleanup()
        raise
    return runner, int(runner.addresses[0][1])


def application(library: Library) -> web.Application:
    """All that is answered: the page, its documents by number, and notes."""

    async def shown(request: web.Request) -> web.Response:
        return web.Response(body=b"".join(page(served=True)), content_type="text/html", charset="utf-8")

    async def overview(request: web.Request) -> web.Response:
        return _document(await asyncio.to_thread(library.overview))

    async def rows(request: web.Request) -> web.Response:
        return _document(await asyncio.to_thread(library.rows))

    async def head(request: web.Request) -> web.Response:
        place = int(request.match_info["place"])
        return _document(await asyncio.to_thread(library.head, place))

    async def chunk(request: web.Request) -> web.Response:
        place, number = (int(request.match_info[name]) for name in ("place", "number"))
        found = await asyncio.to_thread(library.chunk, place, number)
        if found is None:
            raise web.HTTPNotFound
        return _document(found)

    async def notes(request: web.Request) -> web.Response:
        return await _noted(library, request)

    app = web.Application(middlewares=[guarded], client_max_size=LARGEST_BODY)
    app.add_routes(
        [
            web.get("/", shown),
            web.get("/data/run", overview),
            web.get("/data/rows", rows),
            web.get(r"/data/{place:\d{1,9}}/head", head),
            web.get(r"/data/{place:\d{1,9}}/{number:\d{1,9}}", chunk),
            web.post("/notes", notes),
        ]
    )
    return app


async def _noted(library: Library, request: web.Request) -> web.Response:
    """Keep a change of notes."""
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType
    try:
        change = msgspec.json.decode(await request.read(), type=NoteChange)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"this is no note: {error}") from error
    episode = library.episode(change.key)
    if episode is None or episode.run is None:
        raise ConfigError("notes are kept beside runs; this episode lies in none")
    change_notes(episode.run, str(episode.row["name"]), change)
    return web.Response(status=204)


def _document(data: bytes) -> web.Response:
    return web.Response(body=data, content_type="application/octet-stream")


HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@web.middleware
async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer this machine's own page alone; a mistake is a line of text."""
    try:
        if not permitted(request):
            return _line(HTTPStatus.FORBIDDEN, "this server answers its own page on this machine only")
        answer = await handler(request)
    except web.HTTPException as error:
        answer = _line(HTTPStatus(error.status), error.reason)
    except BalrogError as error:
        answer = _line(HTTPStatus.NOT_FOUND, str(error))
    answer.headers.update({**HEADERS, "Content-Security-Policy": f"{policy(True)}; frame-ancestors 'none'"})
    return answer


def permitted(request: web.Request) -> bool:
    """Whether host and origin are the server's own: a page elsewhere, or a name bound to loopback, is not."""
    transport = request.transport
    port = transport.get_extra_info("sockname")[1] if transport is not None else 0
    hosts = {f"{name}:{port}" for name in NAMES}
    origin: Any = request.headers.get("Origin")
    own = origin is None or origin in {f"http://{host}" for host in hosts}
    return request.host in hosts and own and (origin is not None or request.method in ("GET", "HEAD"))


def _line(status: HTTPStatus, words: str) -> web.Response:
    return web.Response(status=status, text=words)
