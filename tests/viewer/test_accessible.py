"""axe-core finds nothing serious on any page of the viewer; it is fetched by npm and never committed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from balrog_rag.viewer import bundle
from balrog_rag.viewer.listing import listed
from tests.viewer.support import Browser, documents
from tests.viewer.test_run_page import changed

pytestmark = pytest.mark.slow

VERSION = "4.11.0"
FIRST, OTHER = "told:nle/NetHackChallenge-v0/00", "plain:nle/NetHackChallenge-v0/00"
PAGES = {
    "run": "",
    **{
        tab: f"episode={FIRST}&step=5&tab={tab}"
        for tab in ("step", "prompt", "costs", "marks", "notes", "settings", "map")
    },
    "end": f"episode={FIRST}&step=70",
    "compare": f"compare={FIRST}&compare={OTHER}&step=3",
    "search": "search=north",
}
READY = "document.querySelector('.runmap svg, .panel > *, .column .action, .results li')"
RUN = """const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => done(violations
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .flatMap(({ id, nodes }) => nodes.map((each) => `${id}: ${each.html} ${each.failureSummary}`))));"""


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of axe-core."""
    if shutil.which("npm") is None:
        pytest.skip("npm is missing: apt-get install npm")
    top = tmp_path_factory.mktemp("axe")
    done = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", f"axe-core@{VERSION}"],
        cwd=top, capture_output=True, text=True, env=os.environ, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"npm cannot install axe-core: {done.stderr.strip().splitlines()[-1:]}")
    return (top / "node_modules/axe-core/axe.min.js").read_text()


@pytest.fixture(scope="module")
def page(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, in which one episode ends in a death."""
    top = tmp_path_factory.mktemp("page")
    bundle.write(listed([runs / "told", runs / "plain"]), top / "both.html")
    found = documents(top / "both.html")
    found["run"]["episodes"][0] |= {
        "outcome": "died",
        "cause": "hunger",
        "how": "starved",
        "preventable": True,
    }
    found["traces"]["saving"] = {"hunger": [["Eat now", "Below 50 nutrition eat or pray."]]}
    return changed(top / "both.html", top / "made.html", **found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious(browser: Browser, page: Path, axe: str, scheme: str) -> None:
    found = []
    for width in (1440, 1024, 400):
        browser.size(width, scheme=scheme)
        for name, place in PAGES.items():
            browser.open(f"{page.as_uri()}#{place}", READY)
            browser.driver.execute_script(axe)
            found += [f"{name} at {width}: {line}" for line in browser.driver.execute_async_script(RUN)]
    browser.size(1440)
    assert not found, "\n".join(line[:400] for line in found)


def test_the_keys_hold_the_focus_until_they_are_closed(browser: Browser, page: Path) -> None:
    browser.size(1440)
    browser.open(f"{page.as_uri()}#episode={FIRST}&step=5")
    browser.press("?")
    browser.wait("document.querySelector('#overlay [role=dialog]')")
    for _ in range(3):
        browser.press("\ue004")  # tab
        assert browser.js("document.querySelector('#overlay').contains(document.activeElement)")
    browser.press("\ue00c")  # escape
    browser.wait("document.querySelector('#overlay').hidden")


def test_tabs_are_moved_between_by_arrows(browser: Browser, page: Path) -> None:
    browser.open(f"{page.as_uri()}#episode={FIRST}&step=5")
    browser.js("document.querySelector('#tab-step').focus()")
    browser.press("\ue014")
    browser.wait("document.activeElement.id === 'tab-prompt'")
    assert browser.js("document.querySelectorAll('[role=tab][tabindex=\"0\"]').length") == 1
    assert browser.js("document.querySelector('.count input').value") == "5"
    browser.press("\ue012", "\ue012")
    browser.wait("document.activeElement.id === 'tab-map'")
    browser.js("document.querySelector('#tab-notes').click()")
    browser.wait("document.querySelector('.panel textarea')")
    browser.js("document.querySelector('.panel textarea').focus()")
    browser.press("\ue00c")
    assert browser.js("document.activeElement.tagName") != "TEXTAREA"
