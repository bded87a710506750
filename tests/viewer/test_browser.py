"""The page in a real browser, from a file: it opens, seeks, jumps, and never treats text as markup."""

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.viewer import bundle
from balrog_rag.viewer.html_page import page as page_of
from balrog_rag.viewer.listing import listed
from balrog_rag.viewer.packing import packed
from tests.support import command
from tests.viewer.support import HOSTILE, Browser, documents

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EPISODE = "nle/NetHackChallenge-v0/00"
STEP = "document.querySelector('.count input').value"
SCREEN = "document.querySelector('.screen').textContent"
PANEL = "document.querySelector('.panel').textContent"


@pytest.fixture(scope="module")
def page(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "told.html"
    bundle.write(listed([runs / "told"]), out)
    return out


def quiet(browser: Browser) -> None:
    """Assert that the console is empty and nothing but the page was requested."""
    complaints, asked = browser.logs()
    assert complaints == []
    assert [url for url in asked if not url.startswith(("file:", "about:", "data:", "blob:"))] == []
    assert browser.js("document.title") != "owned"


def test_it_opens_from_a_file_and_seeks(browser: Browser, page: Path) -> None:
    browser.size(1400)
    browser.open(f"{page.as_uri()}#episode={EPISODE}&step=66")
    browser.wait(f"{STEP} === '66'")
    shown = browser.js(SCREEN)
    browser.press("\ue014")  # right arrow
    browser.wait(f"{STEP} === '67'")
    browser.press("\ue012")
    browser.wait(f"{STEP} === '66'")
    assert browser.js(SCREEN) == shown
    assert "Dlvl:1" in shown
    browser.press("\ue010")  # end
    browser.wait(f"{STEP} === '70'")
    assert "after 70 steps" in browser.js(PANEL)
    quiet(browser)


def test_marks_are_jumped_between(browser: Browser, page: Path) -> None:
    marks = documents(page)["0/head"]["marks"]
    places = sorted({at for at, kind, _ in marks if kind != "thing"})
    browser.open(f"{page.as_uri()}#episode={EPISODE}")
    at = 0
    for _ in range(3):
        at = next(place for place in places if place > at)
        browser.press("]")
        browser.wait(f"{STEP} === '{at}'")
    browser.press("[")
    browser.wait(f"{STEP} === '{max(place for place in places if place < at)}'")
    quiet(browser)


def test_the_end_leads_back_to_the_last_of_each_kind(browser: Browser, page: Path) -> None:
    """Who asks why a game ended finds there what happened last, and keys go from search to search."""
    found = documents(page)["0/head"]
    searches = sorted({at for at, what in zip(found["spent"]["step"], found["spent"]["purpose"], strict=True)
                       if what == "search"})  # fmt: skip
    browser.open(f"{page.as_uri()}#episode={EPISODE}&step=70")
    browser.wait("document.querySelector('.panel .marks button')")
    assert "The limit on steps or key presses was reached." in browser.js(PANEL)
    assert browser.js("document.querySelectorAll('.around button').length") == 14
    words = (
        "[...document.querySelectorAll('.panel .marks button')].find((b) => /a search/.test(b.textContent))"
    )
    browser.js(f"{words}.click()")
    browser.wait(f"{STEP} === '{searches[-1]}'")
    browser.press("S")
    browser.wait(f"{STEP} === '{searches[-2]}'")
    browser.press("s")
    browser.wait(f"{STEP} === '{searches[-1]}'")
    quiet(browser)


def test_hostile_texts_are_shown_as_texts(browser: Browser, page: Path) -> None:
    found = documents(page)["0/0"]
    for at, step in enumerate(found["steps"][:12]):
        browser.open(f"{page.as_uri()}#episode={EPISODE}&step={at}")
        browser.wait(f"document.querySelector('.decision .action') && {STEP} === '{at}'")
        texts = browser.js("[...document.querySelectorAll('.answer')].map((each) => each.textContent)")
        said = [each["text"] for each in step["said"] if each.get("text")]
        assert len(texts) == len(said)
        for shown, text in zip(texts, said, strict=True):
            assert "\x1b" not in shown
            assert "\u202e" not in shown
            assert shown.startswith(text[:20].replace("\x1b", "\u241b"))
    assert (
        browser.js("document.querySelectorAll('main script, main svg:not(.drawn), .panel img').length") == 0
    )
    assert browser.js("[...document.links].filter((a) => a.href.startsWith('javascript')).length") == 0
    quiet(browser)


WORST = f"{HOSTILE}</script><a href='javascript:document.title=1'>x</a>\x1b[2J\x07\ud800\u202e\u2066\x00 end"


def worst(document: Any, name: str = "") -> Any:
    """The same with every text of a game, a wiki or a model as hostile as possible."""
    if isinstance(document, dict):
        return {key: worst(value, key) for key, value in document.items()}
    if isinstance(document, list):
        return [worst(value, name) for value in document]
    return WORST if isinstance(document, str) and name not in KEPT else document


KEPT = {"env", "key", "state", "purpose", "for", "titles", "name", "colours", "screens", "pictures"}


def test_nothing_hostile_is_ever_markup(browser: Browser, page: Path, tmp_path: Path) -> None:
    """Not even where every field of every document is: titles, outcomes, addresses, notes, marks, actions."""
    found = worst(documents(page))
    found["run"]["notes"] = [{"key": EPISODE, "step": 3, "text": WORST, "at": WORST}]
    asked = {"key": EPISODE, "step": 3, "action": WORST, "without": "x", "again": WORST}
    found["run"]["retrieval"] = [
        {
            "run": WORST,
            "sentence": WORST,
            "asked": [{**asked, "passages": [[WORST, "javascript:1", 1.0, ""]]}],
        }
    ]
    long = found["0/0"]["steps"][3]["said"][0]
    long["text"] = "x" * 1_000_000 + WORST
    for passage in found["0/0"]["passages"]:
        passage[3] = "javascript:document.title='owned'"
    out = tmp_path / "worst.html"
    out.write_bytes(b"".join(page_of((name, packed(document)) for name, document in found.items())))
    browser.open(out.as_uri())
    for place in ("", *(f"#episode={EPISODE}&step=3&tab={tab}" for tab in TABS), "#search=owned"):
        browser.open(out.as_uri() + place, "document.querySelector('.panel *, .list, .results li')")
        assert browser.js(f"document.querySelectorAll({FOREIGN!r}).length") == 0
        assert (
            browser.js(
                "[...document.querySelectorAll('img')].filter((i) => !i.src.startsWith('data:')).length"
            )
            == 0
        )
        assert browser.js(BROKEN) == []
        shown = browser.js("document.body.innerText")
        assert "<img src=x" in shown
        assert not set("\x1b\x07\u202e\u2066") & set(shown)
        quiet(browser)
    browser.open(f"{out.as_uri()}#episode={EPISODE}&step=3", "document.querySelector('.more')")
    assert "Show all 1,000," in browser.js("document.querySelector('.more').textContent")


FOREIGN = "main script, main svg:not(.drawn), main a[href^=javascript]"
"""Elements that the page never makes: its own drawings have the class `drawn`."""
BROKEN = """[...document.querySelectorAll('#top *, main *')].filter((each) => !each.children.length
    && !each.textContent.isWellFormed()).map((each) => each.outerHTML.toWellFormed().slice(0, 200))"""
"""Elements that contain half a character."""
TABS = ("step", "prompt", "costs", "marks", "notes", "settings")


def test_the_prompt_of_a_step_is_beside_the_one_before(browser: Browser, page: Path) -> None:
    browser.open(f"{page.as_uri()}#episode={EPISODE}&step=3&tab=prompt")
    browser.wait("document.querySelector('.message.new')")
    assert "the same as in the previous prompt" in browser.js(PANEL)
    assert browser.js("document.querySelectorAll('.lines .added').length") > 0
    browser.js("document.querySelector('.choices input').click()")
    browser.wait("!document.querySelector('.lines')")
    whole = browser.js(PANEL)
    assert "assistant" in whole
    quiet(browser)


CURVE = """(() => {
    const canvas = document.querySelector('canvas.timeline');
    const { data } = canvas.getContext('2d').getImageData(Math.round(canvas.width * 0.75), 26, 1, 25);
    return [...Array(25).keys()].filter((row) => data[4 * row + 3] > 0);
})()"""
"""Rows of the first curve that are drawn at three quarters of the timeline, without its base line."""


def test_a_small_loss_of_health_is_not_drawn_like_death(browser: Browser, page: Path, tmp_path: Path) -> None:
    found = documents(page)
    values = [100] * 20 + [83] * 51
    found["0/head"]["curves"] = [
        {"name": "health", "title": "health", "unit": "%", "range": [0, 100], "values": values}
    ]
    found["0/head"]["lookups"] = []  # they have a row above
    out = tmp_path / "health.html"
    out.write_bytes(b"".join(page_of((name, packed(document)) for name, document in found.items())))
    browser.size(1000)
    browser.open(f"{out.as_uri()}#episode={EPISODE}&step=0")
    rows = browser.wait(f"{CURVE}.length && {CURVE}")
    assert max(rows) < 15  # in the upper half of its 30 rows
    browser.logs()  # the browser advises against reading a canvas twice


def test_four_hundred_pixels_and_dark(browser: Browser, page: Path) -> None:
    browser.size(400, scheme="dark")
    browser.open(f"{page.as_uri()}#episode={EPISODE}&step=5")
    browser.wait(f"{STEP} === '5'")
    assert browser.js("document.documentElement.scrollWidth") <= 400
    assert browser.js("document.querySelector('.screen .rows').scrollWidth") <= 400
    assert browser.js("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    browser.open(page.as_uri())
    assert browser.js("document.documentElement.scrollWidth") <= 400
    browser.size(1400)
    quiet(browser)


def test_search_finds_every_kind_of_text(browser: Browser, page: Path) -> None:
    browser.open(f"{page.as_uri()}#search=", "document.querySelector('.search')")
    browser.wait("/characters searchable/.test(document.querySelector('.search [role=status]').textContent)")
    for words, kind in (("tsixe", None), ("know about", "passages"), ("dark area", "prompts")):
        browser.js(f"document.querySelector('.search input').value = {words!r}")
        browser.js("document.querySelector('.search input').dispatchEvent(new Event('input'))")
        note = "document.querySelector('.search [role=status]').textContent"
        browser.wait(f"location.hash.startsWith('#search={words[:3]}') && / at /.test({note})")
        said = browser.js(note)
        assert said.startswith("0 texts") is (kind is None)
        if kind:
            assert kind in browser.js("document.querySelector('.results').textContent")
    browser.js("document.querySelector('.results a').click()")
    browser.wait("document.querySelector('.screen pre')")
    quiet(browser)


def test_the_list_has_costs_only_where_a_model_was_asked(
    browser: Browser, page: Path, runs: Path, tmp_path: Path
) -> None:
    bundle.write(listed([runs / "plain"]), tmp_path / "plain.html")
    heads = "[...document.querySelectorAll('thead th')].map((each) => each.textContent)"
    for address, asked in ((page.as_uri(), True), ((tmp_path / "plain.html").as_uri(), False)):
        browser.open(address)
        found = browser.js(heads)
        assert "steps" in found
        assert ("tokens" in found) is asked
        quiet(browser)


def test_notes_are_marks_and_stay_text(browser: Browser, page: Path) -> None:
    browser.open(
        f"{page.as_uri()}#episode={EPISODE}&step=7&tab=notes", "document.querySelector('.panel textarea')"
    )
    browser.js("document.querySelector('.panel textarea').value = '<img src=x onerror=alert(1)> why?'")
    browser.js(
        "[...document.querySelectorAll('.panel button')].find((b) => b.textContent === 'Keep').click()"
    )
    browser.wait("document.querySelector('.notes li')")
    assert "<img src=x" in browser.js("document.querySelector('.notes').textContent")
    browser.press("\ue011")  # home
    browser.wait(f"{STEP} === '0'")
    browser.press("5")
    browser.js("document.querySelector('.notes button').click()")
    browser.wait(f"{STEP} === '7'")
    quiet(browser)


def test_two_episodes_stand_side_by_side_from_their_first_difference(browser: Browser, page: Path) -> None:
    found = documents(page)
    actions = [
        [found[f"{place}/head"]["actions"]["names"][each] for each in found[f"{place}/head"]["actions"]["of"]]
        for place in (0, 1)
    ]
    first = next(step for step, (one, other) in enumerate(zip(*actions, strict=True)) if one != other)
    browser.open(page.as_uri())
    browser.js("document.querySelectorAll('.list input[type=checkbox]').forEach((box) => box.click())")
    browser.js("[...document.querySelectorAll('.bar button')].find((b) => !b.disabled).click()")
    browser.wait(f"document.querySelectorAll('.column .screen pre').length === 2 && {STEP} === '{first}'")
    browser.wait("document.querySelectorAll('.column .action strong').length === 2")
    shown = browser.js(
        "[...document.querySelectorAll('.column .action strong')].map((each) => each.textContent)"
    )
    assert shown == [actions[0][first], actions[1][first]]
    assert browser.js("document.querySelector('.column.differs') !== null")
    browser.press("\ue014")
    browser.wait(f"{STEP} === '{first + 1}'")
    browser.js("(document.querySelector('.controls select').value = 'turn')")
    browser.js("document.querySelector('.controls select').dispatchEvent(new Event('change'))")
    browser.wait("location.hash.includes('lock=turn')")
    quiet(browser)


def test_the_page_of_the_installed_wheel_opens_from_a_file(
    browser: Browser, runs: Path, tmp_path: Path
) -> None:
    """Scripts and styles travel in the wheel; the checkout is out of its sight."""
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    site = tmp_path / "site"
    zipfile.ZipFile(next(tmp_path.glob("*.whl"))).extractall(site)
    words = ("view", str(runs / "told"), "--out", "page.html")
    done = command("balrog_rag", *words, cwd=tmp_path, PYTHONPATH=str(site))
    assert (done.returncode, done.stderr) == (0, "")
    browser.open(f"{(tmp_path / 'page.html').as_uri()}#episode={EPISODE}&step=66")
    browser.wait(f"{STEP} === '66'")
    quiet(browser)


def test_a_link_to_a_step_is_copied(browser: Browser, page: Path) -> None:
    browser.open(f"{page.as_uri()}#episode={EPISODE}&step=9")
    browser.wait(f"{STEP} === '9'")
    browser.js(
        "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }"
    )
    browser.press("\ue014", "c")
    browser.wait("window.copied")
    assert browser.js("window.copied") == f"{page.as_uri()}#episode={EPISODE}&step=10"
    browser.press("m")
    browser.wait("window.copied.startsWith('### ')")
    assert "step 10" in browser.js("window.copied")
    quiet(browser)
