"""A person in a browser on this machine: one page, behind the guard of the viewer's server."""

import asyncio
import secrets
import signal
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import msgspec
from aiohttp import web

from balrog_rag.clients.client_run import ClientRun
from balrog_rag.clients.client_tools import ClientCalls
from balrog_rag.clients.exchange import ClientExchange, ClientGone
from balrog_rag.clients.terminal_player import HELP, LEAVE, PERSON, call_of
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.run.run import RunOutcome
from balrog_rag.viewer.server import HOST, TOKEN_BYTES, guard, open_browser, posted

LARGEST_LINE = 1 << 16


class TypedLine(msgspec.Struct):
    """What the page sends."""

    line: str


class BrowserPlayer:
    """Plays a run's games with a person; the page shows its state."""

    def __init__(self, clients: ClientRun) -> None:
        self._clients = clients
        self._game: ClientExchange | None = None
        self._text = ""
        self._paused = False
        self._order = asyncio.Lock()
        self.left = asyncio.Event()

    async def state(self) -> dict[str, Any]:
        """Return what the page shows."""
        async with self._order:
            if self._game is None:
                await self._begin()
            return self._shown()

    async def take(self, line: str) -> dict[str, Any]:
        """Carry out a line, and return what the page shows then."""
        async with self._order:
            game = self._game
            if game is None:
                await self._begin()
            elif not self._by_itself(game, line.strip()):
                call = call_of(line)
                self._text = HELP if call is None else await game.call(call)
                if game.over:
                    await self._begin(f"{self._text}\n\n")
            return self._shown()

    def _by_itself(self, game: ClientExchange, line: str) -> bool:
        """Whether a line needs no answer of the game: it pauses or leaves."""
        was_paused, self._paused = self._paused, line == "/pause" and not self._paused
        if self._paused:
            game.pause()
        else:
            game.resume()
        if line == "/leave":
            self._text, self._game = LEAVE, None
            self.left.set()
        return line == "/leave" or self._paused or (was_paused and line == "/pause")

    async def _begin(self, before: str = "") -> None:
        self._game = None if self.left.is_set() else self._clients.next_game(PERSON)
        if self._game is not None:
            self._text = before + await self._game.question()
        elif not self.left.is_set():
            self._text = before + ClientCalls(self._clients).scores()

    def _shown(self) -> dict[str, Any]:
        game = self._game
        place: dict[str, Any] = {"rules": ""}
        if game is not None:
            place = {"episode": game.episode, "step": game.step, "rules": game.instruction}
        return {**place, "text": self._text, "over": game is None, "paused": self._paused}


@cache
def asset(name: str) -> str:
    """Read a file of the page."""
    return files("balrog_rag.clients").joinpath("assets", name).read_text("utf-8")


def policy() -> str:
    """The Content-Security-Policy: the page's own script, style and server."""
    digests = (sha256(asset(name).encode()).digest() for name in ("play.js", "play.css"))
    script, style = (b64encode(digest).decode() for digest in digests)
    return (
        f"default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'"
    )


def page() -> str:
    """Return the page."""
    return asset("play.html").replace("{{style}}", asset("play.css")).replace("{{script}}", asset("play.js"))


def play_application(player: BrowserPlayer, token: str) -> web.Application:
    """Create the application with all routes below the token."""

    async def shown(request: web.Request) -> web.Response:
        return web.Response(text=page(), content_type="text/html")

    async def state(request: web.Request) -> web.Response:
        return await _answered(player.state())

    async def line(request: web.Request) -> web.Response:
        typed = await posted(request, TypedLine, "line")
        return await _answered(player.take(typed.line))

    app = web.Application(middlewares=[guard(token, policy())], client_max_size=LARGEST_LINE)
    app.add_routes(
        [
            web.get(f"/{token}/", shown),
            web.get(f"/{token}/state", state),
            web.post(f"/{token}/line", line),
        ]
    )
    return app


async def _answered(shown: Any) -> web.Response:
    try:
        return web.json_response(await shown)
    except ClientGone as gone:
        raise ConfigError(str(gone)) from gone


async def in_the_browser(clients: ClientRun, port: int, opened: bool) -> RunOutcome:
    """Let a person play the run in a browser, until the run is over and the page is left, or Ctrl-C."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    play = asyncio.create_task(clients.play())
    player = BrowserPlayer(clients)
    runner = web.AppRunner(play_application(player, token), access_log=None, shutdown_timeout=1)
    await runner.setup()
    leaving = asyncio.create_task(player.left.wait())
    try:
        await web.TCPSite(runner, HOST, port).start()
        address = f"http://{HOST}:{runner.addresses[0][1]}/{token}/"
        print(f"playing on {address} (Ctrl-C: leave; the game is kept)", flush=True)
        if opened:
            await asyncio.to_thread(open_browser, address, token)
        await asyncio.wait([play, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not play.done():
            clients.stop(signal.SIGINT, "the page")
        return await play
    except OSError as error:
        raise ConfigError(f"--port {port}: cannot listen ({error.strerror}); choose another") from error
    finally:
        await asyncio.sleep(0.2)  # for the page's last answer
        for task in (play, leaving):
            task.cancel()
        await asyncio.gather(play, leaving, return_exceptions=True)
        await runner.cleanup()
