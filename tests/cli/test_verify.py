"""`verify` on a run folder: every journal in its place, every line as it was written."""

import json
import shutil
from pathlib import Path

import pytest

import balrog_rag
from balrog_rag.cli.compare import main as compare
from balrog_rag.cli.episode import main
from balrog_rag.results.comparing import one_arm
from balrog_rag.results.report.origins import provenance_section
from balrog_rag.results.run_folder import journals
from tests.support import evaluate, unchained


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    """A run of two short episodes."""
    place = tmp_path_factory.mktemp("verify")
    words = ["agent=naive", "env.episodes=2", "limits.steps=3", "run.name=r", "runner.log=none"]
    done = evaluate(*words, cwd=place)
    assert done.returncode == 0, done.stderr
    return place / "results/r"


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    return shutil.copytree(played, tmp_path / "r")


def verified(run: Path, capsys) -> tuple[int, str]:
    code = main(["verify", str(run)])
    return code, capsys.readouterr().out


def test_a_run_as_it_was_played_verifies(run, capsys):
    code, said = verified(run, capsys)
    assert (code, said.count("equal\t3 steps"), "note" in said) == (0, 2, False)


def test_journals_that_changed_places_are_found(run, capsys):
    one, other = journals(run)
    one_data, other_data = one.read_bytes(), other.read_bytes()
    one.write_bytes(other_data)
    other.write_bytes(one_data)
    code, said = verified(run, capsys)
    assert (code, said.count("; its place is")) == (1, 2)


def test_a_changed_line_is_named(run, capsys):
    path = journals(run)[0]
    path.write_bytes(path.read_bytes().replace(b'"text":"', b'"text":"x', 1))
    code, said = verified(run, capsys)
    assert code == 1
    assert f"DIFFERS  {path}: line 3 was changed" in said


def test_of_a_journal_without_a_chain_it_is_said_what_is_not_proved(run, capsys):
    path = journals(run)[0]
    path.write_bytes(unchained(path.read_bytes()))
    code, said = verified(run, capsys)
    assert code == 0
    assert "note: 1 journal of version 1 without hash chain: " in said
    assert "costs, tokens, times, model names and search scores are not" in said


@pytest.fixture
def sweep(played: Path, tmp_path: Path) -> Path:
    """Two arms of a sweep, and the files beside them."""
    for arm in ("one", "two"):
        shutil.copytree(played, tmp_path / "sweep" / arm)
    (tmp_path / "sweep/sweep.csv").write_text("arm,score\none,0\n")
    (tmp_path / "sweep/.jobs").mkdir()
    return tmp_path / "sweep"


def test_every_arm_of_a_sweep_is_verified(sweep, capsys):
    code, said = verified(sweep, capsys)
    assert (code, said.count("equal\t3 steps"), said.count(f"{sweep}/two/")) == (0, 4, 2)


def test_what_is_no_run_is_skipped_with_a_word(sweep, capsys):
    copied = shutil.copy(journals(sweep)[0], sweep / "J")
    assert main(["verify", *map(str, sorted(sweep.iterdir()))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("equal") for line in lines) == 5
    assert f"equal\t3 steps\t{copied}" in lines
    assert [line for line in lines if not line.startswith("equal")] == [
        f"skipped\tneither a run nor a journal\t{sweep}/{name}" for name in (".jobs", "sweep.csv")
    ]


def test_where_nothing_can_be_verified_that_is_an_error(sweep, capsys):
    for path, says in (
        (sweep / "sweep.csv", "contains no journal; pass a run, a sweep or a *.journal.jsonl"),
        (sweep / "three", "no such file or folder"),
    ):
        assert main(["verify", str(path)]) == 1
        assert capsys.readouterr() == ("", f"error: {path}: {says}\n")


def other_versions(run: Path) -> None:
    record = json.loads((run / "run.json").read_text())
    record["attempts"][0]["versions"]["nle"] = "9.9"
    (run / "run.json").write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (other_versions, "no attempt has the package versions recorded in its journals"),
        (lambda run: (run / "run.json").unlink(), "cannot be read (No such file or directory)"),
        (lambda run: (run / "run.json").write_text("{"), "damaged"),
        (
            lambda run: (run / "run.json").write_text('{"attempts": []}'),
            "no attempt has the package versions",
        ),
    ],
)
def test_a_provenance_that_the_journals_contradict_is_found(run, capsys, harm, says):
    harm(run)
    code, said = verified(run, capsys)
    assert code == 1
    assert [says in line for line in said.splitlines() if line.startswith("DIFFERS")] == [True]


def test_what_of_the_provenance_nothing_proves_is_said(run, capsys):
    assert main(["verify", str(run)]) == 0
    said = capsys.readouterr().err
    assert "unverified: of run.json, only the package versions are compared with the journals" in said


def test_compare_names_package_versions_that_differ(run, tmp_path, capsys):
    other = shutil.copytree(run, tmp_path / "other")
    compare([str(run), str(other)])
    assert "package versions" not in capsys.readouterr().out
    other_versions(other)
    compare([str(run), str(other)])
    said = " ".join(capsys.readouterr().out.split())
    assert "package versions that differ: nle 1.3" in said
    assert "against 9.9" in said
    assert balrog_rag.compare(run, run).different_packages == []
    (different,) = balrog_rag.compare(run, other).different_packages
    assert different.endswith("against 9.9")
    said = provenance_section([one_arm(run), one_arm(other)]).sentences
    assert [different in sentence for sentence in said if sentence.startswith("Package versions")] == [True]
