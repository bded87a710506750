"""Malicious run folders: no name in them leads outside, and no link is followed for writing."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from balrog_rag.cli import compare, counterfactual, episode, leaderboard, report, results
from balrog_rag.cli.main import main as evaluate_main
from balrog_rag.config.frozen import config_digest
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results.run_folder import journals
from tests.support import edit_journal, evaluate

TASK = "NetHackChallenge-v0"
SECRET = "a file of the user's own\n"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one episode, a fork's folder beside it, and a sweep of two runs."""
    place = tmp_path_factory.mktemp("stranger")
    small = ["agent=naive", "env.episodes=1", f"env.tasks=[nle/{TASK}]", "limits.steps=3", "runner.log=none"]
    assert evaluate(*small, "run.name=r", cwd=place).returncode == 0
    assert evaluate("-m", *small, "agent=naive,dummy", "run.name=s", cwd=place).returncode == 0
    results = place / "results"
    run, fork = results / "r", results / "f"
    words = ["fork", str(journals(run)[0]), "--at", "1", "--out", str(fork)]
    assert episode.main(words) == 0
    return results


@pytest.fixture
def place(played: Path, tmp_path: Path) -> Path:
    """A copy of these folders, beside a folder with a file of the user."""
    shutil.copytree(played, tmp_path / "results")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "file").write_text(SECRET)
    return tmp_path / "results"


def outside(place: Path) -> dict[str, bytes]:
    """Everything beside the run folders, by its path."""
    found = {}
    for path in place.parent.rglob("*"):
        if path.is_file() and place not in path.parents:
            found[str(path)] = path.read_bytes()
    return found


def refused(command: Callable[[], int], place: Path, capsys: Any) -> str:
    """The output of a command that must not change anything outside of the given folders."""
    before = outside(place)
    assert command() != 0
    said = capsys.readouterr()
    assert outside(place) == before
    return str(said.err + said.out)


def reconfigure(run: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Replace the configuration, with a matching digest, in the journals too."""
    config = json.loads((run / "config.json").read_text())["config"]
    change(config)
    digest = config_digest(config)
    (run / "config.json").write_text(json.dumps({"digest": digest, "config": config}))
    for path in journals(run):
        edit_journal(path, "header", lambda header: header.update(config_digest=digest))


OUT = [
    f"../own/{TASK}/00",
    "../../own/x/00",
    "nle/../../own/00",
    "nle/../00",
    "/tmp/own/x/00",
    "//x/00",
    "nle/./00",
    f"nle/{TASK}/..",
    f"nle/{TASK}/../../../own/00",
    "x/00",
    "00",
    "",
    f"nle/.{TASK}/00",
    f"nle/{TASK}\\..\\x/00",
    f"nle/{TASK}\x00/00",
    f"nle/{TASK}\n/00",
    "/" * 300,
]
"""Names that refer to a place outside of a run folder, or are no names."""
ALWAYS = {OUT[0], OUT[4], OUT[10], OUT[14]}
OUT_AND_SLOW = [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.slow) for name in OUT]
"""A name is checked the same way everywhere, so a few of each kind are tried in every place."""


@pytest.mark.parametrize("name", OUT_AND_SLOW)
def test_a_forks_episode_stays_in_its_folder(place: Path, name: str, capsys) -> None:
    forked = json.loads((place / "f/forked.json").read_text())
    (place / "f/forked.json").write_text(json.dumps([{**forked[0], "episode": name}]))
    for command in (
        lambda: evaluate_main([f"resume={place / 'f'}", "runner.log=none"]),
        lambda: leaderboard.main(["verify", str(place / "f")]),
        lambda: results.main(["rebuild", str(place / "f")]),
        lambda: report.main([str(place / "f"), "--out", str(place / "report")]),
    ):
        assert "not an episode name; expected env/task/number" in refused(command, place, capsys)


@pytest.mark.parametrize("name", OUT_AND_SLOW)
def test_a_journals_episode_stays_in_its_folder(place: Path, name: str, capsys) -> None:
    path = journals(place / "r")[0]

    def renamed(header):
        header["spec"]["episode"] = name
        header["spec_digest"] = msgspec.convert(header["spec"], EpisodeSpec).digest

    edit_journal(path, "header", renamed)
    for command in (
        lambda: episode.main(["verify", str(path)]),
        lambda: episode.main(["fork", str(path), "--at", "1", "--out", str(place / "out")]),
        lambda: leaderboard.main(["verify", str(place / "r")]),
        lambda: leaderboard.main(["submit", str(place / "r"), "--name", "x", "--out", str(place / "sub")]),
    ):
        refused(command, place, capsys)
    if name == OUT[0]:
        refused(lambda: evaluate_main([f"resume={place / 'r'}", "runner.log=none"]), place, capsys)
    before = outside(place)
    assert report.main([str(place / "r"), "--out", str(place / "report"), "--formats", "md"]) == 0
    assert "foreign: " in (place / "report/report.md").read_text()
    assert outside(place) == before


@pytest.mark.parametrize("task", [*OUT[:3], f"nle/{TASK}/../../../own", "nle", "", f"nle/{TASK}"])
def test_a_configurations_task_stays_in_its_folder(place: Path, task: str, capsys) -> None:
    reconfigure(place / "r", lambda config: config["env"].update(tasks=[f"nle/{TASK}", task]))
    for command in (
        lambda: evaluate_main([f"resume={place / 'r'}", "runner.log=none"]),
        lambda: leaderboard.main(["verify", str(place / "r")]),
        lambda: leaderboard.main(["submit", str(place / "r"), "--name", "x", "--out", str(place / "sub")]),
    ):
        assert "env.tasks: " in refused(command, place, capsys)


@pytest.mark.parametrize("name", ["../r", "../../own", "{}/r", "", ".", "..", "a/b", ".jobs", "link"])
def test_a_sweeps_runs_stay_in_its_folder(place: Path, name: str, capsys) -> None:
    name = name.format(place)
    (place / "s/link").symlink_to(place / "r")
    sweep = json.loads((place / "s/sweep.json").read_text())
    sweep["runs"][0]["name"] = name
    (place / "s/sweep.json").write_text(json.dumps(sweep))
    log = (place / "r/eval.log").read_bytes()
    said = refused(lambda: evaluate_main(["-m", f"resume={place / 's'}", "runner.log=none"]), place, capsys)
    assert "is not a folder of this sweep" in said
    assert (place / "r/eval.log").read_bytes() == log


STEM = f"nle/{TASK}/{TASK}_run_00"
LINKS = [
    *("eval.log", "ray.log", ".lock", "run.json", "summary.json", "episodes.csv", ".episodes"),
    *(f"{STEM}.csv", f"{STEM}.json", f"{STEM}.journal.jsonl", "nle/nle_summary.json"),
    *(f"nle/{TASK}/.{TASK}_run_00.json.tmp", ".summary.json.PID.tmp", "counterfactual.json"),
    *("notes.txt", "nle/notes", f"nle/{TASK}/deep/er/x"),
]


@pytest.mark.parametrize("name", LINKS)
def test_nothing_is_written_through_a_link(place: Path, name: str, capsys) -> None:
    link = place / "r" / name.replace("PID", str(os.getpid()))
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(place.parent / "own/file")
    for command in (
        lambda: evaluate_main([f"resume={place / 'r'}", "runner.log=none"]),
        lambda: results.main(["rebuild", str(place / "r")]),
    ):
        said = refused(command, place, capsys)
        assert f"{link}: is a link; remove it before " in said


def test_what_is_behind_a_link_is_not_handed_in_to_a_leaderboard(place: Path, capsys) -> None:
    (place / "r/nle/notes").symlink_to(place.parent / "own/file")
    words = ["submit", str(place / "r"), "--name", "x", "--out", str(place / "sub")]
    assert "is a link; remove it before" in refused(lambda: leaderboard.main(words), place, capsys)
    assert not (place / "sub").exists()


@pytest.mark.parametrize("name", ["nle", f"nle/{TASK}"])
def test_nothing_is_written_through_a_folder_that_is_a_link(place: Path, name: str, capsys) -> None:
    shutil.copytree(place / "r" / name, place.parent / "own/folder")
    shutil.rmtree(place / "r" / name)
    (place / "r" / name).symlink_to(place.parent / "own/folder")
    for command in (
        lambda: evaluate_main([f"resume={place / 'r'}", "runner.log=none"]),
        lambda: results.main(["rebuild", str(place / "r")]),
    ):
        assert f"{place / 'r' / name}: is a link" in refused(command, place, capsys)


@pytest.mark.parametrize("name", ["config.json", f"{STEM}.journal.jsonl", "eval.log", "forked.json"])
@pytest.mark.timeout(60)
def test_nobody_waits_for_a_pipe(place: Path, name: str, capsys) -> None:
    path = place / "r" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    refused(lambda: evaluate_main([f"resume={place / 'r'}", "runner.log=none"]), place, capsys)
    refused(lambda: results.main(["rebuild", str(place / "r")]), place, capsys)
    episode.main(["verify", str(place / "r")])
    leaderboard.main(["verify", str(place / "r")])


def test_reading_commands_leave_what_is_behind_a_link_alone(place: Path, capsys) -> None:
    (place / "r/.episodes").unlink(missing_ok=True)
    (place / "r/.episodes").symlink_to(place.parent / "own/file")
    (place / "r/nle/X").mkdir()
    (place / "r/nle/X/X_run_00.journal.jsonl").symlink_to(place.parent / "own/file")
    (place / "r/nle/X/X_run_01.journal.jsonl").symlink_to("/dev/zero")
    (place / "r/nle/X/X_run_02.journal.jsonl").symlink_to(place / "nowhere")
    before = outside(place)
    assert report.main([str(place / "r"), "--out", str(place / "report"), "--formats", "md"]) == 0
    assert compare.main([str(place / "r"), str(place / "s/agent=dummy")]) == 0
    assert leaderboard.main(["build", str(place / "r"), "--out", str(place / "board")]) == 0
    assert outside(place) == before
    told = (place / "report/report.md").read_text() + capsys.readouterr().out
    assert SECRET.strip() not in told


def test_a_fork_whose_episodes_share_a_name_is_refused(place: Path, capsys) -> None:
    forked = json.loads((place / "f/forked.json").read_text())
    (place / "f/forked.json").write_text(json.dumps(forked * 2))
    said = refused(lambda: evaluate_main([f"resume={place / 'f'}"]), place, capsys)
    assert "contains an episode twice" in said


def test_a_counterfactual_is_not_kept_through_a_link(place: Path, capsys) -> None:
    from balrog_rag.results.asked_again import Counterfactual, keep

    (place / "r/counterfactual.json").symlink_to(place.parent / "own/file")
    before = outside(place)
    keep(place / "r", Counterfactual(()))
    assert outside(place) == before
    assert counterfactual.main([str(place / "r")]) == 2
