"""Archives from a real server on loopback: interrupted, continued, damaged, replaced."""

import io
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread
from typing import ClassVar

import pytest

from balrog_rag.contracts.errors import DatasetError
from balrog_rag.dataset.fetching import ARCHIVES, SUMS, fetch, unpack
from tests.dataset.support import dataset

NAME = "nld-aa-taster"
CUT = 100_000


def archive(seed: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        # With a date of its own: otherwise two archives of one seed differ when the clock ticks between.
        file.writestr(zipfile.ZipInfo("nle_data/one"), Random(seed).randbytes(300_000))
    return made.getvalue()


class Shelf(BaseHTTPRequestHandler):
    """Serves one archive with ranges, and disconnects where it should."""

    body, tag, breaks = b"", "1", 0
    asked: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        shelf = type(self)
        wanted = self.headers.get("Range") if self.headers.get("If-Range") in (None, shelf.tag) else None
        shelf.asked.append(wanted)
        begin = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        self.send_response(206 if begin else 200)
        self.send_header("content-length", str(len(shelf.body) - begin))
        self.send_header("etag", shelf.tag)
        self.end_headers()
        end = begin + CUT if shelf.breaks else len(shelf.body)
        shelf.breaks = max(0, shelf.breaks - 1)
        self.wfile.write(shelf.body[begin:end])

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def site() -> Iterator[str]:
    Shelf.body, Shelf.tag, Shelf.breaks, Shelf.asked = archive(1), "1", 0, []
    with ThreadingHTTPServer(("127.0.0.1", 0), Shelf) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def bring(site: str, folder: Path) -> Path:
    return fetch(NAME, folder, lambda name, size: nullcontext(lambda count: None), site)[0]


def test_a_download_that_is_broken_off_goes_on_from_there(site, tmp_path):
    Shelf.breaks = 2
    for _ in range(2):
        with pytest.raises(DatasetError, match="run the same command to continue"):
            bring(site, tmp_path)
    path = bring(site, tmp_path)
    assert path.read_bytes() == Shelf.body
    assert Shelf.asked == [None, f"bytes={CUT}-", f"bytes={2 * CUT}-"]
    assert sorted(each.name for each in tmp_path.iterdir()) == [SUMS, path.name]


def test_another_file_at_that_address_is_fetched_from_its_beginning(site, tmp_path):
    Shelf.breaks = 1
    with pytest.raises(DatasetError):
        bring(site, tmp_path)
    Shelf.body, Shelf.tag = archive(2), "2"
    assert bring(site, tmp_path).read_bytes() == archive(2)


def test_a_damaged_archive_is_removed(site, tmp_path):
    middle = len(Shelf.body) // 2
    Shelf.body = Shelf.body[:middle] + b"x" + Shelf.body[middle + 1 :]
    with pytest.raises(DatasetError, match="came damaged"):
        bring(site, tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".tag"]


def test_checksums_that_are_there_are_held_against_it(site, tmp_path):
    path = bring(site, tmp_path)
    assert bring(site, tmp_path) == path
    assert len(Shelf.asked) == 1  # what is whole is not asked for again
    (tmp_path / SUMS).write_text(f"{'0' * 64}  {path.name}\n")
    with pytest.raises(DatasetError, match="SHA256SUMS says 0000"):
        bring(site, tmp_path)


def test_the_command_fetches_and_unpacks(site, tmp_path, capsys):
    assert dataset("download", NAME, "--to", tmp_path, "--site", site, "--unpack") == 0
    assert (tmp_path / "nle_data/one").stat().st_size == 300_000
    assert dataset("download") == 0
    assert "nld-nao          229 GB in 41 files" in capsys.readouterr().out
    assert len(ARCHIVES["nld-aa"].files) == 16
    with pytest.raises(DatasetError, match="cannot be unpacked"):
        unpack([tmp_path / SUMS], tmp_path)
