"""The report: verdicts first, hostile text harmless, no network access."""

import base64
import csv
import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib.util import find_spec
from xml.etree import ElementTree

import pytest

from balrog_rag.cli.report import main as report_command
from balrog_rag.cli.report import name_of
from balrog_rag.results.arms import differences, load_arms
from balrog_rag.results.report.figures import progress_figure
from balrog_rag.results.report.markdown import escaped
from balrog_rag.results.report.style import label
from balrog_rag.results.run_folder import write_json
from balrog_rag.results.summary import write_all
from tests.support import command

EVIL = "<script>alert(1)</script><img src=//evil.example/x onerror=alert(2)>"


def main(words):
    """Write a report without replaying these made-up journals for the viewer."""
    return report_command([*words, "--pages", "none"])


@pytest.fixture
def sweep(new_run, tmp_path):
    """Two arms of eight shared games each, the second one better; the game's text is hostile."""
    for name, levels in (("plain", [1, 1, 1, 2, 1, 1, 1, 2]), ("rag", [3, 3, 4, 3, 5, 3, 3, 4])):
        run = new_run(f"sweep/{name}", agent=name)
        for number, level in enumerate(levels):
            run.nethack(
                number, [{"experience_level": level}, {"score": 5}], death=f"killed by {EVIL}|`*_[x](y)"
            )
        run.minihack("MiniHack-Corridor-R3-v0", 0, name == "rag")
    return tmp_path / "sweep"


class Page(HTMLParser):
    """Tags with their attributes, and the text between."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_begins_with_the_verdict_and_holds_every_section(sweep, tmp_path, capsys):
    assert main([str(sweep), "--out", str(tmp_path / "out"), "--baseline", "plain"]) == 0
    assert "rag against plain: higher more often: scores higher in 100% of pairs, " in capsys.readouterr().out
    text = (tmp_path / "out/report.html").read_text()
    page = Page(text)
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", text)
    assert headings == [
        "Verdicts", "Scores", "Other protocols", "Costs", "How episodes ended", "Retrieval",
        "Methods", "Settings that differ", "Provenance", "Episodes",
    ]  # fmt: skip
    assert "rag against plain: higher more often: scores higher in 100% of pairs, " in "".join(page.texts)
    places = [text.index(part) for part in ('<dl class="card">', "<figure", '<p class="verdict higher-')]
    assert places == sorted(places), "the summary, the forest plot, the verdicts"
    assert sum(tag == "img" for tag, _ in page.tags) == 8


def test_hostile_words_stay_words(sweep, tmp_path):
    main([str(sweep), "--out", str(tmp_path / "out"), "--formats", "html,md"])
    page = Page((tmp_path / "out/report.html").read_text())
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"iframe", "object", "embed", "form", "link", "base"}
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]
    assert f"killed by {EVIL}|`*_[x](y)" in page.texts
    assert sum(tag == "script" for tag, _ in page.tags) == 1  # the page's own, which sorts tables
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv"))
    assert re.match(r"default-src 'none'; script-src 'sha256-[\w+/=]{44}'; img-src data:; style", policy)
    markdown = (tmp_path / "out/report.md").read_text()
    assert "<script" not in markdown.replace("\\<script", "")


def test_every_address_stays_on_the_page_or_beside_it(sweep, tmp_path):
    main([str(sweep), "--out", str(tmp_path / "out"), "--formats", "html"])
    page = Page((tmp_path / "out/report.html").read_text())
    assert not [attrs for tag, attrs in page.tags if tag == "a" and "jsonl" in attrs["href"]]
    note = next(text for text in page.texts if "Episodes link to their replay" in text)
    assert "No page exists for " in note
    for run in {path.parent for path in sweep.rglob("config.json")}:
        (run / "view.html").touch()
    main([str(sweep), "--out", str(tmp_path / "out"), "--formats", "html"])
    page = Page((tmp_path / "out/report.html").read_text())
    assert not any("No page exists" in text for text in page.texts)
    for tag, attrs in page.tags:
        for name in ("src", "href"):
            if name in attrs:
                kind = "data:image/svg+xml;base64," if tag == "img" else ("#", "../")
                assert attrs[name].startswith(kind), (tag, attrs)
    links = [attrs["href"] for tag, attrs in page.tags if tag == "a" and attrs["href"].startswith("../")]
    assert len(links) == 36, "each episode and each end"
    assert all((tmp_path / "out" / link.partition("#")[0]).is_file() for link in links)


def test_figures_of_the_page_take_its_colours_by_day_and_by_night(sweep, tmp_path):
    """Files of figures stay black on white; in the page nothing does, and an arm's colour stays."""
    main([str(sweep), "--out", str(tmp_path / "out"), "--formats", "html,svg"])
    page = Page((tmp_path / "out/report.html").read_text())
    shown = [attrs["src"].partition(",")[2] for tag, attrs in page.tags if tag == "img"]
    figures = [base64.b64decode(each).decode() for each in shown]
    assert len(figures) == 8
    for figure in figures:
        ElementTree.fromstring(figure)
        assert not re.search("(fill|stroke): #(000000|ffffff|dddddd)", figure)
        assert figure.count("prefers-color-scheme: dark") == 1
    beside = (tmp_path / "out/figures/scores.svg").read_text()
    assert "fill: #ffffff" in beside
    assert "var(" not in beside
    assert beside.count("fill: #0072b2") == figures[1].count("fill: #0072b2") > 0


def test_powers_of_ten_are_figures(sweep, tmp_path):
    """The marks of a wide scale are numbers, not the formulas that matplotlib would have set."""
    main([str(sweep), "--out", str(tmp_path / "out"), "--formats", "svg"])
    drawn = (tmp_path / "out/figures/survival.svg").read_text()
    assert "<!-- 100 -->" in drawn
    assert "mathdefault" not in drawn


def test_the_data_beside_the_page_holds_everything(sweep, tmp_path):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    main([str(sweep), "--out", str(tmp_path / "out"), "--formats", "csv,parquet"])
    with (tmp_path / "out/episodes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 18
    assert parquet.read_table(tmp_path / "out/episodes.parquet").num_rows == 18
    with (tmp_path / "out/verdicts.csv").open() as file:
        verdict = next(csv.DictReader(file))
    assert float(verdict["p"]) < 0.05
    assert verdict["arm"] == "rag"


@pytest.mark.slow
def test_figures_come_in_every_format_and_always_the_same(sweep, tmp_path):
    for out in ("one", "two"):
        main([str(sweep), "--out", str(tmp_path / out), "--formats", "png,svg,pdf"])
    files = sorted(path.name for path in (tmp_path / "one/figures").iterdir())
    names = ["forest", "outcomes", "progress_over_dollars", "progress_over_steps", "retrieval", "scores"]
    names += ["scores_over_dollars", "survival"]
    assert files == sorted(f"{name}.{kind}" for name in names for kind in ("png", "svg", "pdf"))
    for name in files:
        assert (tmp_path / "one/figures" / name).read_bytes() == (
            tmp_path / "two/figures" / name
        ).read_bytes()
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for name in files:
        assert (tmp_path / "one/figures" / name).read_bytes().startswith(starts[name.rpartition(".")[2]])


def test_every_curve_is_named_whichever_panel_it_is_in(new_run):
    one, two = new_run("one"), new_run("two", agent="cot")
    one.nethack(0, [{"experience_level": 2}] * 3)
    two.minihack("MiniHack-Corridor-R3-v0", 0, True)
    arms = load_arms([one.path, two.path])
    figure = progress_figure(arms, "step", "agent steps")
    named = {text.get_text() for axis in figure.axes for text in axis.texts}
    assert named == {"one", "two"}


def test_a_report_on_many_runs_has_all_their_names(new_run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        new_run(name, agent=name).nethack(0, [{"experience_level": 2}], cost=0.0)
    assert main(["one", "two", "--formats", "html"]) == 0
    assert "report: reports/one+two/report.html" in capsys.readouterr().out
    page = (tmp_path / "reports/one+two/report.html").read_text()
    assert "<title>one+two</title>" in page
    assert re.search(">free</td>", page)
    assert name_of([tmp_path / "one"]) == "one"
    long = name_of([tmp_path / f"run_{number}" for number in range(40)])
    assert len(long) == 80
    assert long != name_of([tmp_path / f"run_{number}" for number in range(41)])


def test_runs_of_one_configuration_are_one_arm(new_run):
    builders = [new_run(f"seed{n}", agent="cot") for n in range(2)]
    for number, builder in enumerate(builders):
        builder.nethack(0, [{}], seed=number)
    arms = load_arms([builder.path for builder in builders])
    assert len(arms) == 1
    assert len(arms[0].episodes) == 2
    assert arms[0].name == "cot scripted"


def test_a_sweeps_first_run_is_the_baseline(new_run, tmp_path):
    for name in ("agent=naive", "agent=cot"):
        new_run(f"s/{name}", agent=name.partition("=")[2]).nethack(0, [{}])
    write_json(
        tmp_path / "s/sweep.json", {"words": [], "runs": [{"name": "agent=naive"}, {"name": "agent=cot"}]}
    )
    assert [arm.name for arm in load_arms([tmp_path / "s"])] == ["agent=naive", "agent=cot"]


@pytest.mark.parametrize(
    "text", [b'{"words": ["\xff"], "runs": []}', b'{"runs": [{"name": "\xff"}]}', b"[", b'{"runs": 3}']
)
def test_runs_are_read_whatever_their_sweeps_file_says(sweep, tmp_path, text):
    (sweep / "sweep.json").write_bytes(text)
    assert main([str(sweep), "--out", str(tmp_path / "out"), "--formats", "csv"]) == 0


def test_parquet_is_written_unasked_where_it_can_be(builder, tmp_path):
    builder.nethack(0, [{}])
    assert main([str(builder.path), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out/episodes.csv").is_file()
    assert (tmp_path / "out/episodes.parquet").is_file() == (find_spec("pyarrow") is not None)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("balrog_rag.results", ["rebuild", "nowhere"]),
        ("balrog_rag.models", ["serve", "--model", "nowhere.gguf"]),
    ],
)
def test_every_command_calls_a_mistake_an_error(tmp_path, module, words):
    done = command(module, *words, cwd=tmp_path)
    assert done.returncode != 0
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_settings_that_differ_are_named():
    a = {"agent": {"name": "cot", "retrieval": {"k": 3}}, "model": {"name": "m"}}
    b = {"agent": {"name": "cot", "retrieval": {"k": 5}}, "model": {"name": "m"}, "more": {}}
    assert differences([a, b]) == [("agent.retrieval.k", [3, 5]), ("more", [None, {}])]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nowhere"], "nowhere: neither a run folder nor a folder of run folders"),
        (["SWEEP", "--baseline", "plian"], "--baseline plian: unknown arm; did you mean plain?"),
        (["SWEEP", "--formats", "gif"], "--formats gif: unknown format; valid formats: html"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(sweep, tmp_path, capsys, words, problem):
    out = tmp_path / "out"
    assert main([word.replace("SWEEP", str(sweep)) for word in words] + ["--out", str(out)]) != 0
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_an_experiments_sweep_brings_title_and_baseline(new_run, tmp_path):
    for arm in ("summarised", "full"):
        run = new_run(f"sweep/{arm}", agent=arm)
        run.nethack(0, [{"experience_level": 2}])
    sweep = {"words": ["+experiment=paper_table1", "model=scripted"], "runs": []}
    (tmp_path / "sweep/sweep.json").write_text(json.dumps(sweep))
    assert main([str(tmp_path / "sweep"), "--out", str(tmp_path / "out"), "--formats", "html"]) == 0
    page = (tmp_path / "out/report.html").read_text()
    assert "<h1>wiki-BALROG, Table 1" in page
    assert "summarised against full: " in page


def test_an_empty_run_gives_a_page_without_a_verdict(builder, tmp_path):
    assert main([str(builder.path), "--out", str(tmp_path / "out")]) == 0
    assert "no finished episode, no verdict" in (tmp_path / "out/report.html").read_text()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a|b", r"a\|b"),
        ("<b>", r"\<b\>"),
        ("[x](y)", r"\[x\](y)"),
        ("*a*\nb", r"\*a\* b"),
        ("&lt;", "&amp;lt;"),
    ],
)
def test_markdown_reads_nothing_into_a_text(text, written):
    assert escaped(text) == written


def test_a_long_label_has_two_lines_and_no_control_characters():
    assert label("x" * 200).count("\n") == 1
    assert len(label("x" * 200)) < 72
    assert label("a\x1b[31mb\n") == "a·[31mb"


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
BROWSERS_OWN = re.compile(r"https?://([\w.-]*\.)?(google|googleapis|gstatic|gvt1|chromium)\.(com|org)[:/]")


def browse(page, folder):
    """Open a page in headless Chromium; return its console messages and the addresses it requested."""
    log, asked = folder / "chrome.log", folder / "net.json"
    subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--no-first-run", "--enable-logging", "--v=0",
         f"--log-file={log}", f"--log-net-log={asked}", f"--user-data-dir={folder / 'profile'}",
         "--window-size=1300,2000", f"--screenshot={folder / 'page.png'}", f"file://{page}"],
        check=True, capture_output=True, env={**os.environ, "HOME": str(folder)},
    )  # fmt: skip
    events = json.loads(asked.read_text())["events"]
    addresses = {event["params"]["url"] for event in events if "url" in event.get("params", {})}
    foreign = {
        address for address in addresses if address.startswith("http") and not BROWSERS_OWN.match(address)
    }
    return [line for line in log.read_text(errors="replace").splitlines() if "CONSOLE" in line], foreign


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is missing: apt-get install chromium")
def test_a_browser_finds_no_fault_and_asks_nobody(sweep, tmp_path):
    main([str(sweep), "--out", str(tmp_path / "out")])
    assert browse(tmp_path / "out/report.html", tmp_path) == ([], set())
    assert (tmp_path / "page.png").stat().st_size > 50_000


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is missing: apt-get install chromium")
def test_the_browser_would_have_told(tmp_path):
    loud = "<script>console.error('here')</script><img src='http://127.0.0.1:9/picture'>"
    (tmp_path / "loud.html").write_text(loud)
    said, asked = browse(tmp_path / "loud.html", tmp_path)
    assert "here" in said[0]
    assert asked == {"http://127.0.0.1:9/picture"}


def test_a_report_is_not_written_into_a_run_folder(builder, capsys):
    builder.nethack(0, [{"depth": 2}])
    write_all(builder.path)
    before = {path: path.read_bytes() for path in builder.path.rglob("*") if path.is_file()}
    assert report_command([str(builder.path), "--out", str(builder.path), "--formats", "csv"]) == 2
    assert f"--out {builder.path}: is a run folder, whose files could be lost" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in builder.path.rglob("*") if path.is_file()} == before
