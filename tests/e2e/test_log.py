"""The progress messages of a run, for people and for programs."""

from pathlib import Path

import msgspec

from tests.support import evaluate

WORDS = ["agent=naive", "env.episodes=2", "limits.steps=10", "run.name=r"]


def test_json_lines_are_all_of_stdout(tmp_path: Path) -> None:
    done = evaluate(*WORDS, "--log", "json", cwd=tmp_path)
    assert done.returncode == 0
    events = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    kinds = [event["event"] for event in events]
    assert sorted(kinds) == ["ended", "ended", "finished", "progress", "started", "started"]
    ended = next(event for event in events if event["event"] == "ended")
    assert (ended["outcome"], ended["steps"]) == ("steps", 10)
    assert events[-1]["exit_code"] == 0
    assert events[-1]["environments"]["nle"]["episodes_played"] == 2

    again = evaluate("resume=results/r", "--log=json", cwd=tmp_path)
    kinds = [msgspec.json.decode(line)["event"] for line in again.stdout.splitlines()]
    assert sorted(kinds) == ["finished", "found", "found", "progress"]


def test_plain_lines_leave_stdout_to_the_results(tmp_path: Path) -> None:
    done = evaluate(*WORDS, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("step limit after 10 steps") == 2
    assert "2/2 ended, 0 in play" in done.stderr
    assert "step limit after 10 steps" not in done.stdout
    log = (tmp_path / "results/r/eval.log").read_text().splitlines()
    assert [line.split()[1] for line in log] == ["INFO"] * 4


def test_nothing_where_nothing_is_wanted(tmp_path: Path) -> None:
    done = evaluate(*WORDS, "runner.log=none", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
