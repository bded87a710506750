"""A person plays: in a terminal, and in a browser on this machine."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.episode import journal
from balrog_rag.episode.journal import Completion
from tests.support import CLEAN, PATIENCE, command, until
from tests.viewer.support import Browser, new_browser

pytestmark = pytest.mark.slow
GAMES = (
    "env=corridor",
    "env.episodes=1",
    "limits.steps=6",
    "run.folder=.",
    "run.name=me",
    "runner.workers=1",
)


def typed(cwd: Path, words: list[str], lines: list[str]) -> str:
    """The output of a command in a terminal, at whose prompts these lines are typed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(sys.executable, [sys.executable, "-m", "balrog_rag", *words], {**CLEAN, "TERM": "dumb"})
    output, waiting = b"", list(lines)
    seen = 0
    while select.select([terminal], [], [], PATIENCE)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the command has ended
            break
        output += data
        if waiting and b"> " in output[seen:]:
            seen = len(output)
            os.write(terminal, waiting.pop(0).encode() + b"\n")
    os.close(terminal)
    os.waitpid(pid, 0)
    return output.decode("utf-8", "replace")


def test_a_person_plays_leaves_and_comes_back(tmp_path: Path) -> None:
    first = ["west", "/pause", "", "west, nonsense", "/help", "/leave"]
    output = typed(tmp_path, ["run", "agent=human", "agent.options.client=ada", *GAMES], first)
    assert "paused" in output
    assert "left; the game is kept" in output
    (path,) = (tmp_path / "me").rglob("*.journal.jsonl")
    before = journal.read(path)
    assert before.end is None
    answers = [entry.reply for entry in before.entries if isinstance(entry, Completion)]
    assert all(reply.latency > 0 and not reply.usage.known and reply.cost is None for reply in answers)
    output = typed(tmp_path, ["resume", "me"], ["fly", "/give_up"])
    assert f"step {before.count}" in output
    assert "given up" in output
    after = journal.read(path)
    assert after.entries[: len(before.entries)] == before.entries
    assert not after.steps[-1].valid
    assert command("balrog_rag", "verify", "me", cwd=tmp_path).returncode == 0
    summary = (tmp_path / "me/summary.json").read_text()
    assert "human" in summary
    assert "ada" in (tmp_path / "me/episodes.csv").read_text()
    # The run is a demonstration, for a prompt and for training.
    made = command("balrog_rag", "prompts", "demonstrate", str(path), "demo.json", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    sample = command("balrog_rag", "export", "me", "--to", "sft", "--out", "mine.jsonl", cwd=tmp_path)
    assert sample.returncode == 0, sample.stderr
    assert "west" in (tmp_path / "mine.jsonl").read_text()
    shown = ("run", "agent=few_shot", "agent.demonstrations=[demo.json]", "model=scripted", *GAMES)
    played = command("balrog_rag", *shown, "run.name=shown", "run.seed=9", cwd=tmp_path)
    assert played.returncode == 0, played.stderr
    (path,) = (tmp_path / "shown").rglob("*.journal.jsonl")
    prompt = command("balrog_rag", "show", str(path), "--step", "0", cwd=tmp_path).stdout
    assert "[assistant]\nwest" in prompt


@contextmanager
def page_of(cwd: Path) -> Iterator[str]:
    """A run to play in a browser: the address of its page."""
    words = ["-m", "balrog_rag", "play", "--browser", "--no-open", *GAMES, "agent.options.sees=screen"]
    process = subprocess.Popen(
        [sys.executable, *words], cwd=cwd, env=CLEAN, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield next(found[0] for line in process.stdout if (found := re.search(r"http://\S+/", line)))
    finally:
        process.terminate()
        process.communicate()


def sent(address: str, line: str | None = None) -> dict[str, Any]:
    """What the page's server answers."""
    origin = {"Origin": address.rsplit("/", 2)[0], "Content-Type": "application/json"}
    data = None if line is None else json.dumps({"line": line}).encode()
    request = urllib.request.Request(address, data, origin)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        found: dict[str, Any] = json.loads(answer.read())
        return found


def test_the_page_is_served_to_its_own_browser_alone(tmp_path: Path) -> None:
    with page_of(tmp_path) as address:
        assert sent(f"{address}state")["step"] == 0
        assert sent(f"{address}line", "west")["step"] == 1
        assert sent(f"{address}line", "/pause")["paused"]
        assert sent(f"{address}line", "x" * 30_000)["step"] == 2
        elsewhere = address.rsplit("/", 2)[0] + "/wrong/state"
        for wrong in (elsewhere, address.replace("127.0.0.1", "localhost.") + "state"):
            with pytest.raises((urllib.error.HTTPError, urllib.error.URLError)):
                urllib.request.urlopen(wrong, timeout=PATIENCE)
        assert sent(f"{address}line", "/leave")["over"]
        (path,) = (tmp_path / "me").rglob("*.journal.jsonl")
        until(lambda: (tmp_path / "me/summary.json").exists(), "the results")
    assert journal.read(path).count == 2
    assert command("balrog_rag", "verify", "me", cwd=tmp_path).returncode == 0


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    opened = new_browser()
    yield opened
    opened.close()


def test_a_person_plays_in_the_browser(browser: Browser, tmp_path: Path) -> None:
    page = browser.driver
    with page_of(tmp_path) as address:
        page.get(address)
        until(lambda: "step 0" in page.find_element("id", "place").text, "the first observation")
        page.find_element("id", "line").send_keys("west\n")
        until(lambda: "step 1" in page.find_element("id", "place").text, "the first step")
        page.find_element("id", "pause").click()
        until(lambda: "paused" in page.find_element("id", "place").text, "the pause")
        page.find_element("id", "line").send_keys("/give_up\n")
        until(lambda: "over" in page.find_element("id", "place").text, "the end")
        assert "given up after 1 step" in page.find_element("id", "text").text
        assert not [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"]
    assert command("balrog_rag", "verify", "me", cwd=tmp_path).returncode == 0
