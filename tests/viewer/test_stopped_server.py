"""A page whose server has stopped says so."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import CLEAN, PATIENCE
from tests.viewer.support import Browser

pytestmark = pytest.mark.slow

GONE = "document.querySelector('#gone')"


def test_the_page_says_when_its_server_has_stopped(browser: Browser, runs: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "balrog_rag", "view", str(runs / "told"), "--no-browser"],
        env=CLEAN, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", process.stdout.readline())
        assert found
        browser.size(1200)
        browser.open(found.group(), "document.querySelector('.runmap svg')")
        assert browser.js(f"{GONE}.hidden")
    finally:
        process.terminate()
        process.wait(PATIENCE)
    browser.wait(f"!{GONE}.hidden")
    assert "The server has stopped" in browser.js(f"{GONE}.textContent")
    browser.logs()  # the browser reports the refused connection
