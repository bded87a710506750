"""The rollout service over HTTP: routes, the token, server-sent events.

POST /rollouts                start one (count=N: N of the same seed); ?wait=true answers with the result
GET /rollouts/ID              its state, with the result once there is one
GET /rollouts/ID/events       progress as server-sent events; the last one is `result`
DELETE /rollouts/ID           cancel it
GET /health, /metrics         whether it works; counters for Prometheus
"""

import asyncio
import hmac
import signal
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from balrog_rag import __version__
from balrog_rag.contracts.errors import BalrogError, ConfigError, RunFolderError
from balrog_rag.rollouts.rollout_request import RolloutRequest, read_request
from balrog_rag.rollouts.rollout_service import (
    IdTaken,
    RolloutService,
    RunningRollout,
    ServiceFull,
    UnknownRollout,
)
from balrog_rag.util.open_files import raised_limit
from balrog_rag.util.secrets import redact

LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
LARGEST_REQUEST = 1 << 20
MOST_IN_GROUP = 1024
REQUEST_SECONDS = 60
KEEP_ALIVE_SECONDS = 15
"""Seconds after which an event stream without events sends a comment, so that proxies keep it open."""
RETRY_SECONDS = "1"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(service: RolloutService, token: str = "") -> web.Application:
    """Return the application; with a token, every request must have it."""

    async def start(request: web.Request) -> web.StreamResponse:
        given = await _body(request)
        jobs = start_all(service, given)
        if request.query.get("wait") == "true":
            return _json([await job.done() for job in jobs] if "count" in given else await jobs[0].done())
        if "text/event-stream" in request.headers.get("accept", "") and len(jobs) == 1:
            return await _stream(request, jobs[0])
        states = [job.about() for job in jobs]
        return _json(states if "count" in given else states[0], HTTPStatus.ACCEPTED)

    async def state(request: web.Request) -> web.StreamResponse:
        return _json(service.find(request.match_info["id"]).about())

    async def events(request: web.Request) -> web.StreamResponse:
        job = service.find(request.match_info["id"])
        if job.status == "interrupted":
            raise UnknownRollout(f"id {job.request.id}: interrupted; send its request again to continue it")
        return await _stream(request, job)

    async def cancel(request: web.Request) -> web.StreamResponse:
        job = service.cancel(request.match_info["id"])
        if job.task is not None:
            await asyncio.wait([job.task])
        return _json(job.about())

    async def health(request: web.Request) -> web.StreamResponse:
        waiting = service.unresumed
        return _json(
            {
                "status": "ok",
                "version": __version__,
                "running": service.running,
                "need_their_key": len(waiting),
            }
        )

    async def metrics(request: web.Request) -> web.StreamResponse:
        return web.Response(text=metrics_text(service), content_type="text/plain")

    app = web.Application(middlewares=[_answered(token)], client_max_size=LARGEST_REQUEST)
    app.add_routes(
        [
            web.post("/rollouts", start),
            web.get("/rollouts/{id}", state),
            web.get("/rollouts/{id}/events", events),
            web.delete("/rollouts/{id}", cancel),
            web.get("/health", health),
            web.get("/metrics", metrics),
        ]
    )
    return app


def start_all(service: RolloutService, given: dict[str, Any]) -> list[RunningRollout]:
    """Start the rollouts that a body describes: one, or a group that plays one game."""
    fields = {name: value for name, value in given.items() if name != "count"}
    request = read_request(fields)
    if "count" not in given:
        return [service.start(request)]
    count = given["count"]
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST_IN_GROUP:
        raise ConfigError(f"count: expected an integer from 1 to {MOST_IN_GROUP}")
    group = request.named().id
    return [service.start(_member(request, group, place)) for place in range(count)]


def _member(request: RolloutRequest, group: str, place: int) -> RolloutRequest:
    return msgspec.structs.replace(request, id=f"{group}-{place}")


def metrics_text(service: RolloutService) -> str:
    """Return the counters in Prometheus' text format."""
    lines = ["# TYPE balrog_rollouts_total counter"]
    for state in ("started", "finished", "failed"):
        lines.append(f'balrog_rollouts_total{{state="{state}"}} {service.counts[state]}')
    lines += ["# TYPE balrog_rollouts_running gauge", f"balrog_rollouts_running {service.running}"]
    lines.append("# TYPE balrog_tokens_total counter")
    lines += [f'balrog_tokens_total{{purpose="{name}"}} {n}' for name, n in sorted(service.tokens.items())]
    return "\n".join(lines) + "\n"


async def _stream(request: web.Request, job: RunningRollout) -> web.StreamResponse:
    headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    events = job.progress()
    coming: asyncio.Task[Any] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(events, None))
            done, _ = await asyncio.wait([coming], timeout=KEEP_ALIVE_SECONDS)
            if not done:
                await response.write(b": waiting\n\n")
                continue
            event, coming = coming.result(), None
            if event is None:
                break
            data = msgspec.json.encode(event.data).decode()
            await response.write(f"event: {event.name}\ndata: {data}\n\n".encode())
    finally:
        if coming is not None:
            coming.cancel()
            await asyncio.wait([coming])
        await events.aclose()  # type: ignore[attr-defined]
    await response.write_eof()
    return response


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        async with asyncio.timeout(REQUEST_SECONDS):
            given = msgspec.json.decode(await request.read())
    except TimeoutError as error:
        raise ConfigError("the body did not arrive in time") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"the body is not JSON ({error})") from error
    if not isinstance(given, dict):
        raise ConfigError("the body must be a JSON object")
    return given


def _json(found: Any, status: HTTPStatus = HTTPStatus.OK, **headers: str) -> web.Response:
    return web.Response(
        status=status, body=msgspec.json.encode(found), content_type="application/json", headers=headers
    )


STATUS: dict[type[Exception], HTTPStatus] = {
    ConfigError: HTTPStatus.BAD_REQUEST,
    UnknownRollout: HTTPStatus.NOT_FOUND,
    IdTaken: HTTPStatus.CONFLICT,
    ServiceFull: HTTPStatus.SERVICE_UNAVAILABLE,
}


def _answered(token: str) -> Any:
    """Check who asks, and answer every error as JSON."""

    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            if why := _not_allowed(request, token):
                return _json({"error": why}, HTTPStatus.UNAUTHORIZED if token else HTTPStatus.FORBIDDEN)
            return await handler(request)
        except tuple(STATUS) as error:
            status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
            again = {"Retry-After": RETRY_SECONDS} if status is HTTPStatus.SERVICE_UNAVAILABLE else {}
            return _json({"error": redact(str(error))}, status, **again)
        except BalrogError as error:
            return _json({"error": redact(str(error))}, HTTPStatus.INTERNAL_SERVER_ERROR)
        except web.HTTPException as error:
            return _json({"error": error.reason}, HTTPStatus(error.status))

    return answer


def _not_allowed(request: web.Request, token: str) -> str:
    """Return why a request is refused; a web page elsewhere must not reach a service on loopback."""
    if token:
        sent = request.headers.get("authorization", "").encode()
        right = hmac.compare_digest(sent, f"Bearer {token}".encode())
        return "" if right else "the token is missing or wrong; send Authorization: Bearer TOKEN"
    host = request.host.rsplit(":", 1)[0] if not request.host.endswith("]") else request.host
    if host not in LOOPBACK or "origin" in request.headers:
        return "this service answers programs on this machine only"
    return ""


async def listen(service: RolloutService, host: str, port: int, token: str = "") -> tuple[web.AppRunner, int]:
    """Begin to listen; return the server and its port."""
    if host not in LOOPBACK and not token:
        raise ConfigError(f"--host {host}: needs a token; set BALROG_RAG_TOKEN in the environment")
    runner = web.AppRunner(application(service, token), access_log=None, handler_cancellation=True)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, backlog=1024).start()
    except OSError as error:
        await runner.cleanup()
        raise RunFolderError(
            f"cannot listen on {host}:{port} ({error.strerror}); choose another --port"
        ) from error
    return runner, int(runner.addresses[0][1])


async def serve(
    folder: Path, host: str, port: int, token: str, workers: int | None, at_once: int, keys: Sequence[str]
) -> int:
    """Serve until a signal stops it."""
    raised_limit()
    service = RolloutService(folder, workers, at_once, keys)
    runner = None
    try:
        runner, chosen = await listen(service, host, port, token)
        resumed = service.resume()
        again = f", {resumed} resumed" if resumed else ""
        waiting = f", {len(service.unresumed)} wait for their key" if service.unresumed else ""
        print(f"serving rollouts on http://{host}:{chosen}{again}{waiting}; journals in {folder}", flush=True)
        await _signal()
    finally:
        if runner is not None:
            await runner.cleanup()
        await service.close()
    return 0


async def _signal() -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await stop.wait()
