"""The list of episodes in a real browser during a real run: it grows without a reload."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import CLEAN, PATIENCE, evaluate, until
from tests.viewer.support import Browser

pytestmark = pytest.mark.slow

ROWS = "[...document.querySelectorAll('.list tbody tr')].map((row) => row.cells[0].textContent)"
"""Of the list: the table of where arms part has rows of its own."""
RUN = ("model=scripted", "agent=naive", "runner.concurrency=1", "env.no_progress=0", "limits.steps=12")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Path]:
    """A folder with a run of four episodes, one after the other, that is being played."""
    words = [*RUN, "env.episodes=4", "model.options.latency=0.3", f"run.folder={tmp_path}", "run.name=live"]
    process = subprocess.Popen(
        [sys.executable, "-m", "balrog_rag.eval", *words],
        cwd=tmp_path, env=CLEAN, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until(lambda: any(tmp_path.rglob("*.journal.jsonl")), "the run begins")
        yield tmp_path
    finally:
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture
def address(live: Path) -> Iterator[str]:
    """The address at which `balrog-rag view` serves that folder."""
    process = subprocess.Popen(
        [sys.executable, "-m", "balrog_rag", "view", str(live), "--no-browser"],
        cwd=live, env=CLEAN, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", process.stdout.readline())
        assert found
        yield found.group()
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_episodes_and_runs_that_begin_appear_in_the_open_page(
    browser: Browser, address: str, live: Path
) -> None:
    browser.size(1200)
    browser.open(address, "document.querySelector('tbody tr, .screen pre')")
    browser.js("window.loadedOnce = true")
    if browser.js("document.querySelector('tbody') === null"):  # one episode so far: the page shows it
        browser.wait("document.querySelector('#top a.name')")
        browser.press("r")
    browser.wait(f"{ROWS}.length === 4")
    browser.wait("/4 ended/.test(document.querySelector('[role=status]').textContent)")
    browser.js("document.querySelector('.bar input').value = 'NetHack'")
    box = "[...document.querySelectorAll('.list tbody input')][1]"
    browser.js(f"{box}.click()")
    browser.js(f"{box}.focus()")
    done = evaluate(*RUN[1:], "env.episodes=2", f"run.folder={live}", "run.name=other", cwd=live)
    assert done.returncode == 0, done.stderr
    browser.wait(f"{ROWS}.length === 6")
    assert browser.js(f"{ROWS}[4]").startswith("other:")
    assert browser.js(f"{box}.checked && document.activeElement === {box}")
    assert browser.js("document.querySelector('.bar input').value") == "NetHack"
    browser.js("[...document.querySelectorAll('.list tbody a')][5].click()")
    browser.wait(
        "document.querySelector('.screen pre') && document.querySelector('.count input').max === '12'"
    )
    assert browser.js("window.loadedOnce")
    assert browser.logs()[0] == []
