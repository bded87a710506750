"""The search language, hits and labels in a real browser."""

import json
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.viewer import bundle
from balrog_rag.viewer.html_page import page as page_of
from balrog_rag.viewer.listing import listed
from balrog_rag.viewer.packing import packed
from tests.viewer.support import Browser, documents
from tests.viewer.test_browser import EPISODE, PANEL, STEP, quiet
from tests.viewer.test_episode_page import SAVED

pytestmark = pytest.mark.slow

NOTE = "document.querySelector('.search [role=status]').textContent"


@pytest.fixture(scope="module")
def page(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first episode alone, with known health and messages."""
    top = tmp_path_factory.mktemp("page")
    bundle.write(listed([runs / "told"])[:1], top / "told.html")
    found = documents(top / "told.html")
    health = [100] * 40 + [20] * 31
    curve = {"name": "health", "title": "health", "unit": "%", "values": health, "range": [0, 100]}
    found["0/head"]["curves"].append(curve)
    found["0/0"]["heard"][7] = "You feel that Anhur is displeased."
    out = top / "made.html"
    out.write_bytes(b"".join(page_of((name, packed(each)) for name, each in found.items())))
    return out


def steps(browser: Browser, page: Path, words: str) -> set[int]:
    """The steps that a search finds."""
    browser.open(f"{page.as_uri()}#search=", "document.querySelector('.search')")
    browser.wait(f"/characters searchable/.test({NOTE})")
    browser.driver.execute_script(
        """document.querySelectorAll('.search details').forEach((each) => { each.open = true; });
        const input = document.querySelector('.search input');
        document.querySelector('.search [role=status]').textContent = '';
        input.value = arguments[0];
        input.dispatchEvent(new Event('input'));""",
        words,
    )
    browser.wait(f"/ at |Not searched/.test({NOTE})")
    browser.js("document.querySelectorAll('.results details').forEach((each) => { each.open = true; })")
    more = "[...document.querySelectorAll('.results details')].every((each) => each.querySelector('li'))"
    browser.wait(more)
    links = browser.js("[...document.querySelectorAll('.results a')].map((each) => each.textContent)")
    return {int(each.rpartition(" ")[2]) for each in links}


def test_the_language(browser: Browser, page: Path) -> None:
    found = documents(page)
    kept = found["0/head"]["actions"]
    actions = [kept["names"][each] for each in kept["of"]]
    north = {at for at, each in enumerate(actions) if "north" in each}
    low = set(range(40, 71))
    spent = found["0/head"]["spent"]
    queries = {step for step, what in zip(spent["step"], spent["purpose"], strict=True) if what == "search"}
    assert north & low
    for words, wanted in (
        ("action:north", north),
        ("action:north & hp<0.3", north & low),
        ("action:north AND NOT hp<30", north - low),
        ("action:north OR step=3", north | {3}),
        ("(action:north | step<3) & step<=5", {at for at in north | {0, 1, 2} if at <= 5}),
        ('message:"You feel"', {7}),
        ("query:~^(newt|what)", queries),
        ("query:~[", set()),
        ("progression>5", set()),
        ("outcome:steps & step>=69", {69, 70}),
    ):
        assert steps(browser, page, words) == wanted, words
    assert "Not searched" not in browser.js(NOTE)
    quiet(browser)


def test_a_regular_expression_that_takes_too_long_is_ended(browser: Browser, page: Path) -> None:
    assert steps(browser, page, '~"(.+)+(.+)+(.+)+zqx"') == set()
    assert "took longer than 2 s" in browser.js(NOTE)
    assert steps(browser, page, "step=4") == {4}
    quiet(browser)


def test_hits_that_look_the_same_are_one_place(browser: Browser, page: Path) -> None:
    found = steps(browser, page, "action:north")
    kept = documents(page)["0/head"]["actions"]
    looks = {kept["names"][kept["of"][at]] for at in found}
    assert len(found) > 2 * len(looks)
    assert len(browser.js("[...document.querySelectorAll('.results section > ol > li')]")) <= len(looks)
    assert len(browser.js("[...document.querySelectorAll('.results p > a')]")) < len(found)


def test_a_hit_opens_its_tab_and_keys_lead_on(browser: Browser, page: Path) -> None:
    steps(browser, page, "passage:know")
    browser.js("document.querySelector('.results a').click()")
    browser.wait(f"document.querySelector('.panel mark') && {PANEL}")
    assert browser.js("document.querySelector('.panel mark').textContent") == "know"
    found = sorted(steps(browser, page, "action:north"))
    browser.js("document.querySelector('.results a').click()")
    browser.wait(f"document.querySelector('.count input') && {STEP} === '{found[0]}'")
    browser.press("n")
    browser.wait(f"{STEP} === '{found[1]}'")
    browser.press("n")
    browser.wait(f"{STEP} === '{found[2]}'")
    browser.press("N")
    browser.wait(f"{STEP} === '{found[1]}'")
    quiet(browser)


def labelled(browser: Browser, label: str, whole: bool = False) -> None:
    browser.wait("document.querySelector('.panel input[type=text]')")
    browser.driver.execute_script(
        """document.querySelector('.panel input[type=text]').value = arguments[0];
        document.querySelector('.panel input[type=checkbox]').checked = arguments[1];
        [...document.querySelectorAll('.panel button')].find((b) => b.textContent === 'Keep').click();""",
        label, whole,
    )  # fmt: skip
    browser.wait(
        f"document.querySelector('.notes') && document.querySelector('.notes').innerText.includes({label!r})"
    )


def test_labels_are_counted_searched_and_exported(browser: Browser, runs: Path, tmp_path: Path) -> None:
    bundle.write(listed([runs / "told"]), tmp_path / "told.html")
    browser.open(f"{(tmp_path / 'told.html').as_uri()}#episode={EPISODE}&step=7&tab=notes")
    labelled(browser, "lost")
    labelled(browser, "good game", whole=True)
    browser.js(SAVED)
    browser.js(
        "[...document.querySelectorAll('.panel button')].find((b) => /as CSV/.test(b.textContent)).click()"
    )
    lines = browser.wait("window.saved").splitlines()
    assert lines[0] == "episode,step,label,note,at"
    assert sorted(line.split(",")[1:3] for line in lines[1:]) == [['""', '"good game"'], ['"7"', '"lost"']]
    browser.press("r")
    browser.wait("document.querySelector('.head')")
    assert "lost: 1" in browser.js("document.querySelector('.head').textContent")
    names = "[...document.querySelectorAll('.list tbody th a')].map((each) => each.textContent)"
    browser.driver.execute_script(
        """const filter = document.querySelector('.bar input[type=search]');
        filter.value = 'label:"good game" & progression<5';
        filter.dispatchEvent(new Event('input'));"""
    )
    assert browser.js(names) == [EPISODE]
    quiet(browser)


def test_labels_are_kept_beside_the_run(runs: Path) -> None:
    from balrog_rag.viewer.notes import Note, NoteChange, acceptable

    assert acceptable(NoteChange("x", -1, "", label="lost"))
    for wrong in (NoteChange("x", 1, " "), NoteChange("x", -2, "a"), NoteChange("x", 1, "", label="a" * 101)):
        assert not acceptable(wrong)
    import msgspec

    made: Any = json.loads(msgspec.json.encode(Note("x", 1, "a")))
    assert made == {"episode": "x", "step": 1, "text": "a"}


def test_an_expression_marks_where_it_begins_to_hold(browser: Browser, runs: Path, tmp_path: Path) -> None:
    bundle.write(listed([runs / "told"])[:1], tmp_path / "marked.html", mark="step>=10 & step<12 | step=20")
    browser.open((tmp_path / "marked.html").as_uri() + "#step=0&tab=marks")
    note = "document.querySelector('.panel [role=status]')?.textContent"
    browser.wait(f"{note} === 'begins to hold at 2 steps'")
    kinds = "[...document.querySelectorAll('.kinds label')].map((each) => each.textContent.trim())"
    assert "matches the expression" in browser.js(kinds)
    browser.driver.execute_script(
        """const box = document.querySelector('.panel input[type=search]');
        box.value = 'step=33';
        box.dispatchEvent(new Event('change'));"""
    )
    browser.wait(f"{note} === 'begins to hold at 1 step' && location.hash.includes('mark=step')")
    browser.open(browser.js("location.href"))
    browser.wait(f"{note} === 'begins to hold at 1 step'")
    browser.driver.execute_script(
        """const box = document.querySelector('.panel input[type=search]');
        box.value = 'action:~(';
        box.dispatchEvent(new Event('change'));"""
    )
    browser.wait(f"{note}.startsWith('Not marked: ')")
