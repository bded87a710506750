import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from balrog_rag.cli.envs import main
from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.contracts.kinds import check_game
from balrog_rag.envs.minihack import boxoban
from tests.envs.support import minihack, play

LEVEL = """; {number}
##########
#@       #
#  $ $   #
#  $ $   #
#        #
#  . .   #
#  . .   #
#        #
#        #
##########

"""


def archive(**extra):
    """A zip like the one in which the levels are published."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        levels = "".join(LEVEL.format(number=number) for number in range(3))
        for name in ("hard/001.txt", "hard/000.txt", "medium/train/000.txt", "unfiltered/train/000.txt"):
            made.writestr(f"boxoban-levels-master/{name}", levels)
        made.writestr("boxoban-levels-master/README.md", "words")
        for name, text in extra.items():
            made.writestr(name, text)
    return buffer.getvalue()


def encrypted(data):
    """The same with every file marked as encrypted."""
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        parts = data.split(signature)
        marked = [part[: flags - 4] + b"\x01" + part[flags - 3 :] for part in parts[1:]]
        data = signature.join([parts[0], *marked])
    return data


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def server():
    """Serves the files in `content`, by path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = running.content.get(self.path)
            self.send_response(200 if body else 404)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.content = {}
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def url(server, path="/levels.zip"):
    return f"http://127.0.0.1:{server.server_address[1]}{path}"


def test_without_levels_one_line_says_what_to_run():
    with pytest.raises(ConfigError) as caught:
        check_game(minihack("Boxoban-Hard"))
    assert str(caught.value).endswith("run: balrog-rag envs fetch boxoban")


def test_fetched_levels_are_found_and_played(server, cache):
    server.content["/levels.zip"] = archive()
    assert main(["fetch", "boxoban", "--from", url(server)]) == 0
    files = sorted(str(path.relative_to(cache / "boxoban")) for path in (cache / "boxoban").rglob("*.txt"))
    assert files == ["hard/000.txt", "hard/001.txt", "medium/train/000.txt", "unfiltered/train/000.txt"]
    for task in ("Boxoban-Hard", "Boxoban-Medium", "Boxoban-Unfiltered"):
        check_game(minihack(task))
        first, second = (play(minihack(task), ["east", "south"] * 5) for _ in range(2))
        assert [seen.observation.digest for seen in first] == [seen.observation.digest for seen in second]
        assert "boulder" in first[0].observation.text("language observation")
        assert "fountain" in first[0].observation.text("language observation")


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_levels_can_come_from_disk(kind, tmp_path):
    source = tmp_path / "levels.zip"
    source.write_bytes(archive())
    if kind == "folder":
        zipfile.ZipFile(source).extractall(tmp_path / "levels")
        source = tmp_path / "levels"
    boxoban.fetch(str(source))
    assert boxoban.require_levels("MiniHack-Boxoban-Hard-v0") == boxoban.levels_folder()


def test_fetching_again_replaces_what_was_there(tmp_path):
    source = tmp_path / "levels.zip"
    source.write_bytes(archive())
    boxoban.fetch(str(source))
    stale = boxoban.levels_folder() / "hard" / "stale.txt"
    stale.write_text("old")
    boxoban.fetch(str(source))
    assert not stale.exists()


def test_an_archive_writes_nowhere_else(tmp_path):
    source = tmp_path / "evil.zip"
    evil = {
        "../../hard/escaped.txt": "x",
        "/hard/rooted.txt": "x",
        "x/hard/..\\..\\back.txt": "x",
        "x/hard/../../up.txt": "x",
    }
    source.write_bytes(archive(**evil))
    before = {path for path in tmp_path.rglob("*") if "cache" not in path.parts}
    folder = boxoban.fetch(str(source))
    assert {path for path in tmp_path.rglob("*") if "cache" not in path.parts} == before
    assert {path.parent.name for path in folder.rglob("*.txt")} == {"hard", "train"}


def test_an_archive_that_is_too_big_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(boxoban, "_MOST_BYTES", 1000)
    source = tmp_path / "levels.zip"
    source.write_bytes(archive(**{"x/hard/big.txt": "#" * 5000}))
    with pytest.raises(BalrogError, match="these cannot be the Boxoban levels"):
        boxoban.fetch(str(source))
    assert not boxoban.levels_folder().exists()


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("nowhere.zip", "nowhere.zip: no such file"),
        ("broken", "not a zip file that can be read"),
        ("encrypted", "not a zip file that can be read"),
        ("empty", "contains no Boxoban levels"),
    ],
)
def test_a_bad_source_is_one_line(source, line, tmp_path, capsys):
    if source == "broken":
        source = tmp_path / "broken.zip"
        source.write_text("not a zip")
    elif source == "encrypted":
        source = tmp_path / "encrypted.zip"
        source.write_bytes(encrypted(archive()))
    elif source == "empty":
        source = tmp_path / "empty.zip"
        zipfile.ZipFile(source, "w").close()
    assert main(["fetch", "boxoban", "--from", str(source)]) == 1
    assert line in capsys.readouterr().err


def test_a_server_without_the_file_is_one_line(server, capsys):
    assert main(["fetch", "boxoban", "--from", url(server)]) == 1
    error = capsys.readouterr().err
    assert "cannot be fetched" in error
    assert error.count("\n") == 1


def test_levels_are_read_in_one_order(tmp_path):
    for name, sign in (("b.txt", "$"), ("a.txt", "@")):
        (tmp_path / name).write_text(f"; 0\n##\n#{sign}\n\n; 1\n##\n{sign}#\n")
    assert boxoban.read_levels(str(tmp_path)) == ("##\n#@\n", "##\n@#\n", "##\n#$\n", "##\n$#\n")


def test_levels_are_read_once_until_their_files_change(tmp_path):
    (tmp_path / "a.txt").write_text("; 0\n##\n#@\n")
    first = boxoban.read_levels(str(tmp_path))
    assert boxoban.read_levels(str(tmp_path)) is first
    (tmp_path / "a.txt").write_text("; 0\n###\n#$@\n")
    assert boxoban.read_levels(str(tmp_path)) == ("###\n#$@\n",)
