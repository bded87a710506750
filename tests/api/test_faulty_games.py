"""A game that breaks its contract: one line, the episode is an error, and every paid answer is kept.

In the calling process, and in a worker.
"""

import os
from pathlib import Path

import pytest

import balrog_rag
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Completion
from tests.api import faulty_game
from tests.api.faulty_game import EXPECTED
from tests.support import CLEAN, command

SOUND = "faulty/sound"
WORDS = (
    f"env.tasks=[{SOUND},{','.join(EXPECTED)}]",
    "env.episodes=1",
    "agent=naive",
    "model=scripted",
    "model.options.answers=[east]",
    "runner.log=none",
    "runner.workers=1",
)


def check(run: Path, lines: list[str]) -> None:
    """Every fault is reported in one line, and all journals can be read, with the answers in them."""
    assert all(len(line.splitlines()) == 1 for line in lines)
    for task, (said, answers) in EXPECTED.items():
        found = [line for line in lines if f" {task}/00: " in line]
        assert [said in line for line in found] == [True], (task, lines)
        path = run / f"{task}/{task.partition('/')[2]}_run_00.journal.jsonl"
        entries = journal.read(path).entries if path.exists() else ()
        assert sum(isinstance(entry, Completion) for entry in entries) == answers, task
    (sound,) = run.glob("faulty/sound/*.journal.jsonl")
    end = journal.read(sound).end
    assert end is not None
    assert (end.outcome, end.steps, end.facts) == ("solved", 4, {"fields": 4})


@pytest.mark.filterwarnings("ignore")
def test_in_the_calling_process(tmp_path: Path) -> None:
    for kind in (faulty_game.FAULTY, faulty_game.UNMEASURED, faulty_game.UNSHOWN):
        balrog_rag.register.environment(kind)
    run = balrog_rag.evaluate(*WORDS, folder=tmp_path / "run")
    check(run.folder, run.troubles)
    assert list(run.episodes["episode"]) == [f"{SOUND}/00"]


def test_in_a_worker(tmp_path: Path) -> None:
    site = tmp_path / "site"
    about = site / "faulty_game-1.dist-info"
    about.mkdir(parents=True)
    (site / "faulty_game.py").write_text(Path(faulty_game.__file__).read_text())
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty_game\nVersion: 1\n")
    names = {"faulty": "FAULTY", "unmeasured": "UNMEASURED", "unshown": "UNSHOWN"}
    points = "".join(f"{name} = faulty_game:{attribute}\n" for name, attribute in names.items())
    (about / "entry_points.txt").write_text(f"[balrog_rag.environments]\n{points}")
    path = os.pathsep.join(filter(None, (str(site), CLEAN.get("PYTHONPATH"))))
    done = command("balrog_rag", "run", *WORDS, "run.name=r", cwd=tmp_path, PYTHONPATH=path)
    assert done.returncode == 1, done.stderr
    assert "SIGKILL" not in done.stderr
    assert "Traceback" not in done.stderr
    check(tmp_path / "results/r", done.stderr.splitlines())
