"""Files of a run folder that are too large, or that another name shares."""

import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.cli import episode, report, results, view
from balrog_rag.cli.main import main as evaluate_main
from balrog_rag.contracts.errors import JournalError, RunFolderError
from balrog_rag.episode import journal
from balrog_rag.episode.journal_writer import Writer
from balrog_rag.results.run_folder import journals
from balrog_rag.util.files import LARGE, MEGABYTE, MOST, read_file, text_file
from tests.episode.test_journal import header
from tests.run.support import running, scripted
from tests.support import command, evaluate

TASK = "NetHackChallenge-v0"
STEM = f"nle/{TASK}/{TASK}_run_00"
FIVE_GIGABYTES = 5120 * MEGABYTE


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two episodes, of which the second is unfinished."""
    place = tmp_path_factory.mktemp("files")
    words = ["agent=naive", "env.episodes=2", f"env.tasks=[nle/{TASK}]", "limits.steps=2", "runner.log=none"]
    assert evaluate(*words, "run.name=r", cwd=place).returncode == 0
    path = journals(place / "results/r")[1]
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    return place / "results/r"


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    return shutil.copytree(played, tmp_path / "r")


def said_by(command: Any, capsys: Any) -> tuple[int, str]:
    code = command()
    told = capsys.readouterr()
    return code, told.out + told.err


def sparse(path: Path) -> Path:
    """A file that claims five gigabytes and uses no disk space."""
    with path.open("r+b") as file:
        file.truncate(FIVE_GIGABYTES)
    return path


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_file(tmp_path / "file", 5) == b"12345"
    with pytest.raises(OSError, match="at most 0 MB are read"):
        read_file(tmp_path / "file", 4)
    assert LARGE > MOST


def test_a_sparse_configuration_is_refused_by_every_command(run: Path, tmp_path: Path, capsys: Any) -> None:
    path = sparse(run / "config.json")
    for verb in (
        lambda: evaluate_main([f"resume={run}", "runner.log=none"]),
        lambda: episode.main(["verify", str(run)]),
        lambda: report.main([str(run), "--out", str(tmp_path / "report")]),
        lambda: view.main([str(run), "--out", str(tmp_path / "view.html")]),
        lambda: results.main(["rebuild", str(run)]),
    ):
        code, said = said_by(verb, capsys)
        assert code == 1
        assert f"{path}: cannot be read (5120 MB, at most 64 MB are read)" in said


def test_a_sparse_journal_is_named_and_the_others_are_read(run: Path, tmp_path: Path, capsys: Any) -> None:
    path = sparse(run / f"{STEM}.journal.jsonl")
    problem = "cannot be read (5120 MB, at most 1024 MB are read)"
    with pytest.raises(JournalError, match="at most 1024 MB"):
        journal.read(path)
    code, said = said_by(lambda: episode.main(["verify", str(run)]), capsys)
    assert (code, f"DIFFERS  {path}: {problem}" in said, "open\t" in said) == (1, True, True)
    assert report.main([str(run), "--out", str(tmp_path / "report"), "--formats", "md"]) == 0
    assert problem in (tmp_path / "report/report.md").read_text()
    assert problem in said_by(lambda: episode.main(["show", str(path)]), capsys)[1]
    assert problem in said_by(lambda: evaluate_main([f"resume={run}", "runner.log=none"]), capsys)[1]


@pytest.mark.parametrize("name", ["run.json", ".episodes"])
def test_a_sparse_record_costs_what_it_recorded(run: Path, tmp_path: Path, name: str, capsys: Any) -> None:
    (run / name).touch()
    sparse(run / name)
    assert report.main([str(run), "--out", str(tmp_path / "report"), "--formats", "md"]) == 0
    told = (tmp_path / "report/report.md").read_text()
    assert ("unknown (run.json: 5120 MB, at most 64 MB are read)" in told) == (name == "run.json")
    assert evaluate_main([f"resume={run}", "runner.log=none"]) == 0
    assert (run / name).stat().st_size < MEGABYTE


@pytest.mark.parametrize(
    "name", [f"{STEM[:-1]}1.csv", "summary.json", "episodes.csv", "run.json", ".episodes"]
)
def test_a_rewritten_file_with_another_name_is_replaced(
    run: Path, tmp_path: Path, name: str, capsys: Any
) -> None:
    (tmp_path / "own").write_text("of the user's own\n")
    (run / name).unlink(missing_ok=True)
    os.link(tmp_path / "own", run / name)
    assert evaluate_main([f"resume={run}", "runner.log=none"]) == 0, capsys.readouterr().err
    assert report.main([str(run), "--out", str(tmp_path / "report"), "--formats", "tex,csv"]) == 0
    assert (tmp_path / "own").read_text() == "of the user's own\n"
    assert (run / name).read_text(errors="replace") != "of the user's own\n"


@pytest.mark.parametrize("name", ["eval.log", f"{STEM[:-1]}1.journal.jsonl"])
def test_a_file_with_another_name_is_not_appended_to(
    run: Path, tmp_path: Path, name: str, capsys: Any
) -> None:
    os.link(run / name, tmp_path / "own")
    before = (tmp_path / "own").read_bytes()
    code, said = said_by(lambda: evaluate_main([f"resume={run}", "runner.log=none"]), capsys)
    assert code == 1
    assert f"{run / name}: cannot be written (another name (hard link) shares this file; " in said
    assert (tmp_path / "own").read_bytes() == before
    shutil.copy(run / name, tmp_path / "copy")
    (tmp_path / "copy").replace(run / name)
    assert evaluate_main([f"resume={run}", "runner.log=none"]) == 0


def test_a_copy_made_of_hard_links_changes_nothing_in_the_original(run: Path, tmp_path: Path) -> None:
    def contents() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in run.rglob("*") if path.is_file()}

    before = contents()
    copy = shutil.copytree(run, tmp_path / "copy", copy_function=os.link)
    evaluate_main([f"resume={copy}", "runner.log=none"])
    report.main([str(copy), "--out", str(tmp_path / "report"), "--formats", "tex,csv"])
    results.main(["rebuild", str(copy)])
    assert contents() == before


def test_a_device_is_written_to_as_before() -> None:
    text_file(Path("/dev/null"), "w").close()


def test_a_journal_is_written_by_one_process_at_a_time(run: Path) -> None:
    path = journals(run)[1]
    keep = path.stat().st_size
    with Writer(path, keep), pytest.raises(RunFolderError, match="another process plays"):
        Writer(path, keep)
    Writer(path, keep, found=keep).close()
    with pytest.raises(RunFolderError, match="another process plays"):
        Writer(path, keep, found=keep - 1)
    assert path.stat().st_size == keep


@pytest.mark.parametrize("harm", ["changed", "grown", "removed", "replaced"])
def test_a_journal_that_is_not_what_was_written_is_an_error(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "j"
    with Writer(path) as writer:
        writer.append(header())
        writer.append(journal.Start("o", {"turn": 1}))
        writer.check()
        data = path.read_bytes()
        if harm == "changed":
            path.write_bytes(data[:-5] + b"z" + data[-4:])
        elif harm == "grown":
            path.write_bytes(data + b"{")
        else:
            path.unlink()
        if harm == "replaced":
            path.write_bytes(data)
        with pytest.raises(RunFolderError, match="make sure only one process plays a run at a time"):
            writer.check()


@pytest.mark.slow
def test_without_its_lock_a_run_in_play_is_still_not_written_by_another_process(tmp_path: Path) -> None:
    words = ["agent=naive", "env=corridor", "env.episodes=4", "limits.steps=4", "run.name=r"]
    with running(tmp_path, *scripted(0.3), *words, "runner.concurrency=2", "runner.log=none") as first:
        run = tmp_path / "results/r"
        while sum(path.read_bytes().count(b"\n") > 1 for path in journals(run)) < 2:
            assert first.poll() is None
            time.sleep(0.05)
        os.kill(first.pid, signal.SIGSTOP)  # in the middle of its first two episodes
        held = [path.read_bytes() for path in journals(run)[:2]]
        (run / ".lock").unlink()
        second = command("balrog_rag.eval", f"resume={run}", "runner.log=none", cwd=tmp_path)
        assert second.returncode == 1
        assert (
            "another process plays this episode; make sure only one process plays a run at a time"
            in second.stderr
        )
        assert [path.read_bytes() for path in journals(run)[:2]] == held
        os.kill(first.pid, signal.SIGCONT)
        said = first.communicate()
        assert first.returncode == 0, said
    assert len(journals(run)) == 4
    assert all(journal.read(path).end for path in journals(run))
    assert episode.main(["verify", str(run)]) == 0


def test_a_limit_larger_than_the_memory_costs_nothing(tmp_path):
    """The index of a million episodes may be as large as their packs together."""
    (tmp_path / "index").write_bytes(b"rows")
    assert read_file(tmp_path / "index", 1 << 50) == b"rows"
