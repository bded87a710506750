"""The page of a renamed world in a real browser: the invented names, and the original ones at a click."""

import re
from pathlib import Path

import pytest

from balrog_rag.viewer import bundle
from balrog_rag.viewer.listing import listed
from tests.support import evaluate
from tests.viewer.support import Browser, documents
from tests.viewer.test_browser import quiet

pytestmark = pytest.mark.slow

EPISODE = "nle/NetHackChallenge-v0/00"
PROMPT = "document.querySelector('.panel').textContent.toLowerCase()"


def test_either_language_is_shown(browser: Browser, tmp_path: Path) -> None:
    done = evaluate(
        "agent=cot", "model=scripted", "model.options.answers=[look,north]", "env.renamed=1",
        "env.episodes=1", "env.character=val-hum-neu-fem", "limits.steps=6",
        f"run.folder={tmp_path}", "run.name=renamed",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    out = tmp_path / "page.html"
    bundle.write(listed([tmp_path / "renamed"]), out)
    found = documents(out)
    names = found["0/head"]["names"]
    last = found["0/0"]["messages"][-1][1].lower()
    invented = next(word for word in re.findall("[a-z]+", last) if word in names)
    original = names[invented]
    browser.open(f"{out.as_uri()}#step=2&tab=prompt")
    whole = "document.querySelector('.choices input')"
    browser.wait(whole)
    browser.js(f"{whole}.click()")
    browser.wait(f"{PROMPT}.includes({invented!r})")
    browser.press("1")
    browser.wait("document.querySelector('#names')")
    browser.js("document.querySelector('#names').click()")
    browser.wait("document.querySelector('#names').getAttribute('aria-pressed') === 'true'")
    browser.press("2")
    browser.wait(f"{PROMPT}.includes({original!r})")
    assert invented not in re.findall("[a-z]+", browser.js(PROMPT))
    browser.press("1")
    browser.wait("document.querySelector('#names')")
    browser.js("document.querySelector('#names').click()")
    browser.press("2")
    browser.wait(f"{PROMPT}.includes({invented!r})")
    quiet(browser)
