"""The page in a real browser, from a file: it opens, seeks, jumps, and takes no text for markup."""

from pathlib import Path

import pytest

from balrog_rag.viewer import bundle
from balrog_rag.viewer.listing import listed
from tests.viewer.support import Browser, documents

pytestmark = pytest.mark.slow

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
    """No complaint, and nothing asked for but the page itself."""
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
    assert browser.js("document.querySelectorAll('main script, main svg, .panel img').length") == 0
    assert browser.js("[...document.links].filter((a) => a.href.startsWith('javascript')).length") == 0
    quiet(browser)


def test_the_prompt_of_a_step_is_beside_the_one_before(browser: Browser, page: Path) -> None:
    browser.open(f"{page.as_uri()}#episode={EPISODE}&step=30&tab=prompt")
    browser.wait("document.querySelector('.message.new')")
    assert "as in the prompt before" in browser.js(PANEL)
    assert browser.js("document.querySelectorAll('.lines .added').length") > 0
    browser.js("document.querySelector('.choices input').click()")
    browser.wait("!document.querySelector('.lines')")
    whole = browser.js(PANEL)
    assert "assistant" in whole
    quiet(browser)


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
