"""Serve the page on loopback, only to browsers that know its token, and only files of the runs."""

import asyncio
import errno
import math
import re
import secrets
import sys
import webbrowser
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.util import scratch
from balrog_rag.util.wording import many
from balrog_rag.viewer.episode_library import Library
from balrog_rag.viewer.html_page import page, policy
from balrog_rag.viewer.notes import NoteChange, change_notes
from balrog_rag.viewer.slow_work import in_slow_thread, yield_process

T = TypeVar("T")

HOST = "127.0.0.1"
LARGEST_BODY = 1 << 16
NAMES = (HOST, "localhost")
"""Host names under which a browser on this machine may address the server."""
TOKEN_BYTES = 24
WITHOUT_TOKEN = "open the full address that `balrog-rag view` printed, including the token"
STEPS = re.compile(r"[0-9]{1,9}")
BACKLOG = 16
"""Backlog of connections waiting to be accepted."""
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
EXHAUSTED_WORDS = "cannot accept connections ({}); close some pages, or raise the limit with `ulimit -n`"
SAID_EVERY = 60.0
"""Seconds between two such messages."""


def serve(
    paths: Sequence[Path],
    port: int,
    browser: bool,
    open_to_all: bool = False,
    mark: str = "",
    tiles: bool = False,
) -> int:
    """Serve until interrupted; slow work has low priority."""
    yield_process()
    library = Library(paths, mark=mark, tiles=tiles)
    token = "" if open_to_all else secrets.token_urlsafe(TOKEN_BYTES)

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(LoopErrors())
        try:
            runner, chosen = await listen(library, port, token)
        except OSError as error:
            raise ConfigError(f"--port {port}: cannot listen ({error.strerror}); choose another") from error
        address = f"http://{HOST}:{chosen}/{token and token + '/'}"
        print(f"serving {many(len(library.episodes), 'episodes')} on {address} (Ctrl-C: stop)", flush=True)
        if browser:
            await asyncio.to_thread(open_browser, address, token)
        try:
            await asyncio.Event().wait()
        finally:
            library.close()
            await runner.cleanup()

    asyncio.run(run())
    return 0


def open_browser(address: str, token: str) -> None:
    """Open the page through a file that only this user can read.

    Every account on the machine can read a browser's command line, so it must not contain the token.
    """
    if token:
        file = Path(scratch.folder(), "viewer.html")
        file.write_text(f'<meta http-equiv="refresh" content="0;url={address}">')
        address = file.as_uri()
    webbrowser.open(address)


async def listen(library: Library, port: int, token: str) -> tuple[web.AppRunner, int]:
    """Start the server and return it with its port; port 0 selects a free one."""
    runner = web.AppRunner(application(library, token), access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port, backlog=BACKLOG).start()
    except OSError:
        await runner.cleanup()
        raise
    return runner, int(runner.addresses[0][1])


def application(library: Library, token: str) -> web.Application:
    """Create the application with all routes below the token: page, documents by number, notes."""

    whole = b"".join(page(served=True))  # read now: later there may be no file descriptor left

    async def shown(request: web.Request) -> web.Response:
        return web.Response(body=whole, content_type="text/html", charset="utf-8")

    async def overview(request: web.Request) -> web.Response:
        return _document(await in_slow_thread(library.overview))

    async def rows(request: web.Request) -> web.Response:
        return _document(await in_slow_thread(library.rows))

    async def traces(request: web.Request) -> web.Response:
        return _document(await in_slow_thread(library.traces))

    async def head(request: web.Request) -> web.Response:
        place, steps = int(request.match_info["place"]), request.query.get("steps", "")
        return _document(await library.head(place, int(steps) if STEPS.fullmatch(steps) else None))

    async def chunk(request: web.Request) -> web.Response:
        place, number = (int(request.match_info[name]) for name in ("place", "number"))
        found = await library.chunk(place, number)
        if found is None:
            raise web.HTTPNotFound
        return _document(found)

    async def notes(request: web.Request) -> web.Response:
        return await _noted(library, request)

    app = web.Application(middlewares=[guard(token)], client_max_size=LARGEST_BODY)
    under = f"/{token}" if token else ""
    app.add_routes(
        [
            web.get(f"{under}/", shown),
            web.get(f"{under}/data/run", overview),
            web.get(f"{under}/data/rows", rows),
            web.get(f"{under}/data/traces", traces),
            web.get(under + r"/data/{place:\d{1,9}}/head", head),
            web.get(under + r"/data/{place:\d{1,9}}/{number:\d{1,9}}", chunk),
            web.post(f"{under}/notes", notes),
        ]
    )
    return app


async def posted(request: web.Request, kind: type[T], what: str) -> T:
    """Return the JSON that a request brings, validated."""
    # Only JSON: a form of another site can be posted without asking, JSON cannot.
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType
    try:
        return msgspec.json.decode(await request.read(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"not a {what}: {error}") from error


async def _noted(library: Library, request: web.Request) -> web.Response:
    """Store a change of notes."""
    change = await posted(request, NoteChange, "note")
    episode = library.episode(change.key)
    if episode is None or episode.run is None:
        raise ConfigError("notes are stored beside runs; this episode does not belong to a run")
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


def guard(token: str, allowed: str | None = None) -> Middleware:
    """Middleware that answers only this machine's own page and turns errors into a line of text.

    `allowed` is the page's content security policy; None: that of the viewer.
    """

    headers = HEADERS | {"Content-Security-Policy": f"{allowed or policy(True)}; frame-ancestors 'none'"}

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        answer: web.StreamResponse
        try:
            if not permitted(request):
                answer = _line(HTTPStatus.FORBIDDEN, "this server only answers its own page on this machine")
            elif not knows(request, token):
                answer = _line(HTTPStatus.FORBIDDEN, WITHOUT_TOKEN)
            else:
                answer = await handler(request)
        except web.HTTPException as error:
            answer = _line(HTTPStatus(error.status), error.reason)
        except BalrogError as error:
            answer = _line(HTTPStatus.NOT_FOUND, str(error))
        except OSError as error:  # e.g. too many open files; a retry may succeed
            answer = _line(HTTPStatus.SERVICE_UNAVAILABLE, f"cannot be read now ({error.strerror})")
        answer.headers.update(headers)
        return answer

    return guarded


def permitted(request: web.Request) -> bool:
    """Whether host and origin are the server's own; other sites and names bound to loopback are refused."""
    transport = request.transport
    port = transport.get_extra_info("sockname")[1] if transport is not None else 0
    hosts = {f"{name}:{port}" for name in NAMES}
    origin: Any = request.headers.get("Origin")
    own = origin is None or origin in {f"http://{host}" for host in hosts}
    return request.host in hosts and own and (origin is not None or request.method in ("GET", "HEAD"))


def knows(request: web.Request, token: str) -> bool:
    """Whether the path starts with the token, which other accounts on this machine do not know."""
    first = request.path.split("/", 2)[1] if token else ""
    return secrets.compare_digest(first.encode("utf-8", "surrogatepass"), token.encode())


class LoopErrors:
    """Reports errors of the event loop, such as running out of descriptors, in one line."""

    def __init__(self) -> None:
        self._said = -math.inf

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle an error of the loop, which would otherwise print a traceback for each failed accept."""
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in EXHAUSTED):
            loop.default_exception_handler(context)
        elif loop.time() - self._said > SAID_EVERY:
            self._said = loop.time()
            print(f"note: {EXHAUSTED_WORDS.format(error.strerror)}", file=sys.stderr, flush=True)


def _line(status: HTTPStatus, words: str) -> web.Response:
    return web.Response(status=status, text=words)
