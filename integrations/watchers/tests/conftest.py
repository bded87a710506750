"""Servers on loopback, and short runs that are watched."""

import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import wandb
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from balrog_rag.cli import knowledge

SHORT = (
    *("agent=robust_star_rag", "knowledge.index=bm25", "model=scripted", "env=corridor"),
    *("env.episodes=2", "limits.steps=3", "runner.log=none", "run.seed=5"),
)


@pytest.fixture(scope="session", autouse=True)
def index() -> None:
    """The index is built, so that no run prints lines about it."""
    assert knowledge.main(["index", "build", "knowledge.index=bm25"]) == 0


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Nothing leaves this machine, and no setting of the user's counts."""
    for name in os.environ:
        if name.startswith(("WANDB_", "MLFLOW_", "OTEL_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    monkeypatch.setenv("WANDB_CONFIG_DIR", str(tmp_path / "wandb-config"))
    monkeypatch.setenv("WANDB_CACHE_DIR", str(tmp_path / "wandb-cache"))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    yield
    wandb.teardown()  # W&B reads its variables once; the next test sets others


class Collector:
    """Receives spans as a collector does; answers with `status`."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.status = 200
        taken = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                assert self.path == "/v1/traces"
                if taken.status == 200:
                    taken.requests.append(ExportTraceServiceRequest.FromString(body))
                self.send_response(taken.status)
                self.end_headers()

            def log_message(self, *words: object) -> None:
                """Print nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.server.shutdown()
    made.server.server_close()


def free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


@pytest.fixture(scope="session")
def mlflow_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real server of MLflow with a database."""
    place, port = tmp_path_factory.mktemp("mlflow"), free_port()
    command = [
        sys.executable,
        "-m",
        "mlflow",
        "server",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--workers",
        "1",
    ]
    command += [
        "--backend-store-uri",
        f"sqlite:///{place}/mlflow.db",
        "--artifacts-destination",
        str(place / "files"),
    ]
    environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"}
    with (place / "log").open("wb") as log:
        server = subprocess.Popen(
            command,
            cwd=place,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
    address, until = f"http://127.0.0.1:{port}", time.monotonic() + 300
    try:
        while not answers(f"{address}/health"):
            assert server.poll() is None, (place / "log").read_text()
            assert time.monotonic() < until, (place / "log").read_text()
            time.sleep(0.2)
        yield address
    finally:
        os.killpg(server.pid, 15)
        server.wait(60)


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False
