"""Servers on loopback: the games over HTTP, and a model server that returns tokens as vLLM does."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import uvicorn
from balrog_openenv.app import application
from openenv.core.harness.capture import CaptureServer

GOTO = "babyai/BabyAI-MixedTrainLocal-v0/goto"
NLE = "nle/NetHackChallenge-v0"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def game_server(at_once: int = 8) -> Iterator[str]:
    """The games, served as `python -m balrog_openenv.app` does."""
    port, started = free_port(), Event()

    class Server(uvicorn.Server):
        async def startup(self, *args: Any, **more: Any) -> None:
            await super().startup(*args, **more)
            started.set()

    server = Server(uvicorn.Config(application(at_once), host="127.0.0.1", port=port, log_level="warning"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    assert started.wait(120)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(60)


class TokenServer:
    """A chat completions server whose tokens are bytes; it can hide them, or fail from some call on."""

    def __init__(self, answer: str = "go forward", tokens: bool = True, fails_from: int = 1_000_000) -> None:
        self.answer, self.tokens, self.fails_from, self.calls = answer, tokens, fails_from, 0

    def __enter__(self) -> str:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.send({"object": "list", "data": [{"id": "policy", "object": "model"}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.calls += 1
                if outer.calls >= outer.fails_from:
                    self.send({"error": {"message": "gone"}}, 500)
                else:
                    self.send(outer.completion(body["messages"]))

            def send(self, found: Any, status: int = 200) -> None:
                data = json.dumps(found).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def completion(self, messages: list[dict[str, str]]) -> dict[str, Any]:
        """An answer; the next prompt begins with this prompt and this answer."""
        prompt = list(("".join(f"{each['role'][0]}{each['content']}\n" for each in messages) + "a").encode())
        sampled = list(f"{self.answer}\n".encode())
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": self.answer},
        }
        found: dict[str, Any] = {"id": "x", "object": "chat.completion", "created": 0, "model": "policy"}
        if self.tokens:
            found["prompt_token_ids"] = prompt
            choice["token_ids"] = sampled
            choice["logprobs"] = {
                "content": [
                    {"token": f"token_id:{token}", "logprob": -0.5, "bytes": None, "top_logprobs": []}
                    for token in sampled
                ]
            }
        usage = {"prompt_tokens": len(prompt), "completion_tokens": len(sampled), "total_tokens": 0}
        return {**found, "choices": [choice], "usage": usage}


@contextmanager
def capturing(url: str, level: str = "tokens") -> Iterator[CaptureServer]:
    """OpenEnv's proxy in front of a model server."""
    capture = CaptureServer(llm_url=url, model="policy", port=free_port(), capture_level=level)
    capture.start(timeout_s=120)
    yield capture
    capture.stop()
