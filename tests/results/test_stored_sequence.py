"""Many stored episodes: results are the same as of episodes held as objects, and memory is bounded."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from balrog_rag.cli import compare, report
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.episode.packs import episode_named, journal_name
from balrog_rag.results import stored_sequence
from balrog_rag.results.episodes import Episode
from balrog_rag.results.runs import load
from balrog_rag.results.stored_episodes import StoredRows, columns_of
from balrog_rag.results.stored_sequence import StoredEpisodes, in_display_order, together
from balrog_rag.results.summary import write_all
from tests.results.conftest import NETHACK
from tests.wording import TOP

ENVIRONMENT = os.environ | {"PYTHONPATH": str(TOP)}


def written(ours: Path, theirs: Path, out: Path) -> dict[str, str]:
    """Everything that a report, a comparison and a summary of two runs say."""
    said = {}
    for name, main, words in (
        (
            "report",
            report.main,
            [ours, theirs, "--out", out, *["--formats", "csv,tex", "--pages", "none", "--partial"]],
        ),
        ("compare", compare.main, [ours, theirs, "--partial"]),
        ("tokens", compare.main, [ours, theirs, "--partial", "--measure", "tokens"]),
    ):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            assert main(list(map(str, words))) == 0
        said[name] = text.getvalue()
    for run in (ours, theirs):
        write_all(run)
    files = [*out.rglob("*.*"), *ours.rglob("*.csv"), *ours.rglob("*summary.json"), *theirs.rglob("*.csv")]
    return said | {str(path): path.read_text() for path in files}


def two_runs(new_run, planned: int) -> list[Path]:
    """Two runs of several tasks; where more episodes are planned, one of the first run is open."""
    made = []
    for name in ("a", "b"):
        run = new_run(name, agent=name, planned=planned)
        for number in range(6):
            depths = [{"depth": 1 + (number * (2 if name == "a" else 1)) % 4}]
            if planned and name == "a" and number == 2:
                run.write(f"{NETHACK}/02", run._rag_step(0, depths[0], 0.1))
                continue
            run.nethack(number, depths, outcome="died" if number % 2 else "steps")
            run.minihack("MiniHack-Room-5x5-v0", number, solved=number % 3 == 0)
        made.append(run.path)
    return made


@pytest.mark.parametrize("planned", [0, 8])
def test_results_of_rows_are_those_of_objects(new_run, tmp_path, monkeypatch, planned):
    ours, theirs = two_runs(new_run, planned)
    objects = written(ours, theirs, tmp_path / "report")
    assert not isinstance(load(ours).episodes, StoredEpisodes)
    monkeypatch.setattr(stored_sequence, "MANY", 0)
    assert isinstance(load(ours).episodes, StoredEpisodes)
    shutil.rmtree(tmp_path / "report")
    rows = written(ours, theirs, tmp_path / "report")
    assert rows == objects


def test_episodes_are_left_out_and_owed_by_name(monkeypatch):
    monkeypatch.setattr(stored_sequence, "MANY", 0)
    made = [
        Episode(f"{task}/{number:02d}", GameSpec("nle", "T", Seeds(1, 2)), {}, {}, {}, "s", "c")
        for task in ("nle/T", "nle/T/deep")
        for number in (0, 2, 100)
    ]
    parts = [
        StoredRows(len(each), {name: memoryview(data) for name, data in columns_of(each).items()})
        for each in (made[::2], made[1::2])
    ]
    found = in_display_order(parts)
    assert isinstance(found, StoredEpisodes)
    hidden = [episode_named(journal_name("nle/T/deep/02")), episode_named("nle/T/another file")]
    assert hidden == ["nle/T/deep/02", ""]
    left = found.without([*hidden, "nle/T/7", "nle/T/05"])
    assert [each.name for each in left] == [each.name for each in made if each.name != "nle/T/deep/02"]
    assert left.owed([("nle/T", 4), ("nle/T/deep", 3), ("x/y", 1)]) == [
        *("nle/T/01", "nle/T/03"),
        *("nle/T/deep/01", "nle/T/deep/02", "x/y/00"),
    ]
    assert [each.name for each in together([left, found[:2]])[4:]] == [
        "nle/T/deep/100",
        *("nle/T/00", "nle/T/02"),
    ]


def benchmark(code: str) -> str:
    """What a process prints that has the functions of benchmarks/million.py."""
    script = f"from pathlib import Path\nfrom benchmarks.million import measured, write_run\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=TOP, env=ENVIRONMENT
    )
    return done.stdout


@pytest.mark.slow
def test_packed_journals_give_the_results_of_files(tmp_path):
    runs = {pack: tmp_path / str(pack) / "run" for pack in (0, 1_000)}
    for pack, run in runs.items():
        benchmark(f"write_run(Path({str(run)!r}), 'naive', 5_500, 2, {pack}, 0)")
        words = [str(run), "--out", str(run.parent / "report"), *["--formats", "csv,tex", "--pages", "none"]]
        assert report.main(words) == 0
        write_all(run)
    assert len(list(runs[1_000].rglob("*.jsonl"))) == 6
    for name in ("report/episodes.csv", "report/tables.tex", "run/episodes.csv", "run/summary.json"):
        one, other = ((run.parent / name).read_bytes() for run in runs.values())
        assert one == other, name


@pytest.mark.slow
def test_memory_of_a_report_grows_by_little_for_a_row(tmp_path):
    """Measured in processes of their own; an object per episode took 19 to 22 kB."""
    code = (
        "from balrog_rag.cli.report import main; "
        "main([str(RUN), '--out', str(RUN.parent / 'report'), '--pages', 'none'])"
    )
    needed = []
    for rows in (5_000, 50_000):
        run = f"Path({str(tmp_path / str(rows) / 'run')!r})"
        said = benchmark(
            f"write_run({run}, 'naive', 500, 6, 10_000, {rows})\nprint(measured({code!r}, {run}))"
        )
        needed.append(float(said.partition("memory=")[2].partition(",")[0]))
    assert (needed[1] - needed[0]) * 1e6 / 45_000 < 4_000, needed
