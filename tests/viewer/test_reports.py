"""Reports in a browser: tables that sort and filter, links to episodes, phones, dark mode."""

import io
import shutil
from pathlib import Path

import pytest

from balrog_rag.results.report.episode_pages import EpisodePages
from balrog_rag.results.runs import load
from balrog_rag.viewer import bundle, linked_pages
from balrog_rag.viewer.bundle import BackLink
from balrog_rag.viewer.listing import listed
from tests.support import command
from tests.viewer.support import Browser, documents

EPISODE = "nle/NetHackChallenge-v0/00"


@pytest.fixture(scope="module")
def report(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on both runs, with their pages; the one with retrieval has a page already."""
    top = tmp_path_factory.mktemp("reported")
    for name in ("told", "plain"):
        shutil.copytree(runs / name, top / name)
    bundle.write(listed([top / "told"]), top / "told" / "view.html")
    done = command("balrog_rag.report", "told", "plain", "--out", "out", cwd=top)
    assert done.returncode == 0, done.stderr
    return top / "out" / "report.html"


def test_an_episode_is_reached_in_its_runs_page_where_there_is_one(tmp_path: Path) -> None:
    run = tmp_path / "a run"
    run.mkdir()
    assert EpisodePages(tmp_path / "out").episode(run, EPISODE) == ""
    (run / "view.html").touch()
    assert EpisodePages(tmp_path / "out").episode(run, EPISODE) == f"../a%20run/view.html#episode={EPISODE}"


@pytest.mark.slow
def test_pages_are_written_once_within_bounds_and_lead_back(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = report.parents[1]
    assert [path.name for path in (report.parent / "pages").iterdir()] == ["plain.html"], "told has its own"
    text = report.read_text()
    assert f'href="../told/view.html#episode={EPISODE}"' in text
    assert f'href="pages/plain.html#episode={EPISODE}&amp;step=' in text, "an end leads to its step"
    page = documents(report.parent / "pages/plain.html")
    assert page["run"]["back"] == {"text": "told+plain", "href": "../report.html"}
    loaded = [load(top / "plain"), load(top / "told")]
    monkeypatch.setattr(linked_pages, "FEW_STEPS", 3)
    bounded = linked_pages.write_pages(loaded, tmp_path, BackLink("x", "y"))
    assert (bounded.written, list(tmp_path.iterdir())) == ({}, [])
    assert "(limit 3); write them with --pages all" in bounded.notes[0]
    (top / "plain/view.html").touch()
    monkeypatch.setattr(linked_pages, "MOST_MB", -1)
    (top / "told/view.html").unlink()
    full = linked_pages.write_pages(loaded, tmp_path, BackLink("x", "y"), "all")
    assert full.notes == ["no page written for told: the others have 0 MB (limit -1 MB)"]
    (top / "plain/view.html").unlink()
    bundle.write(listed([top / "told"]), top / "told" / "view.html")


@pytest.mark.slow
def test_a_report_leads_to_episodes_and_its_tables_sort_and_filter(browser: Browser, report: Path) -> None:
    browser.size(1200)
    browser.open(report.as_uri(), "document.querySelector('th button')")
    table = "[...document.querySelectorAll('table')].at(-1)"
    place = browser.js(f"[...{table}.tHead.rows[0].cells].findIndex((head) => head.textContent === 'steps')")
    cells = f"[...{table}.tBodies[0].rows].map((row) => row.cells[{place}].textContent)"
    steps = browser.js(cells)
    assert sorted(map(int, steps)) == [20, 20, 70, 70]
    for wanted in (["70", "70", "20", "20"], ["20", "20", "70", "70"]):
        browser.js(f"{table}.tHead.rows[0].cells[{place}].querySelector('button').click()")
        assert browser.js(cells) == wanted
    complaints, asked = browser.logs()
    assert complaints == []
    assert [url for url in asked if not url.startswith(("file:", "about:", "data:"))] == []
    browser.size(400, scheme="dark")
    assert browser.js("document.documentElement.scrollWidth") <= 400
    assert browser.js("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    browser.size(1200)
    browser.js(f"[...{table}.querySelectorAll('a')].find((a) => a.href.includes('view.html')).click()")
    browser.wait("document.querySelector('.screen pre')")
    assert EPISODE[:-2] in browser.js("document.querySelector('h1').textContent")
    browser.open(report.as_uri(), "document.querySelector('th button')")
    browser.js(f"[...{table}.querySelectorAll('a')].find((a) => /plain.html.*step=/.test(a.href)).click()")
    browser.wait("['20', '70'].includes(document.querySelector('.count input')?.value)")
    browser.js("document.querySelector('a.back').click()")
    browser.wait("document.querySelector('dl.card')")


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "paper"), [("light", (255, 255, 255)), ("dark", (20, 23, 26))])
def test_figures_stand_on_the_pages_paper_and_can_be_read(
    browser: Browser, report: Path, scheme: str, paper: tuple[int, int, int]
) -> None:
    """Most of a figure is the page's own paper, and its letters are far lighter or darker."""
    from PIL import Image

    browser.size(400, scheme=scheme)
    browser.open(report.as_uri(), "document.querySelector('figure img').complete")
    assert browser.js("document.documentElement.scrollWidth") <= 400
    for figure in browser.driver.find_elements("css selector", "figure"):
        picture = Image.open(io.BytesIO(figure.screenshot_as_png)).convert("RGB")
        found = sorted(picture.getcolors(1 << 20) or [], reverse=True)
        assert found[0][1] == paper
        assert max(abs(sum(colour) - sum(paper)) for _, colour in found) > 600
    natural = "[...document.querySelectorAll('figure img')].every((each) => each.width === each.naturalWidth)"
    assert browser.js(natural)
