"""The served page in a new browser, right after the server has started: the same results as from a file."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.results.run_folder import journals as journals_of
from balrog_rag.viewer import bundle
from balrog_rag.viewer.listing import listed
from tests.support import CLEAN, PATIENCE, evaluate
from tests.viewer.support import Browser, documents, new_browser

pytestmark = pytest.mark.slow

EPISODES, STEPS = 9, 400
EPISODE = "nle/NetHackChallenge-v0/00"
STEP = "document.querySelector('.count input').value"
NOTE = "document.querySelector('.search [role=status]').textContent"
FOUND = r"/^[\d,]+ texts? at/"
Serve = Callable[..., str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with more and longer episodes than can be rebuilt at once, or within a moment."""
    top = tmp_path_factory.mktemp("served")
    still = ",".join(["look", "inventory", "overview", "attributes"] * 4)
    done = evaluate(
        "agent=cot", "model=scripted", f"model.options.answers=[{still},north,south,east,west]",
        f"env.episodes={EPISODES}", f"limits.steps={STEPS}", "env.no_progress=0", "run.csv=false",
        f"run.folder={top}", "run.name=served", cwd=top,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return top / "served"


@pytest.fixture(scope="module")
def whole(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run as a file."""
    out = tmp_path_factory.mktemp("page") / "whole.html"
    bundle.write(listed([run]), out)
    return out


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts `balrog-rag view` and returns its address."""
    processes = []

    def started(*paths: Path) -> str:
        process = subprocess.Popen(
            [sys.executable, "-m", "balrog_rag", "view", *map(str, paths), "--no-browser"],
            env=CLEAN, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        processes.append(process)
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", process.stdout.readline())
        assert found
        return found.group()

    yield started
    for process in processes:
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture
def fresh() -> Iterator[Browser]:
    """A browser that has not opened any page."""
    opened = new_browser()
    opened.size(1200)
    yield opened
    opened.close()


def hits(browser: Browser, address: str, words: str) -> str:
    """The number of texts that a search finds in a newly opened page, and at how many steps."""
    browser.driver.get(f"{address}#search={words}")
    note = browser.wait(f"document.querySelector('.search') && {FOUND}.test({NOTE}) && {NOTE}")
    return str(note).partition(", of ")[0]


def actions(found: dict[str, Any], place: int) -> list[str]:
    kept = found[f"{place}/head"]["actions"]
    return [kept["names"][each] for each in kept["of"]]


def first_difference(one: list[str], other: list[str]) -> int | None:
    """The first step at which they differ."""
    longest = max(len(one), len(other))
    padded = [[*each, *[""] * (longest - len(each))] for each in (one, other)]
    return next((step for step in range(longest) if padded[0][step] != padded[1][step]), None)


def test_a_first_search_finds_what_the_file_finds(
    fresh: Browser, serve: Serve, run: Path, whole: Path
) -> None:
    wanted = hits(fresh, whole.as_uri(), "look")
    assert int(wanted.split()[0].replace(",", "")) > EPISODES * STEPS / 8
    address = serve(run)
    assert hits(fresh, address, "look") == wanted
    assert fresh.js("document.querySelectorAll('.search .warning li').length") == 0
    fresh.driver.get("about:blank")
    assert hits(fresh, address, "look") == wanted  # and again, from what the server kept
    assert fresh.logs()[0] == []


def test_a_link_to_a_step_opens_that_step(fresh: Browser, serve: Serve, run: Path) -> None:
    link = f"#episode={EPISODE}&step={STEPS - 3}"
    fresh.driver.get(serve(run) + link)
    fresh.wait(f"document.querySelector('.screen pre') && {STEP} === '{STEPS - 3}'")
    fresh.wait("document.querySelector('.live').hidden")  # rebuilt to its end
    assert fresh.js(STEP) == str(STEPS - 3)
    assert fresh.js("location.hash") == link
    assert fresh.logs()[0] == []


def test_a_page_without_a_step_stays_at_the_first_moment(fresh: Browser, serve: Serve, run: Path) -> None:
    fresh.driver.get(f"{serve(run)}#episode={EPISODE}")
    fresh.wait("document.querySelector('.screen pre') && document.querySelector('.live').hidden")
    assert fresh.js(f"[{STEP}, document.querySelector('.count input').max]") == ["0", str(STEPS)]
    assert fresh.logs()[0] == []


def test_a_first_comparison_finds_the_first_difference(
    fresh: Browser, serve: Serve, run: Path, whole: Path
) -> None:
    found = documents(whole)
    first = first_difference(actions(found, 0), actions(found, 1))
    assert first is not None
    address = serve(run)
    fresh.driver.get(f"{address}#compare=nle/NetHackChallenge-v0/00&compare=nle/NetHackChallenge-v0/01")
    fresh.wait(f"document.querySelectorAll('.column .screen pre').length === 2 && {STEP} === '{first}'")
    assert f"First difference: step {first}" in fresh.js("document.querySelector('.controls').textContent")


def test_an_episode_in_play_is_no_evidence_beyond_its_last_step(
    fresh: Browser, serve: Serve, run: Path, tmp_path: Path
) -> None:
    """Cut short, it differs nowhere from itself, and the page says how far that is known."""
    ended, cut = journals_of(run)[0], tmp_path / "cut.journal.jsonl"
    cut.write_bytes(b"".join(ended.read_bytes().splitlines(keepends=True)[:201]))
    fresh.driver.get(f"{serve(ended, cut)}#compare=served:{EPISODE}&compare={EPISODE}")
    fresh.wait("document.querySelectorAll('.column .screen pre').length === 2")
    told = fresh.js("document.querySelector('.controls').textContent")
    assert f"No action differs up to the last step known for all. {EPISODE} has not ended." in told
