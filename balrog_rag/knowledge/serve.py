"""`balrog-rag knowledge serve`: the search over HTTP on loopback, with an OpenAPI page."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cached_property
from http import HTTPStatus
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import msgspec
import numpy as np
from aiohttp import web

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import BalrogError, KnowledgeError
from balrog_rag.knowledge.openapi import SearchRequest, VectorRequest, openapi, page
from balrog_rag.knowledge.opening import open_searcher
from balrog_rag.knowledge.search import Searcher
from balrog_rag.util.open_files import raised_limit

LARGEST_BODY = 1 << 20
MOST_WAITING = 512
"""Maximum number of waiting searches; further requests are rejected at once and can be repeated."""
RETRY_AFTER = 1
BODY_SECONDS = 60
BACKLOG = 1024
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")

T = TypeVar("T")


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Service:
    """The service's operations."""

    def __init__(self, config: KnowledgeConfig) -> None:
        """Open the knowledge base."""
        self.config = config
        self.searcher: Searcher = open_searcher(config)

    def about(self) -> dict[str, Any]:
        """Describe what is served."""
        config = self.config
        return {
            "corpus": config.corpus,
            "entries": len(self.searcher.passages),
            "embedder": config.embedder,
            "dimensions": self.searcher.dimensions,
            "index": config.index,
            "reranker": config.reranker,
        }

    def check(self, asked: SearchRequest) -> None:
        """Refuse what cannot be searched."""
        if asked.rerank and self.config.reranker is None:
            raise Refused(
                HTTPStatus.BAD_REQUEST, "no reranker is configured; start with knowledge.reranker=..."
            )

    def search_all(self, queries: Sequence[str], k: int, rerank: bool) -> list[list[Passage]]:
        """Return the best passages for each text; equal texts are searched once."""
        different = list(dict.fromkeys(queries))
        found = dict(zip(different, self.searcher.search(different, k, rerank=rerank), strict=True))
        return [found[query] for query in queries]

    def query(self, asked: VectorRequest) -> list[Passage]:
        """Return the best passages for a vector."""
        if not self.searcher.dimensions:
            raise Refused(HTTPStatus.BAD_REQUEST, f"index {self.config.index} has no vectors")
        if asked.level is not None:
            raise Refused(HTTPStatus.BAD_REQUEST, "level: passages here have no levels; leave it out")
        vector = np.array(asked.vector, np.float32)
        if vector.shape != (self.searcher.dimensions,) or not np.isfinite(vector).all():
            reason = f"vector: expected {self.searcher.dimensions} finite numbers, got {vector.size}"
            raise Refused(HTTPStatus.BAD_REQUEST, reason)
        return self.searcher.near(vector, asked.top_n)

    def entry(self, name: str) -> Passage:
        """Return one passage by its id."""
        place = self._places.get(name)
        if place is None:
            raise Refused(HTTPStatus.NOT_FOUND, f"no entry {name}")
        return self.searcher.passages[place]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {passage.id: place for place, passage in enumerate(self.searcher.passages)}


class Queue:
    """Queues searches for the single thread that searches; those by text that wait are searched together."""

    def __init__(self, most: int, service: Service) -> None:
        self._most, self._waiting, self._service = most, 0, service
        self._worker = ThreadPoolExecutor(1, "balrog-rag-search")
        self._asked: SimpleQueue[tuple[SearchRequest, asyncio.Future[list[Passage]]]] = SimpleQueue()

    async def run(self, work: Callable[[], T]) -> T:
        """Run some work in its turn; it is skipped if the client has disconnected by then."""
        with self._admitted():
            return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    async def search(self, asked: SearchRequest) -> list[Passage]:
        """Search by text, together with what else waits when the thread is free."""
        self._service.check(asked)
        with self._admitted():
            loop = asyncio.get_running_loop()
            answer: asyncio.Future[list[Passage]] = loop.create_future()
            self._asked.put((asked, answer))
            loop.run_in_executor(self._worker, self._answer, loop)
            return await answer

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        if self._waiting >= self._most:
            raise Refused(
                HTTPStatus.SERVICE_UNAVAILABLE, f"{self._waiting} searches are waiting; ask again later"
            )
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    def _waiting_searches(self) -> Iterator[tuple[SearchRequest, "asyncio.Future[list[Passage]]"]]:
        with suppress(Empty):
            while True:
                yield self._asked.get_nowait()

    def _answer(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer everything that waits; the first of several calls finds it all, the others nothing."""
        batch = [(asked, answer) for asked, answer in self._waiting_searches() if not answer.cancelled()]
        for top_n, rerank in dict.fromkeys((asked.top_n, asked.rerank) for asked, _ in batch):
            part = [each for each in batch if (each[0].top_n, each[0].rerank) == (top_n, rerank)]
            try:
                found: Sequence[list[Passage] | Exception] = self._service.search_all(
                    [asked.query for asked, _ in part], top_n, rerank
                )
            except Exception as error:  # noqa: BLE001 - every client gets it as its own error
                found = [error] * len(part)
            for (_, answer), result in zip(part, found, strict=True):
                loop.call_soon_threadsafe(_settle, answer, result)


def _settle(answer: "asyncio.Future[list[Passage]]", result: "list[Passage] | Exception") -> None:
    if answer.done():  # the client has gone
        return
    if isinstance(result, Exception):
        answer.set_exception(result)
    else:
        answer.set_result(result)


def serve(config: KnowledgeConfig, host: str, port: int) -> int:
    """Serve until interrupted."""
    raised_limit()
    service = Service(config)

    async def run() -> None:
        try:
            runner, chosen = await listen(service, host, port)
        except OSError as error:
            raise KnowledgeError(
                f"cannot listen on {host}:{port}: {error.strerror}; choose another --port"
            ) from error
        print(f"serving {config.corpus} on http://{host}:{chosen}/docs", flush=True)
        try:
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    asyncio.run(run())
    return 0


async def listen(
    service: Service, host: str, port: int, waiting: int = MOST_WAITING
) -> tuple[web.AppRunner, int]:
    """Open the listening socket; return it and its port. Port 0 takes a free one."""
    app = application(service, host in _LOOPBACK, waiting)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True)  # queries may be private
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, backlog=BACKLOG).start()
    except OSError:
        await runner.cleanup()
        raise
    return runner, int(runner.addresses[0][1])


def application(service: Service, local: bool, waiting: int) -> web.Application:
    """Create the application with all routes."""
    queue = Queue(waiting, service)

    async def search(request: web.Request) -> web.Response:
        asked = await _body(request, SearchRequest)
        return _json({"results": await queue.search(asked)})

    async def query(request: web.Request) -> web.Response:
        asked = await _body(request, VectorRequest)
        return _json({"results": await queue.run(lambda: service.query(asked))})

    async def entry(request: web.Request) -> web.Response:
        return _json(service.entry(request.match_info["name"]))

    async def about(request: web.Request) -> web.Response:
        return _json(service.about())

    async def described(request: web.Request) -> web.Response:
        return _json(openapi())

    async def docs(request: web.Request) -> web.Response:
        return web.Response(text=page(), content_type="text/html", headers=_HEADERS)

    app = web.Application(middlewares=[_answered(local)], client_max_size=LARGEST_BODY)
    app.add_routes(
        [
            web.get("/", about),
            web.get("/openapi.json", described),
            web.get("/docs", docs),
            web.get("/docs/", docs),
            web.get("/entries/{name:.*}", entry),
            web.post("/search", search),
            web.post("/query", query),
        ]
    )
    return app


_HEADERS = {"X-Content-Type-Options": "nosniff"}


def _json(found: Any, status: HTTPStatus = HTTPStatus.OK, **headers: str) -> web.Response:
    body = msgspec.json.encode(found)
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(
        status=status, body=body, content_type="application/json", headers={**_HEADERS, **more}
    )


def _answered(local: bool) -> Any:
    """Return errors as JSON; reject web pages of other origins, which must not reach a loopback service."""

    @web.middleware
    async def answer(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.Response]]
    ) -> web.Response:
        try:
            if local and request.host.rsplit(":", 1)[0] not in _LOOPBACK:
                raise Refused(HTTPStatus.FORBIDDEN, "this service answers to loopback names only")
            return await handler(request)
        except Refused as error:
            full = error.status is HTTPStatus.SERVICE_UNAVAILABLE
            again = {"Retry_After": str(RETRY_AFTER)} if full else {}
            return _json({"error": str(error)}, error.status, **again)
        except web.HTTPNotFound:
            return _json({"error": f"no such path: {request.path}; see /docs"}, HTTPStatus.NOT_FOUND)
        except web.HTTPException as error:
            return _json({"error": error.reason}, HTTPStatus(error.status))
        except BalrogError as error:
            return _json({"error": str(error)}, HTTPStatus.INTERNAL_SERVER_ERROR)

    return answer


async def _body(request: web.Request, kind: type[T]) -> T:
    """Read and validate the request's body."""
    if request.content_type != "application/json":
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send JSON, with Content-Type: application/json")
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return msgspec.json.decode(await request.read(), type=kind)
    except TimeoutError as error:
        raise Refused(HTTPStatus.REQUEST_TIMEOUT, "the body did not come in time") from error
    except web.HTTPRequestEntityTooLarge as error:
        raise Refused(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has at most {LARGEST_BODY} bytes"
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refused(HTTPStatus.BAD_REQUEST, str(error)) from error
