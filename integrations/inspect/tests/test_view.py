"""Exported logs in `inspect view`, looked at with Chromium."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import balrog_rag
from balrog_rag.cli.episode import main

WORDS = ("model=scripted", "agent=robust_star_rag", "knowledge.index=bm25", "env=corridor", "runner.log=none")
PATIENCE = 400.0
"""Seconds: a busy machine imports Inspect slowly."""


def until(holds: Callable[[], object], what: str) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"not within {PATIENCE:g} s: {what}"
        time.sleep(0.2)


@pytest.fixture
def browser() -> Iterator[webdriver.Chrome]:
    """Headless Chromium."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("chromium or chromedriver is missing: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.add_argument("--window-size=1440,2000")
    made = webdriver.Chrome(options=options, service=Service(driver))
    yield made
    made.quit()


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """`inspect view` of an exported run, on loopback."""
    run = balrog_rag.evaluate(*WORDS, "env.episodes=2", "limits.steps=3", folder=tmp_path / "run")
    assert main(["export", str(run.folder), "--to", "inspect", "--out", str(tmp_path / "logs")]) == 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["view", "start", "--log-dir", str(tmp_path / "logs"), "--host", "127.0.0.1", "--port", str(port)]
    program = Path(sys.executable).with_name("inspect")
    # A home of its own: Inspect writes where its servers run.
    home = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    server = subprocess.Popen([program, *words], env=home)

    def answers() -> bool:
        assert server.poll() is None, "inspect view ended"
        try:
            return bool(urlopen(f"http://127.0.0.1:{port}/", timeout=5).status == 200)
        except OSError:
            return False

    try:
        until(answers, "inspect view answers")
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait()


def test_samples_messages_and_scores_are_on_the_page(address: str, browser: webdriver.Chrome) -> None:
    def shown(*texts: str) -> None:
        def all_there() -> bool:
            page = browser.execute_script("return document.body.innerText")
            return all(text in page for text in texts)

        until(all_there, f"the page shows {texts}")

    browser.get(address)
    shown("balrog_rag/minihack", "2 rows", "minihack/MiniHack-Corridor-R3-v0/00", "turn", "steps")
    sample = f"{address}#/logs/run_minihack.eval/samples/sample/2/1/"
    browser.get("about:blank")
    browser.get(f"{sample}messages")
    shown("minihack/MiniHack-Corridor-R3-v0/01", "You are playing MiniHack", "Limit: turn")
    browser.get("about:blank")
    browser.get(f"{sample}scoring")
    shown("step limit, after 3 steps")
