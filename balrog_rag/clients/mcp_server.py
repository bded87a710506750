"""The run's games as a server of the Model Context Protocol, over stdio or streamable HTTP on loopback."""

import asyncio
import secrets
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from balrog_rag import __version__
from balrog_rag.agents.client_calls import ClientTool
from balrog_rag.clients.client_run import ClientRun
from balrog_rag.clients.client_tools import INSTRUCTIONS, ClientCalls, ToolAnswer
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.run.run import RunOutcome
from balrog_rag.util.wording import many

HOST = "127.0.0.1"
PATH = "/mcp"
STDIO = "stdio"
"""The name of the one client of a server over stdio."""
LONGEST_NAME = 100
SHUTDOWN_SECONDS = 5


def server_of(clients: ClientRun) -> Server[Any]:
    """Return the server of a run."""
    calls = ClientCalls(clients)

    async def list_tools(
        context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        found = await calls.tools()
        return types.ListToolsResult(tools=[tool_of(each) for each in found])

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        answer = await calls.call(client_of(context), params.name, params.arguments or {})
        return result_of(answer)

    return Server(
        "balrog-rag",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def tool_of(tool: ClientTool) -> types.Tool:
    """Return a tool as the protocol has it."""
    return types.Tool(name=tool.name, description=tool.says, input_schema=dict(tool.schema))


def result_of(answer: ToolAnswer) -> types.CallToolResult:
    """Return an answer as the protocol has it: the text, and where the game stands as an object."""
    place = {"episode": answer.episode, "step": answer.step, "over": answer.over}
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text)],
        structured_content=None if answer.refused else place,
        is_error=answer.refused,
    )


def client_of(context: ServerRequestContext[Any]) -> str:
    """Return who calls: the name in the address, else the session; "" for a client that has neither."""
    request = context.request
    if not isinstance(request, Request):
        return STDIO
    name = request.query_params.get("client") or request.headers.get("mcp-session-id") or ""
    return name[:LONGEST_NAME]


async def over_stdio(clients: ClientRun) -> RunOutcome:
    """Serve one client on the standard streams until it disconnects."""
    server = server_of(clients)
    async with stdio_server() as (incoming, outgoing):
        play = asyncio.create_task(clients.play())
        options = server.create_initialization_options()
        serving = asyncio.create_task(server.run(incoming, outgoing, options))
        try:
            return await _until_over(clients, play, serving, "the client, which disconnected")
        finally:
            serving.cancel()
            await asyncio.wait([serving], timeout=SHUTDOWN_SECONDS)


async def over_http(clients: ClientRun, port: int, token: str) -> RunOutcome:
    """Serve clients on loopback until every game is over and the server is stopped."""
    token = token or secrets.token_urlsafe(24)
    app = server_of(clients).streamable_http_app(streamable_http_path=PATH, json_response=True)
    with _listening(port) as bound:
        server = _QuietServer(uvicorn.Config(WithToken(app, token), log_level="error", access_log=False))
        address = f"http://{HOST}:{bound.getsockname()[1]}{PATH}"
        print(f"serving {many(len(clients.exchanges), 'games')} on {address}", file=sys.stderr)
        print(f"clients send the header  Authorization: Bearer {token}", file=sys.stderr, flush=True)
        play = asyncio.create_task(clients.play())
        serving = asyncio.create_task(server.serve([bound]))
        try:
            return await _until_over(clients, play, serving, "the server")
        finally:
            server.should_exit = True
            await asyncio.wait([serving], timeout=SHUTDOWN_SECONDS)


async def _until_over(
    clients: ClientRun, play: asyncio.Task[RunOutcome], serving: asyncio.Task[Any], by: str
) -> RunOutcome:
    """Wait for the end of the run or of the service, whichever ends the other."""
    try:
        await asyncio.wait([play, serving], return_when=asyncio.FIRST_COMPLETED)
        if not play.done():
            clients.stop(signal.SIGTERM, by)
        elif play.exception() is None and play.result().tally.complete:
            await _disconnected(serving)  # clients still want to hear that the run is over
        return await play
    finally:
        play.cancel()
        await asyncio.wait([play])


async def _disconnected(serving: asyncio.Task[Any]) -> None:
    """Wait until the client disconnects, or a signal stops the server."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    waiting = asyncio.create_task(stopped.wait())
    try:
        await asyncio.wait([serving, waiting], return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


class WithToken:
    """Lets requests with the token through."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._wanted = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ToolAnswer a request without the token by 401."""
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not secrets.compare_digest(given, self._wanted):
                await _refuse(send)
                return
        await self._app(scope, receive, send)


async def _refuse(send: Send) -> None:
    body = b"this server needs the token that it printed: Authorization: Bearer TOKEN\n"
    headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class _QuietServer(uvicorn.Server):
    """Leaves signals to the run, whose first one keeps the games."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture nothing."""
        yield


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    bound = socket.socket()
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((HOST, port))
            bound.listen()  # before the address is printed
        except OSError as error:
            raise ConfigError(f"--port {port}: cannot listen ({error.strerror}); choose another") from error
        yield bound
    finally:
        bound.close()
