"""The page of a run in a real browser: the map, where arms part, deaths, and the list in the address."""

from pathlib import Path
from typing import Any

import pytest

from balrog_rag.viewer import bundle
from balrog_rag.viewer.html_page import page as page_of
from balrog_rag.viewer.listing import listed
from balrog_rag.viewer.packing import packed
from tests.viewer.support import Browser, documents
from tests.viewer.test_browser import STEP, quiet

pytestmark = pytest.mark.slow

MAP = "document.querySelector('.runmap svg')"
FIRST = "told:nle/NetHackChallenge-v0/00"


@pytest.fixture(scope="module")
def page(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "both.html"
    bundle.write(listed([runs / "told", runs / "plain"]), out)
    return out


def changed(page: Path, out: Path, **documents_: Any) -> Path:
    """The page with other documents."""
    found = documents(page) | documents_
    out.write_bytes(b"".join(page_of((name, packed(each)) for name, each in found.items())))
    return out


def clipped(action: str, most: int = 24) -> str:
    return action if len(action) <= most else action[: most - 1].rstrip() + "\u2026"


def point(browser: Browser, event: str, x: float, y: float) -> None:
    """Send a mouse event to the map, at a place within its picture."""
    browser.driver.execute_script(
        """const picture = document.querySelector('.runmap .picture');
        const box = picture.getBoundingClientRect();
        const at = { clientX: box.left + arguments[1], clientY: box.top + arguments[2], bubbles: true };
        picture.dispatchEvent(new MouseEvent(arguments[0], at));""",
        event, x, y,
    )  # fmt: skip


def test_a_click_on_the_map_opens_the_step(browser: Browser, page: Path) -> None:
    browser.size(1200)
    browser.open(page.as_uri(), MAP)
    assert browser.js("document.querySelectorAll('.runmap .episode-line').length") == 4
    traces = documents(page)["traces"]
    far = max(clock for each in traces["of"].values() for clock in each["clock"])
    ends = browser.js("[...document.querySelectorAll('.episode-line path')].map((p) => p.getBBox().width)")
    assert max(ends) > 600  # the longest line fills the map
    point(browser, "pointermove", 1200 - 32 - 20, 18)
    browser.wait("!document.querySelector('.runmap .tip').hidden")
    told = browser.js("document.querySelector('.runmap .tip').textContent")
    assert f"turn {far:,}" in told
    assert "health" in told
    point(browser, "click", 1200 - 32 - 20, 18)
    browser.wait("location.hash.includes('step=') && document.querySelector('.screen pre')")
    shown = browser.js("new URLSearchParams(location.hash.slice(1)).get('episode')")
    assert shown in told
    browser.driver.back()
    browser.wait(MAP)
    quiet(browser)


def test_heads_say_what_the_rows_say(browser: Browser, page: Path) -> None:
    browser.open(page.as_uri(), MAP)
    told, plain = browser.js("[...document.querySelectorAll('.head')].map((each) => each.textContent)")
    assert "0.00 %" in told
    assert "n = 2" in told
    assert "2 episodes140 steps" in told
    assert "tokens" in told
    assert "tokens" not in plain
    bars = browser.js("[...document.querySelectorAll('.outcomes')].map((each) => each.ariaLabel)")
    assert bars == ["step limit 2", "step limit 2"]
    assert "The same" in browser.js("document.querySelector('.same').textContent")


def test_arms_part_where_the_comparison_begins(browser: Browser, page: Path) -> None:
    browser.open(page.as_uri(), MAP)
    pairs = documents(page)["traces"]["pairs"]
    link = "document.querySelector('[data-title=\"Where arms part\"] tbody a')"
    assert browser.js(f"{link}.closest('tr').querySelectorAll('svg path').length") == 2
    browser.js(f"{link}.click()")
    browser.wait("document.querySelectorAll('.column .screen pre').length === 2")
    assert browser.js(STEP) == str(pairs[0]["step"])
    quiet(browser)


def test_deaths_lead_to_their_last_steps(browser: Browser, page: Path, tmp_path: Path) -> None:
    found = documents(page)
    found["run"]["episodes"][0] |= {
        "outcome": "died",
        "cause": "hunger",
        "how": "starved",
        "preventable": True,
    }
    found["traces"]["saving"] = {"hunger": [["Eat now", "Below 50 nutrition eat or pray."]]}
    out = changed(page, tmp_path / "deaths.html", **found)
    browser.open(out.as_uri(), "document.querySelector('.card')")
    assert browser.js("document.querySelectorAll('.card').length") == 1
    cause = browser.js("document.querySelector('.cause').textContent")
    assert "preventable by a passage read in time" in cause
    assert "Below 50 nutrition" in cause
    assert browser.js("document.querySelectorAll('.runmap .death').length") == 1
    cells = browser.js("[...document.querySelectorAll('.card .cell')].map((each) => each.textContent)")
    names = found["0/head"]["actions"]
    assert cells == [clipped(names["names"][each]) for each in names["of"][-20:]]
    browser.js("document.querySelector('.card .cell').click()")
    browser.wait(f"document.querySelector('.count input') && {STEP} === '50'")
    browser.press("\ue010")  # end
    browser.wait(f"{STEP} === '70'")
    browser.press("e")
    browser.wait(f"{STEP} === '50'")
    browser.driver.back()  # to the step that one came from
    browser.wait(f"{STEP} === '70'")
    quiet(browser)


def test_only_deaths_are_counted_as_deaths(browser: Browser, page: Path, tmp_path: Path) -> None:
    found = documents(page)
    first, second = found["run"]["episodes"][:2]
    first |= {"outcome": "died", "cause": "hunger", "how": "starved"}
    second |= {"outcome": "escaped", "cause": "left the dungeon", "how": "escaped"}
    browser.open(changed(page, tmp_path / "ends.html", **found).as_uri(), "document.querySelector('.card')")
    lines = browser.js("[...document.querySelectorAll('.causes')].map((each) => each.textContent)")
    assert lines == ["Deaths by cause: hunger 1", "Other ends: left the dungeon 1"]
    assert browser.js("document.querySelectorAll('.card').length") == 1
    assert browser.js("document.querySelectorAll('.runmap .death').length") == 1
    second |= {"outcome": "died", "cause": "", "how": ""}
    browser.open(changed(page, tmp_path / "dead.html", **found).as_uri(), "document.querySelector('.card')")
    lines = browser.js("[...document.querySelectorAll('.causes')].map((each) => each.textContent)")
    assert lines == ["Deaths by cause: hunger 1, unknown 1"]


def test_measures_of_one_environment_are_shown_where_it_is_chosen(
    browser: Browser, page: Path, tmp_path: Path
) -> None:
    """In a list of several environments their columns would be empty but for a few rows."""
    found = documents(page)
    for place, row in enumerate(found["run"]["episodes"]):
        row |= {"kind": "Some game" if place else "Other game", "measures": []}
    found["run"]["episodes"][0]["measures"] = [["eggs found", 3, "eggs"]]
    browser.open(changed(page, tmp_path / "kinds.html", **found).as_uri(), MAP)
    heads = "[...document.querySelectorAll('.list thead th')].map((each) => each.textContent)"
    assert "eggs found" not in browser.js(heads)
    choice = "document.querySelector('select[aria-label$=list]')"
    browser.js(f"({choice}.value = 'Other game', {choice}.dispatchEvent(new Event('change')))")
    assert "eggs found" in browser.js(heads)
    assert browser.js("document.querySelectorAll('.list tbody tr').length") == 1
    assert "kind=Other" in browser.js("location.hash")


def test_order_and_filter_are_in_the_address(browser: Browser, page: Path) -> None:
    browser.open(page.as_uri(), MAP)
    names = "[...document.querySelectorAll('.list tbody th a')].map((each) => each.textContent)"
    browser.driver.execute_script(
        """const filter = document.querySelector('.bar input[type=search]');
        filter.value = 'told';
        filter.dispatchEvent(new Event('input'));
        document.querySelector('[data-of="sort tokens"]').click();"""
    )
    address = browser.js("location.href")
    assert "filter=told&sort=tokens" in address
    rows = browser.js(names)
    assert len(rows) == 2
    browser.js("document.querySelector('.list tbody a').click()")
    browser.wait("document.querySelector('.screen pre')")
    browser.driver.back()
    browser.wait(MAP)
    assert browser.js(names) == rows
    assert browser.js("document.querySelector('.bar input[type=search]').value") == "told"
    browser.press("r")
    browser.open(address, MAP)
    assert browser.js(names) == rows


def test_nothing_in_a_trace_is_markup(browser: Browser, page: Path, tmp_path: Path) -> None:
    worst = "<img src=x onerror=document.title='owned'></script>\x1b\u202e"
    found = documents(page)
    for row in found["run"]["episodes"]:
        row |= {"outcome": "died", "cause": worst, "how": worst, "preventable": True}
    for trace in found["traces"]["of"].values():
        trace["last"] = [worst] * 20
    found["traces"]["saving"] = {worst: [[worst, worst]]}
    found["traces"]["same"][0]["titles"] = [worst]
    found["run"]["heads"][0]["settings"] = [[worst, worst]]
    for pair in found["traces"]["pairs"]:
        pair["actions"] = [worst, worst]
    browser.open(changed(page, tmp_path / "worst.html", **found).as_uri(), "document.querySelector('.card')")
    assert browser.js("document.querySelectorAll('main img, main script').length") == 0
    assert not set("\x1b\u202e") & set(browser.js("document.body.textContent"))
    quiet(browser)


@pytest.mark.parametrize("width", [1440, 1024, 400])
def test_nothing_is_wider_than_the_window(browser: Browser, page: Path, width: int) -> None:
    browser.size(width, scheme="dark")
    browser.open(page.as_uri(), MAP)
    assert browser.js("document.documentElement.scrollWidth") <= width
    browser.size(1200)
