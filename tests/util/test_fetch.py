"""Downloads from a real server on loopback: a complete file in place, or one error line and no file."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from balrog_rag.contracts.errors import BalrogError
from balrog_rag.knowledge.corpus import minihack_docs
from balrog_rag.util.fetch import download

FILE = b'{"wikipedia_title": "Newt", "text": ["A newt."]}' * 50_000


class Shelf(BaseHTTPRequestHandler):
    """Serves one file completely, and disconnects in the middle of another."""

    def do_GET(self) -> None:
        self.send_response(404 if self.path == "/nothing" else 200)
        self.send_header("content-length", str(len(FILE)))
        self.end_headers()
        try:
            self.wfile.write(FILE[:1000] if self.path == "/cut" else FILE)
        except OSError:
            """None: the client has disconnected."""

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Shelf) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_file_comes_whole_and_is_watched(url: str, tmp_path: Path) -> None:
    sizes: list[int | None] = []
    parts: list[int] = []

    @contextmanager
    def watch(size: int | None):
        sizes.append(size)
        yield parts.append

    download(f"{url}/file", tmp_path / "new" / "file", len(FILE), "do it by hand", watch)
    assert (tmp_path / "new" / "file").read_bytes() == FILE
    assert sizes == [sum(parts)] == [len(FILE)]
    assert len(parts) > 1


@pytest.mark.parametrize(
    ("path", "most", "said"),
    [
        ("/file", len(FILE) - 1, "larger than 2 MiB"),
        ("/nothing", len(FILE), "404"),
        ("/cut", len(FILE), "cannot be fetched"),
    ],
)
def test_what_does_not_come_is_one_line_and_the_old_file_stays(
    url: str, tmp_path: Path, path: str, most: int, said: str
) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(BalrogError, match=said) as refused:
        download(f"{url}{path}", tmp_path / "file", most, "do it by hand")
    assert str(refused.value).startswith(f"{url}{path}: ")
    assert str(refused.value).endswith("; do it by hand")
    assert "\n" not in str(refused.value)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"file": "old"}


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/file", "http://[/file", "gopher://here"])
def test_an_address_where_nobody_answers_is_one_line(tmp_path: Path, address: str) -> None:
    with pytest.raises(BalrogError, match="cannot be fetched"):
        download(address, tmp_path / "file", 10, "do it by hand")


def test_a_place_that_cannot_be_written_is_one_line(url: str, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(BalrogError, match=r"taken/file: cannot be written .*set BALROG_RAG_CACHE"):
        download(f"{url}/file", tmp_path / "taken" / "file", len(FILE), "do it by hand")


def test_minihacks_wiki_comes_into_the_cache(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path))
    assert minihack_docs.fetch(f"{url}/file") == tmp_path / "nethackwikidata.json"
    assert (tmp_path / "nethackwikidata.json").read_bytes() == FILE
    with pytest.raises(BalrogError, match="corpus import minihack FILE"):
        minihack_docs.fetch(f"{url}/nothing")
