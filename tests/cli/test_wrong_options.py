"""Wrong options of every command: one line, exit code 2, and nothing written."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

import pytest

from balrog_rag.cli.command_line import folder_to_write
from balrog_rag.contracts.errors import ConfigError
from tests.support import CLEAN, PATIENCE, command, evaluate


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    done = evaluate("agent=naive", "env.episodes=1", "limits.steps=5", "run.name=r", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "results" / "r"


@pytest.fixture
def work(played: Path, tmp_path: Path) -> Path:
    """A folder with a run, a journal and a file."""
    shutil.copytree(played, tmp_path / "r")
    shutil.copy(next((tmp_path / "r").rglob("*.journal.jsonl")), tmp_path / "J")
    (tmp_path / "README.md").write_text("words")
    two = shutil.copytree(played, tmp_path / "two")
    (one,) = two.rglob("*.journal.jsonl")
    shutil.copy(one, one.with_name(one.name.replace("_00.", "_01.")))
    return tmp_path


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("report r --out README.md", "--out README.md: README.md is a file; name a folder"),
        ("report r --out README.md/x", "--out README.md/x: README.md is a file"),
        ("leaderboard build r --out README.md", "--out README.md: README.md is a file"),
        ("leaderboard submit r --name x --out README.md", "--out README.md: README.md is a file"),
        ("knowledge eval --plot /nowhere/x.png", "--plot /nowhere/x.png: no folder /nowhere"),
        ("knowledge eval --plot x.gif", "--plot x.gif: unknown file type; use .png or .svg"),
        ("knowledge eval --plot r.svg/x.png", "--plot r.svg/x.png: no folder r.svg"),
        ("knowledge serve --port 99999", "--port 99999: must be 0 to 65535"),
        ("models serve --port -1", "--port -1: must be 0 to 65535"),
        ("models serve --slots 0", "--slots 0: must be at least 1"),
        ("models testserver --port 65536", "--port 65536: must be 0 to 65535"),
        ("models testserver --latency -1", "--latency -1: must be at least 0"),
        ("models testserver --fault-rate 7", "--fault-rate 7: must be 0 to 1"),
        ("models testserver --fault 429s", "unknown fault '429s'; did you mean 429"),
        (
            "episode show two",
            "two: contains 2 journals; pass one, e.g. two/nle/NetHackChallenge-v0",
        ),
        ("episode fork two --at 1 --out x", "two: contains 2 journals; pass one"),
        (
            "knowledge search --top 3 newt",
            "error: --top: no such option; did you mean --json, --help? v",
        ),
        (
            "report",
            "arguments are required: RUN; see python -m balrog_rag.report --help",
        ),
        ("episode show J --stepp=1", "error: --stepp=1: no such option; did you mean --step"),
        ("episode show J --step 9999", "--step 9999: the journal has 5 steps, counted from 0"),
        ("episode show J --step -1", "--step -1: the journal has 5 steps"),
        ("prompts demonstrate J /nowhere/x.json", "demonstrate /nowhere/x.json: no folder /nowhere"),
        ("prompts demonstrate J r", "demonstrate r: is a folder; name a file"),
        ("prompts demonstrate J x.json --steps 0", "--steps 0: must be at least 1"),
        ("prompts demonstrate J x.json --steps -4", "--steps -4: must be at least 1"),
    ],
)
def test_one_line_and_nothing_written(work: Path, words: str, says: str) -> None:
    before = files(work)
    module, *rest = words.split()
    done = command(f"balrog_rag.{module}", *rest, cwd=work)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert says in line
    assert files(work) == before


def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = command("balrog_rag.models", "testserver", "--port", str(port), cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: --port {port}: Address already in use")


@pytest.mark.parametrize(
    "words",
    [
        "report r --out r",
        "config schema --out r",
        "export r --to jsonl --out r",
        "leaderboard build r --out r",
        "leaderboard site r --no-verify --out r",
    ],
)
def test_nothing_is_written_into_a_run_folder(work: Path, words: str) -> None:
    before = files(work / "r")
    done = command("balrog_rag", *words.split(), cwd=work)
    assert done.returncode == 2
    assert done.stderr == "error: --out r: is a run folder, whose files could be lost; name another\n"
    assert files(work / "r") == before


@pytest.mark.parametrize(
    ("content", "refused"), [('{"config": {"env"', True), ('{"type": "object"}', False), ("{}", False)]
)
def test_nothing_is_written_beside_a_damaged_configuration(
    tmp_path: Path, content: str, refused: bool
) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ConfigError, match="is a run folder") if refused else nullcontext():
        folder_to_write("--out", tmp_path)


@pytest.mark.parametrize(
    ("library", "words", "says"),
    [
        ("ray", "runner=ray", "runner=ray: ray is not installed; pip install 'balrog_rag[ray]'"),
        ("submitit", "-m run.seed=1,2 hydra/launcher=submitit_local", "pip install 'balrog_rag[slurm]'"),
        ("submitit", "-m run.seed=1,2 hydra/launcher=submitit_slurm", "pip install 'balrog_rag[slurm]'"),
        ("", "-m run.seed=1,2 hydra/launcher=nonsense", "nonsense"),
    ],
)
def test_what_is_not_installed_is_named_before_a_folder_is_made(
    tmp_path: Path, library: str, words: str, says: str
) -> None:
    if library and find_spec(library) is not None:
        pytest.skip(f"{library} is installed here")
    done = evaluate(*words.split(), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert says in line
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    for words in ("balrog_rag.eval --help", "balrog_rag.envs tasks minihack", "balrog_rag.prompts list"):
        reader, pipe = os.pipe()
        os.close(reader)
        shown = subprocess.run(
            [sys.executable, "-m", *words.split()],
            cwd=tmp_path, env=CLEAN, stdout=pipe, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        os.close(pipe)
        assert (shown.stderr, shown.returncode) == ("", 0), words


def test_ctrl_c_is_one_line(tmp_path: Path) -> None:
    served = subprocess.Popen(
        [sys.executable, "-m", "balrog_rag.models", "testserver"],
        cwd=tmp_path, env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert served.stdout is not None
    assert "127.0.0.1" in served.stdout.readline()
    os.kill(served.pid, signal.SIGINT)
    assert served.communicate(timeout=PATIENCE)[1] == "stopped\n"
    assert served.returncode == 130
