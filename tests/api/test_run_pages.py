"""A run's displays in Python: a table, a report, the viewer's page, a check by replay."""

import asyncio
import shutil
from pathlib import Path

import pytest

import balrog_rag
from balrog_rag.api.run_pages import HtmlPage
from balrog_rag.contracts.errors import ConfigError
from tests.support import edit_journal

SHORT = (
    *("model=scripted", "env=corridor", "env.episodes=2"),
    *("limits.steps=4", "runner.workers=1", "runner.log=none"),
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[balrog_rag.Run]:
    folder = tmp_path_factory.mktemp("pages")
    return [
        balrog_rag.evaluate(*SHORT, f"agent={agent}", folder=folder / agent) for agent in ("naive", "dummy")
    ]


def test_a_notebook_shows_a_run_as_a_table(runs: list[balrog_rag.Run]) -> None:
    html = runs[0]._repr_html_()
    assert "<td>MiniHack-Corridor-R3</td><td>2</td>" in html
    assert "95 %" in html


def test_text_from_outside_is_escaped(runs: list[balrog_rag.Run]) -> None:
    told = balrog_rag.Run(runs[0].folder, ["<script>alert(1)</script>"])
    assert "<li>&lt;script&gt;" in told._repr_html_()
    page = HtmlPage(runs[0].folder / "page.html")
    page.path.write_text('<p title="a">"</p></iframe><script>x</script>')
    assert page._repr_html_().count("<") == 2  # its own frame
    assert 'sandbox="allow-scripts"' in page._repr_html_()


def test_a_report_compares_runs(runs: list[balrog_rag.Run], tmp_path: Path) -> None:
    page = runs[0].report(runs[1], out=tmp_path / "report", title="Two players")
    (verdict,) = page.notes
    assert verdict.startswith("dummy")
    assert "undecided" in verdict
    assert "Two players" in page.path.read_text()
    assert (tmp_path / "report/episodes.csv").is_file()


def test_the_viewer_writes_one_page(runs: list[balrog_rag.Run], tmp_path: Path) -> None:
    whole, one = runs[0].view(), runs[0].view(1, out=tmp_path / "one.html")
    assert whole.path == runs[0].folder / "view.html"
    assert one.path.stat().st_size < whole.path.stat().st_size
    assert whole.notes == []


def test_a_changed_journal_is_found(runs: list[balrog_rag.Run], tmp_path: Path) -> None:
    assert runs[0].verify() == []
    copy = balrog_rag.Run(shutil.copytree(runs[0].folder, tmp_path / "copy"))
    edit_journal(copy.journal(0), "step", lambda entry: entry.update(action="south"))
    (found,) = copy.verify()
    assert "step 0" in found


def test_it_works_where_an_event_loop_runs(runs: list[balrog_rag.Run], tmp_path: Path) -> None:
    async def notebook() -> tuple[list[str], HtmlPage]:
        return runs[0].verify(), runs[0].view(out=tmp_path / "view.html")

    verified, page = asyncio.run(notebook())
    assert (verified, page.path.is_file()) == ([], True)


def test_agents_and_tasks_are_listed() -> None:
    assert {"cot", "random", "delver"} <= set(balrog_rag.list_agents())
    assert "minihack/MiniHack-Corridor-R3-v0" in balrog_rag.list_tasks("minihack")
    assert {task.partition("/")[0] for task in balrog_rag.list_tasks()} >= {"nle", "minihack", "babyai"}
    with pytest.raises(ConfigError, match="did you mean"):
        balrog_rag.list_tasks("minihak")


def test_at_most_25_names_are_public() -> None:
    assert len(balrog_rag.__all__) <= 25
