"""Every mistake a user can make: one clear line, an exit code, and nothing written."""

import json
import shutil
from pathlib import Path

import pytest
from filelock import FileLock

from tests.support import command, evaluate, plug_in

SMALL = ("agent=naive", "env.episodes=1", "limits.steps=5", "run.name=r")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("agnt=naive", "agnt: no such key; did you mean agent"),
        ("agent=naiv", "agent=naiv: no such agent; did you mean naive"),
        ("agent.nam=x", "agent.nam: no such key; did you mean agent.name"),
        ("agent.name=naiv", "unknown agent 'naiv'; did you mean naive"),
        ("agent", "agent: not KEY=VALUE"),
        ("env.episode=2", "env.episode: no such key; did you mean env.episodes?"),
        ("agent.prompts.system=hi", "agent.prompts.system: no such prompt; `balrog-rag prompts list` lists"),
        ("env.episodes=abc", "env.episodes=abc: must be a whole number"),
        ("limits.run.dollars=five", "limits.run.dollars=five: must be a number"),
        ("run.csv=maybe", "run.csv=maybe: must be true or false"),
        ("env.episodes=-3", "env.episodes=-3: must be at least 1"),
        ("limits.run.dollars=nan", "limits.run.dollars=nan: must be a finite number"),
        ("limits.run.seconds=inf", "limits.run.seconds=inf: must be a finite number"),
        ("limits.episode.dollars=nan", "limits.episode.dollars=nan: must be a finite number"),
        ("model.temperature=9", "model.temperature=9.0: must be at most 2"),
        ("env.layout=foo", "env.layout=foo: no such value"),
        ("model.backend=foo", "model.backend=foo: unknown model"),
        (
            "env.tasks=[nle/NetHackChalenge-v0]",
            "env.tasks: unknown task 'NetHackChalenge-v0' of nle; did",
        ),
        ("env.tasks=[minihack/MiniHack-Corridor-R4-v0]", "did you mean MiniHack-Corridor-R"),
        ("env.tasks=[nethack/NetHackChallenge-v0]", "nethack"),
        ("env.tasks=[NetHackChallenge-v0]", "expected env/task"),
        ("env.character=xxx", "env.character: unknown character 'xxx'"),
        ("env.seeds=[1,x]", "env.seeds[1]=x: must be a whole number"),
        (
            "env.seeding=list env.seeds=[1] env.episodes=2",
            "env.seeds: 1 seed for 2 episodes per task; list one each",
        ),
        ("env.tasks=[]", "env.tasks: empty; set env.tasks=[env/task]"),
        ("-m run.seed=1,2 env.tasks=[]", "env.tasks: empty; set env.tasks=[env/task]"),
        (f"agent=few_shot agent.demonstrations=[{__file__}]", "test_mistakes.py is not a demonstration file"),
        (f"run.name={'x' * 300}", "too long; use at most 200 bytes"),
        (
            "agent=few_shot",
            "agent.demonstrations: few_shot needs demonstrations; make a file with `balrog-rag",
        ),
        ("env.episodes=0", "env.episodes=0: must be at least 1"),
        ("agent=delver agent.options.zzz=1", "agent.options: delver has no 'zzz'; "),
        ("agent=delver agent.options.mines=x", "agent.options.mines: expected a whole number, got 'x'"),
        (
            "agent=handcrafted agent.options.zzz=1",
            "agent.options: handcrafted has no 'zzz'; it has paper_bug",
        ),
        ("env.seeds=[1]", "env.seeds: env.seeding=spread does not use seeds; add env.seeding=list"),
        ("env.layout=image", "add agent.max_image_history=1"),
        ("agent.max_image_history=1", "add env.layout=image"),
        ("--logg json", "--logg: no such flag; did you mean --log"),
        ("run.name=../x/y", "run.name=../x/y: not a folder name; use run.folder for its location"),
        ("run.name=..", "run.name=..: not a folder name"),
        (
            "-m run.seed=1,2 run.name=../x/y",
            "run.name=../x/y: not a folder name; use run.folder for its location",
        ),
        ("run.folder=/proc/none", "cannot be created"),
        ("resume=nowhere", "nowhere: not a run folder"),
        ("agent=[naive,cot]", "agent=[naive,cot]: takes one agent; to play each, use -m agent=naive,cot"),
        (
            "model=openai",
            "model.name=openai/gpt-5.4-mini: API key missing; set OPENAI_API_KEY in the environment",
        ),
        ("-m agent=[naive,cot]", "use -m agent=naive,cot"),
        ("env.tasks=[nle/X", "env.tasks=[nle/X: cannot be parsed; close the bracket or quote"),
        ("model.extra_headers.Authorization=sk-proj-0123456789abcdefghij", "looks like a secret"),
    ],
)
def test_one_line_and_nothing_written(tmp_path: Path, words: str, says: str) -> None:
    done = evaluate(*words.split(), cwd=tmp_path)
    assert done.returncode != 0
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    assert says in lines[0]
    assert "sk-proj-0123456789" not in lines[0]
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    done = evaluate(*SMALL, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "results" / "r"


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "r"))


def refused(run: Path, *words: str) -> str:
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    done = command("balrog_rag.eval", f"resume={run}", *words, cwd=run.parent)
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    journals = [path for path in before if path.name.endswith(".journal.jsonl")]
    assert journals
    assert all(path.read_bytes() == before[path] for path in journals)
    return line


def test_resume_refuses_another_configuration_and_names_the_keys(run: Path) -> None:
    line = refused(run, "agent.lenient=true", "env.layout=language")
    assert "resume cannot change agent.lenient, env.options.layout" in line


def test_resume_refuses_an_edited_configuration(run: Path) -> None:
    config = json.loads((run / "config.json").read_text())
    config["config"]["run"]["seed"] = 5
    (run / "config.json").write_text(json.dumps(config))
    assert "changed by hand or written by another version" in refused(run)


def test_a_new_run_is_refused_where_one_stands(run: Path) -> None:
    done = evaluate(*SMALL, f"run.folder={run.parent}", cwd=run.parent)
    assert done.returncode == 1
    assert f"{run}: not empty; resume it with balrog-rag resume {run}" in done.stderr


def test_a_second_process_on_the_same_folder_is_refused(run: Path) -> None:
    with FileLock(run / ".lock"):
        assert "another process is playing this run" in refused(run)


def test_a_run_whose_log_cannot_be_opened_is_left_open(run: Path) -> None:
    (run / "eval.log").unlink()
    (run / "eval.log").mkdir()
    for journal in run.rglob("*.journal.jsonl"):
        journal.unlink()
    done = command("balrog_rag.eval", f"resume={run}", "runner.log=none", cwd=run.parent)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"error: the run was stopped: {run}/eval.log: cannot be written (Is a directory)",
        "1 episode is not finished",
        "spent: $0.00 for 0 calls, 0 tokens in, 0 out",
        f"resume with: balrog-rag resume {run}",
    ]


def test_a_journal_of_another_version_is_refused(run: Path) -> None:
    (path,) = run.rglob("*.journal.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"v":3', b'"v":7', 1))
    done = command("balrog_rag.eval", f"resume={run}", cwd=run.parent)
    assert done.returncode == 1
    assert "journal version 7, this program reads versions 1 to 3" in done.stderr


def test_a_plug_in_that_raises_on_import_is_named(tmp_path: Path) -> None:
    site = plug_in(tmp_path / "site", "agents", "broken", "raise RuntimeError('made to fail')")
    work = tmp_path / "work"
    work.mkdir()
    done = evaluate("agent.name=broken", cwd=work, PYTHONPATH=site)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "error: agent plug-in 'broken' (plugged_broken:Plugged) cannot be imported: Runtime"
    )
    assert list(work.iterdir()) == []


def test_help_says_what_can_be_set(tmp_path: Path) -> None:
    for flags, says in (
        (["--help"], "agent.max_text_history"),
        (["--cfg", "job"], "max_text_history: 16"),
        (["--info", "defaults"], "agent/"),
    ):
        done = command("balrog_rag.eval", *flags, cwd=tmp_path)
        assert (done.returncode, says in done.stdout) == (0, True), (flags, done.stdout, done.stderr)
    assert list(tmp_path.iterdir()) == []
