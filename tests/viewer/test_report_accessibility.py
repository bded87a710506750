"""Reports and leaderboards: axe-core finds nothing serious, nothing overflows or is cut off in print."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.cli.leaderboard import main as leaderboard
from balrog_rag.cli.report import main as report
from tests.viewer.support import Browser

pytestmark = pytest.mark.slow

AXE = "axe-core@4.14.1"
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, installed by npm."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is missing: apt-get install npm")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(
        [npm, "install", "--no-save", "--no-audit", "--no-fund", "--prefix", str(folder), AXE],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"npm cannot install {AXE}: {done.stderr[-200:]}")
    return (folder / "node_modules/axe-core/axe.min.js").read_text("utf-8")


def violations(browser: Browser, axe: str) -> list[dict[str, Any]]:
    """What axe-core calls serious on the open page."""
    browser.driver.execute_script(axe)
    found = browser.driver.execute_async_script(
        "const done = arguments[0]; axe.run(document, { resultTypes: ['violations'] })"
        ".then((result) => done(result.violations.map((one) => ({ id: one.id, impact: one.impact,"
        " where: one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)) }))));"
    )
    return [one for one in found if one["impact"] in SERIOUS]


@pytest.fixture(scope="module")
def pages(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    out = tmp_path_factory.mktemp("pages")
    folders = [str(runs / "told"), str(runs / "plain")]
    assert report([*folders, "--out", str(out / "report"), "--pages", "none", "--formats", "html"]) == 0
    assert leaderboard(["build", *folders, "--out", str(out / "board"), "--pages", "none"]) == 0
    assert leaderboard(["site", *folders, "--out", str(out / "site"), "--no-verify", "--no-view"]) == 0
    return {
        "report": out / "report/report.html",
        "leaderboard": out / "board/leaderboard.html",
        "site": out / "site/index.html",
        "submission": out / "site/submissions/told/index.html",
    }


@pytest.mark.parametrize("name", ["report", "leaderboard", "site", "submission"])
@pytest.mark.parametrize(
    ("width", "scheme"), [(1440, "light"), (1440, "dark"), (400, "light"), (400, "dark")]
)
def test_nothing_serious_is_found_and_nothing_overflows(
    browser: Browser, axe: str, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    browser.size(width, scheme=scheme)
    browser.open(pages[name].as_uri(), "document.querySelector('h1')")
    assert violations(browser, axe) == []
    assert browser.js("document.documentElement.scrollWidth") <= width
    assert browser.js("getComputedStyle(document.querySelector('tbody th')).position") == "sticky"


A4 = 688
"""Width of a printed page in CSS pixels, without the margins of 14 mm."""


@pytest.mark.parametrize("name", ["report", "leaderboard", "site", "submission"])
def test_nothing_is_cut_off_in_print(browser: Browser, pages: dict[str, Path], name: str) -> None:
    browser.size(A4)
    browser.open(pages[name].as_uri(), "document.querySelector('h1')")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    right = "(one) => one.getBoundingClientRect().right"
    assert browser.js(f"Math.max(...[...document.querySelectorAll('table, figure, p')].map({right}))") <= A4
    wraps = "(one) => getComputedStyle(one).whiteSpace === 'normal'"  # names and ends of any length
    assert browser.js(f"[...document.querySelectorAll('td.n, th.n')].every({wraps})")
    columns = "getComputedStyle(document.querySelector('.figures')).gridTemplateColumns.split(' ').length"
    assert browser.js(f"!document.querySelector('.figures') || {columns} === 2")


def test_axe_would_have_found_a_fault(browser: Browser, axe: str, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text("<html><body><h1 style='color:#eee'>x</h1><img src='y'></body></html>")
    browser.open((tmp_path / "bad.html").as_uri(), "document.querySelector('h1')")
    assert {"image-alt", "html-has-lang"} <= {one["id"] for one in violations(browser, axe)}
