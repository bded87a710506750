"""`python -m balrog_rag.knowledge serve`: the search over HTTP on loopback, with an OpenAPI page."""

import threading
from collections.abc import Callable
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
import numpy as np

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import BalrogError, KnowledgeError
from balrog_rag.knowledge.openapi import SearchRequest, VectorRequest, openapi, page
from balrog_rag.knowledge.opening import open_searcher
from balrog_rag.knowledge.search import Searcher

LARGEST_BODY = 1 << 20
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Service:
    """What can be asked; one search at a time."""

    def __init__(self, config: KnowledgeConfig) -> None:
        """Open the knowledge base."""
        self.config = config
        self.searcher: Searcher = open_searcher(config)
        self._lock = threading.Lock()

    def about(self) -> dict[str, Any]:
        """What is served."""
        config = self.config
        return {
            "corpus": config.corpus,
            "entries": len(self.searcher.passages),
            "embedder": config.embedder,
            "dimensions": self.searcher.dimensions,
            "index": config.index,
            "reranker": config.reranker,
        }

    def search(self, asked: SearchRequest) -> list[Passage]:
        """The best passages for a text."""
        if asked.rerank and self.config.reranker is None:
            raise Refused(
                HTTPStatus.BAD_REQUEST, "no reranker is configured; start with knowledge.reranker=..."
            )
        with self._lock:
            return self.searcher.search([asked.query], asked.top_n, rerank=asked.rerank)[0]

    def query(self, asked: VectorRequest) -> list[Passage]:
        """The best passages for a vector."""
        if not self.searcher.dimensions:
            raise Refused(HTTPStatus.BAD_REQUEST, f"index {self.config.index} has no vectors")
        vector = np.array(asked.vector, np.float32)
        if vector.shape != (self.searcher.dimensions,) or not np.isfinite(vector).all():
            reason = f"vector: {self.searcher.dimensions} finite numbers are expected, {vector.size} came"
            raise Refused(HTTPStatus.BAD_REQUEST, reason)
        with self._lock:
            return self.searcher.near(vector, asked.top_n)

    def entry(self, name: str) -> Passage:
        """One passage by its id."""
        place = self._places.get(name)
        if place is None:
            raise Refused(HTTPStatus.NOT_FOUND, f"no entry {name}")
        return self.searcher.passages[place]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {passage.id: place for place, passage in enumerate(self.searcher.passages)}


def serve(config: KnowledgeConfig, host: str, port: int) -> int:
    """Serve until interrupted."""
    service = Service(config)
    try:
        server = make_server(service, host, port)
    except OSError as error:
        raise KnowledgeError(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another --port"
        ) from error
    print(f"serving {config.corpus} on http://{host}:{server.server_address[1]}/docs", flush=True)
    with server:
        server.serve_forever()
    return 0


def make_server(service: Service, host: str, port: int) -> ThreadingHTTPServer:
    """The server, listening; port 0 takes a free one."""
    handler = type("Handler", (_Handler,), {"service": service, "local": host in _LOOPBACK})
    return ThreadingHTTPServer((host, port), handler)


class _Handler(BaseHTTPRequestHandler):
    service: Service
    local: bool
    protocol_version = "HTTP/1.1"
    server_version = "balrog_rag"
    timeout = 60

    def do_GET(self) -> None:
        """About, one entry, or the description of all this."""
        path = unquote(urlsplit(self.path).path)
        if path in ("/docs", "/docs/"):
            self._send(HTTPStatus.OK, page().encode(), "text/html; charset=utf-8")
        elif path.startswith("/entries/"):
            self._answer(lambda: self.service.entry(path.removeprefix("/entries/")))
        elif path in ("/", "/openapi.json"):
            self._answer(self.service.about if path == "/" else openapi)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, f"no such path: {path}; see /docs")

    def do_POST(self) -> None:
        """A search."""
        path = urlsplit(self.path).path
        if path == "/search":
            self._answer(lambda: {"results": self.service.search(self._body(SearchRequest))})
        elif path == "/query":
            self._answer(lambda: {"results": self.service.query(self._body(VectorRequest))})
        else:
            self._refuse(HTTPStatus.NOT_FOUND, f"no such path: {path}; see /docs")

    def _answer(self, ask: Callable[[], Any]) -> None:
        try:
            self._check_origin()
            found = ask()
        except Refused as error:
            self._refuse(error.status, str(error))
        except BalrogError as error:
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        else:
            self._send(HTTPStatus.OK, msgspec.json.encode(found), "application/json")

    def _check_origin(self) -> None:
        """A web page elsewhere must not reach a service on loopback by giving its own name to it."""
        name = self.headers.get("Host", "").rsplit(":", 1)[0]
        if self.local and name not in _LOOPBACK:
            raise Refused(HTTPStatus.FORBIDDEN, "this service answers to loopback names only")

    def _body(self, kind: Any) -> Any:
        if self.headers.get_content_type() != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send JSON, with Content-Type: application/json")
        length = self.headers.get("Content-Length", "")
        if not length.isdigit():
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "say the body's Content-Length")
        if int(length) > LARGEST_BODY:
            self.close_connection = True
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has at most {LARGEST_BODY} bytes")
        try:
            return msgspec.json.decode(self.rfile.read(int(length)), type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refused(HTTPStatus.BAD_REQUEST, str(error)) from error

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        if self.command == "POST":
            self.close_connection = True  # the body may not have been read
        self._send(status, msgspec.json.encode({"error": reason}), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing: what is asked may be private."""
