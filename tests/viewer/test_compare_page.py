"""Episodes side by side in a real browser: curves, prompts, inventories, scores, the next difference."""

from pathlib import Path

import pytest

from balrog_rag.viewer import bundle
from balrog_rag.viewer.listing import listed
from tests.viewer.support import Browser, documents
from tests.viewer.test_browser import STEP, quiet

pytestmark = pytest.mark.slow

ONE, OTHER = "told:nle/NetHackChallenge-v0/00", "plain:nle/NetHackChallenge-v0/00"


@pytest.fixture(scope="module")
def page(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "both.html"
    bundle.write(listed([runs / "told", runs / "plain"]), out)
    return out


def opened(browser: Browser, page: Path, one: str, other: str, step: int) -> None:
    browser.size(1300)
    browser.open(
        f"{page.as_uri()}#compare={one}&compare={other}&step={step}", "document.querySelector('.column')"
    )
    browser.wait("document.querySelectorAll('.column .screen pre').length === 2")
    browser.wait("document.querySelectorAll('.column .action').length === 2")


def shows(browser: Browser, name: str) -> None:
    browser.js(f"document.querySelector('[data-shows={name}]').click()")


def test_both_curves_share_an_axis_and_scores_are_paired(browser: Browser, page: Path) -> None:
    opened(browser, page, ONE, OTHER, 2)
    curves = browser.js(
        "[...document.querySelectorAll('.both svg')].map((s) => s.querySelectorAll('path').length)"
    )
    assert curves
    assert set(curves) == {2}
    rows = documents(page)["run"]["episodes"]
    steps = [next(row for row in rows if row["key"] == key)["steps"] for key in (ONE, OTHER)]
    table = browser.js("document.querySelector('.paired').textContent")
    assert f"steps{steps[0]}{steps[1]}" in table.replace(" ", "")
    assert f"\u2212{steps[0] - steps[1]}.00" in table
    quiet(browser)


def test_prompts_and_inventories_are_compared(browser: Browser, page: Path) -> None:
    told = ONE.replace("00", "01")
    opened(browser, page, ONE, told, 0)
    shows(browser, "prompt")
    browser.wait("document.querySelector('.column:nth-child(2) .lines')")
    signs = browser.js("[...document.querySelectorAll('.lines span')].map((each) => each.textContent[0])")
    assert {"+", "-", "\u2026"} <= set(signs)  # two games, with much of the instruction in common
    shows(browser, "inventory")
    browser.wait("/a: /.test(document.querySelector('.column .panel').textContent)")
    quiet(browser)


def test_the_next_difference_is_the_next_other_action(browser: Browser, page: Path) -> None:
    found = documents(page)
    places = [
        next(at for at, row in enumerate(found["run"]["episodes"]) if row["key"] == key)
        for key in (ONE, OTHER)
    ]
    heads = [found[f"{place}/head"]["actions"] for place in places]
    one, other = ([each["names"][number] for number in each["of"]] for each in heads)
    other += [""] * len(one)
    wanted = [at for at in range(len(one)) if one[at] != other[at]]
    opened(browser, page, ONE, OTHER, wanted[0])
    for at in wanted[1:4]:
        browser.press("x")
        browser.wait(f"{STEP} === '{at}'")
    quiet(browser)
