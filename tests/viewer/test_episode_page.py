"""The page of an episode in a real browser: look-ups, loops, map, inventory, neighbours, what is copied."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.viewer import bundle
from balrog_rag.viewer.html_page import page as page_of
from balrog_rag.viewer.listing import listed
from balrog_rag.viewer.packing import packed
from tests.viewer.support import Browser, documents
from tests.viewer.test_browser import EPISODE, PANEL, STEP, quiet

pytestmark = pytest.mark.slow

COPY = "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }"


@pytest.fixture(scope="module")
def page(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "told.html"
    bundle.write(listed([runs / "told"]), out)
    return out


def opened(browser: Browser, page: Path, step: int, tab: str = "step") -> None:
    browser.open(f"{page.as_uri()}#episode={EPISODE}&step={step}&tab={tab}")
    browser.wait(f"{STEP} === '{step}'")


def changed(page: Path, out: Path, **head: Any) -> Path:
    """The page with another head of its first episode."""
    found = documents(page)
    found["0/head"] |= head
    out.write_bytes(b"".join(page_of((name, packed(each)) for name, each in found.items())))
    return out


PIXELS = """((x, y, width, height) => {
    const canvas = document.querySelector('canvas.timeline');
    const { data } = canvas.getContext('2d').getImageData(x, y, width, height);
    return [...Array(width * height).keys()].filter((at) => data[4 * at + 3] > 0).length;
})"""
"""How many pixels of a part of the timeline are painted."""


def test_look_ups_are_ticks_and_loops_are_shaded(browser: Browser, page: Path, tmp_path: Path) -> None:
    browser.size(1000)
    out = changed(page, tmp_path / "made.html", lookups=[[35, 100, [0]]], loops=[[20, 30]], marks=[])
    opened(browser, out, 0)
    width = browser.js("document.querySelector('canvas.timeline').width")
    x = lambda at: round(118 + at / 70 * (width - 118 - 52))  # noqa: E731
    assert browser.js(f"{PIXELS}({x(35) - 2}, 28, 4, 18)") > 20
    assert browser.js(f"{PIXELS}({x(40) - 2}, 28, 4, 18)") == 0
    assert browser.js(f"{PIXELS}({x(25)}, 4, 4, 4)") == 16
    assert browser.js(f"{PIXELS}({x(40)}, 4, 4, 4)") == 0
    browser.logs()  # the browser advises against reading a canvas twice


def test_depth_is_drawn_downwards(browser: Browser, page: Path, tmp_path: Path) -> None:
    curve = {"name": "depth", "title": "depth", "unit": "levels", "values": [1] * 20 + [9] * 51, "down": True}
    out = changed(page, tmp_path / "deep.html", curves=[curve], lookups=[], loops=[])
    opened(browser, out, 0)
    width = browser.js("document.querySelector('canvas.timeline').width")
    x = round(118 + 50 / 70 * (width - 118 - 52))
    assert browser.js(f"{PIXELS}({x}, 28, 4, 12)") == 0
    assert browser.js(f"{PIXELS}({x}, 42, 4, 10)") > 0
    browser.logs()


def test_passages_say_when_they_were_seen_first(browser: Browser, page: Path) -> None:
    lookups = documents(page)["0/head"]["lookups"]
    first, again = next(
        (one[0], other[0]) for one in lookups for other in lookups if one[0] < other[0] and one[2] == other[2]
    )
    opened(browser, page, again)
    browser.wait(f"{PANEL}.includes('seen at step {first}')")
    assert browser.js("document.querySelector('.passages details').open")
    browser.js("document.querySelector('.passages button.old').click()")
    browser.wait(f"{STEP} === '{first}'")
    assert "new" in browser.js("document.querySelector('.passages summary').textContent")
    browser.driver.back()
    browser.wait(f"{STEP} === '{again}'")
    quiet(browser)


def test_the_map_has_every_square_and_level(browser: Browser, page: Path, tmp_path: Path) -> None:
    squares = {"row": 1000, "of": [5003, 5004, *[7010] * 69], "levels": [[0, "1"], [2, "2 in the Mines"]]}
    out = changed(page, tmp_path / "map.html", squares=squares)
    opened(browser, out, 1, "map")
    browser.wait("document.querySelectorAll('.minimaps button').length === 2")
    assert "Level 1: 2 squares visited" in browser.js(PANEL)
    browser.js("document.querySelectorAll('.minimaps button')[1].click()")
    browser.wait(f"{PANEL}.includes('Level 2 in the Mines: 1 square visited in 69 steps')")
    quiet(browser)


def test_the_inventory_is_a_difference(browser: Browser, page: Path, tmp_path: Path) -> None:
    found = documents(page)
    chunk = found["0/0"]
    chunk["inventories"] = ["a - a dagger\nb - an apple", "a - a dagger"]
    chunk["carried"] = [0] * 5 + [1] * (len(chunk["screens"]) - 5)
    found["0/head"]["firsts"]["inventories"] = [0]
    out = tmp_path / "inventory.html"
    out.write_bytes(b"".join(page_of((name, packed(each)) for name, each in found.items())))
    opened(browser, out, 5)
    browser.wait("document.querySelector('.lines .gone')")
    assert browser.js("document.querySelector('.lines').textContent").strip() == "- b - an apple"
    browser.press("\ue014")
    browser.wait(f"{STEP} === '6' && !document.querySelector('.lines .gone')")
    quiet(browser)


def test_neighbours_follow_the_lists_order(browser: Browser, page: Path) -> None:
    browser.open(f"{page.as_uri()}#sort=episode", "document.querySelector('.list')")
    browser.js("document.querySelector('.list tbody a').click()")
    browser.wait("document.querySelector('.screen pre')")
    here = "new URLSearchParams(location.hash.slice(1)).get('episode')"
    assert browser.js(here).endswith("/01")  # downwards
    browser.press(">")
    browser.wait(f"{here}.endsWith('/00')")
    assert "previous: " in browser.js("document.querySelector('.beside').textContent")
    browser.press(">")
    browser.wait("document.querySelector('#status').textContent === 'No next episode'")
    browser.press("<")
    browser.wait(f"{here}.endsWith('/01')")
    quiet(browser)


def chosen(browser: Browser, act: str) -> str:
    """Choose one of the further things to copy, and return what was copied."""
    browser.js(f"({COPY})")
    browser.driver.execute_script(
        """window.copied = '';
        const box = document.querySelector('.more-acts');
        box.value = arguments[0];
        box.dispatchEvent(new Event('change'));""",
        act,
    )
    return str(browser.wait("window.copied"))


def test_a_call_is_copied_without_its_key(browser: Browser, page: Path) -> None:
    opened(browser, page, 3)
    words = shlex.split(chosen(browser, "curl"))
    assert words[:2] == ["curl", "https://api.openai.com/v1/chat/completions"]
    assert "Authorization: Bearer $OPENAI_API_KEY" in words
    body = json.loads(words[-1])
    assert body["messages"][-1]["role"] == "user"
    assert "\n" in body["messages"][-1]["content"]
    program = chosen(browser, "python")
    compile(program, "call.py", "exec")
    assert 'os.environ["OPENAI_API_KEY"]' in program
    assert chosen(browser, "fork").startswith("balrog-rag fork told/nle/NetHackChallenge-v0/")
    quiet(browser)


SAVED = """(() => { window.saved = null; const made = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
        blob.text().then((text) => { window.saved = text; });
        return made(blob);
    }; })()"""


def test_an_episode_is_downloaded_in_the_trajectory_format(browser: Browser, page: Path) -> None:
    atif = pytest.importorskip("atif", reason="atif is not installed: pip install 'balrog_rag[local]'")
    opened(browser, page, 3)
    browser.js(SAVED)
    browser.driver.execute_script(
        """const box = document.querySelector('.more-acts');
        box.value = 'atif';
        box.dispatchEvent(new Event('change'));"""
    )
    made = atif.Trajectory.model_validate(json.loads(browser.wait("window.saved")))
    found = documents(page)
    assert len(made.steps) == found["0/head"]["steps"] + 1
    spent = found["0/head"]["spent"]
    assert made.final_metrics.total_prompt_tokens == sum(spent["input"])
    quiet(browser)


def test_a_passage_is_followed_by_the_nearest_sentence_of_the_summary(
    browser: Browser, page: Path, tmp_path: Path
) -> None:
    found = documents(page)
    newt = next(n for n, passage in enumerate(found["0/0"]["passages"]) if "north" in passage[2])
    at, said, place = next(
        (at, step["said"], place)
        for at, step in enumerate(found["0/0"]["steps"])
        for place, each in enumerate(step.get("said", ()))
        if newt in [number for number, _ in each.get("found", ())]
    )
    text = "Nothing else is near. About north and south we know much. Go on."
    said.insert(place + 1, {"for": "summary", "text": text, "cost": 0, "seconds": 0})
    out = tmp_path / "summary.html"
    out.write_bytes(b"".join(page_of((name, packed(each)) for name, each in found.items())))
    opened(browser, out, at)
    led = browser.js("[...document.querySelectorAll('.led q')].map((each) => each.textContent)")
    assert "About north and south we know much." in led
