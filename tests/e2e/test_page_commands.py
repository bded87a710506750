"""The commands of README and docs/ do what their pages say, with a model that costs nothing and short games.

Each page is followed from top to bottom in one folder. Paid models become `model=scripted`, games are cut
after two steps, and names such as RUN become folders that were made beforehand. What cannot run here is in
`NOT_RUN` with the reason; `tests/api/test_pages.py` still parses it.
"""

import glob
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import command

TOP = Path(__file__).parents[2]
OWN_TESTS = {"first-verdict.md", "python.md"}
"""Pages that other tests follow: test_tutorial.py, and test_pages.py for the blocks of Python."""
NOT_RUN = {
    r"corpus fetch|models fetch|dataset download": "downloads from another server",
    r"paper_figure3|knowledge=spoilers|netplay_full": "needs a corpus that is downloaded once",
    r"models serve|knowledge serve|^serve": "serves until it is stopped; tests of each start one",
    r"models canary": "asks a provider; tests/models/test_canary.py asks a server on loopback",
    r"^rollout .*--base-url": "needs a server of a model; tests/rollouts starts one",
    r"conf_dir=|my_game.py": "needs files that the page describes; tests/cli makes them",
    r"^view (?!.* --out )": "serves until it is stopped; tests/viewer start servers",
    r"env=balrog\b|env=textworld|\+experiment=balrog\b|envs build": "tests/e2e/test_six.py plays all six",
    r"limits.until=verdict": "takes four looks at several games; tests/run/test_verdict_design.py plays them",
    r"mine.py|FILE.py:|path=FOLDER": "needs the reader's file; tests/agents/test_own_class.py has some",
    r"submitit_slurm": "needs SLURM",
    r"^mcp ": "serves a client; tests/clients starts some",
    r"agent=human|^play": "waits for a person; tests/clients types",
    r"runner=ray": "tests/cluster start Ray",
    r"autoascend": "needs an extra with its own environment",
    r"nld-|dataset import nld": "needs recordings that are downloaded",
    r"^learn |agent=checkpoint|results/clone": "tests/dataset/test_learning.py trains one",
    r"prompts import|balrog_prompts|agent.demonstrations=\[records\]": "needs a clone of BALROG",
    r"envs conform": "needs a recording of BALROG's games; tests/envs/test_conform.py has some",
    r"agent=planner|orchard|my_package": "tests/agents/test_plugin.py installs the package",
    r"agent=noting|env.programs=\[stride\]|guess|longest|run.watch=": "tests/api/test_extensions.py",
    r"^verify results/try$": "what the command before it would have played",
    r"knowledge (judge|endings|questions)|gate fit": "needs logs of a study; tests/studies has some",
    r"\+experiment=ladder|netplay_handcrafted|results/handcrafted": "many games of bots",
    r"model.name=tuned/": "needs weights that the script before it trains",
    r"^doctor env=balrog": "exits with 1 on a machine that lacks something",
    r"notes/knowledge-eval.svg": "writes into docs/",
    r"agent=few_shot agent.demonstrations=\[demo.json\]$": "plays what the command before it wrote",
}
COMMAND = re.compile(r"^(?: {4})?balrog-rag (\S(?:[^\\\n]|\\\n)*)$", re.MULTILINE)
PLACES = {
    r"^(results/)?(RUN|NAME)\.*$": ["results/RUN"],
    r"^A$": ["results/A"],
    r"^B$": ["results/B"],
    r"^JOURNAL$": ["results/A/nle/NetHackChallenge-v0/NetHackChallenge-v0_run_00.journal.jsonl"],
    r"^(FOLDER|results/\.\.\.)$": ["results/RUN"],
    r"^my_notes/$": ["my_notes"],
    r"^submissions/": ["results/RUN"],
}
"""Words that stand for folders and files, and what they are here."""
EARLIER = {
    **{"--at 400": "--at 1", "--at 450": "--at 2", "--steps 400:450": "--steps 4:9"},
    **{"--from 100 --to 120": "--from 0 --to 2", "--score 1000..": "--score 0.."},
    **{"--games 400": "--games 1", "--games 10": "--games 1", "--steps 1000": "--steps 10"},
    **{"depth >= 2 and shows('pick-axe')": "depth >= 1", "bank play low": "bank play digger"},
    "--steps 40 model=openai": "--steps 2 model=scripted",
    "model=openai,anthropic": "run.seed=1,2",
}
"""Places in games that are short here, and models that only paid servers have."""
SHORT = {
    "run": ["env.episodes=1", "limits.steps=2", "runner.log=none"],
    "sweep": ["env.episodes=1", "limits.steps=2", "runner.log=none"],
    "fork": ["limits.steps=20", "runner.log=none"],
    "ablate": ["limits.steps=2", "runner.log=none"],
}
CAPS = ("env.episodes=", "limits.steps=", "limits.run.", "model", "env.max_steps", "runner.")
KEPT = ("model=scripted", "runner.shard=")


def commands(page: Path) -> list[str]:
    """The commands of a page, each in one line, without what stands beside it."""
    found = COMMAND.findall(page.read_text())
    lines = [re.sub(r" *\\\n *", " ", line).partition(" #")[0] for line in found]
    return [re.split(r" {2,}(?=[a-z0-9])", line)[0].strip() for line in lines]


def reason(line: str) -> str:
    """Why a command is not run; "" if it is."""
    return next((why for pattern, why in NOT_RUN.items() if re.search(pattern, line)), "")


PAGES = [
    page
    for page in sorted([TOP / "README.md", *(TOP / "docs").rglob("*.md")])
    if page.name not in OWN_TESTS and any(not reason(line) for line in commands(page))
]


def meant(word: str) -> list[str]:
    """What a word of a page stands for."""
    if word.startswith("[") or (word.endswith("]") and "=" not in word):
        return []  # an option that may be left out
    return next((place for pattern, place in PLACES.items() if re.match(pattern, word)), [word])


def playable(line: str, folder: Path) -> list[str]:
    """The words of a command as it is run here."""
    for late, early in EARLIER.items():
        line = line.replace(late, early)
    verb, *rest = shlex.split(line)
    words = [one for word in rest for one in meant(word)]
    if verb in SHORT:
        kept = [word for word in words if word.startswith(KEPT) or not word.startswith(CAPS)]
        shared = any(word.startswith("runner.shard=") for word in kept)
        # Recordings to choose from, and games for each shard.
        several = ["env.episodes=12"] if shared or "run.ttyrec=true" in kept else []
        words = [*kept, *SHORT[verb], *several, *([] if "model=scripted" in kept else ["model=scripted"])]
    return [verb, *(found for word in words for found in expanded(word, folder))]


def expanded(word: str, folder: Path) -> Iterator[str]:
    """A word with * as a shell expands it."""
    yield from glob.glob(word, root_dir=folder) if word.endswith("*") else [word]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what pages take for granted: runs, two lists of numbers, notes to search."""
    folder = tmp_path_factory.mktemp("made")
    short = ["env=nethack", "env.episodes=2", "limits.steps=20", "runner.log=none", "model=scripted"]
    for name, agent in {"A": "robust_star_rag", "B": "robust_star", "RUN": "robust_star_rag"}.items():
        done = command("balrog_rag", "run", *short, f"agent={agent}", f"run.name={name}", cwd=folder)
        assert done.returncode == 0, done.stderr
    (folder / "A.csv").write_text("1\n2\n3\n4\n")
    (folder / "B.csv").write_text("2\n3\n5\n4\n")
    (folder / "careful.txt").write_text("Answer with the name of one action, and think about food.\n")
    (folder / "my_notes").mkdir()
    (folder / "my_notes/newt.md").write_text("# Newt\n\nA newt is a weak monster.\n")
    return folder


@pytest.mark.slow
@pytest.mark.timeout(900)  # a page takes a few minutes at most; a command that waits for ever is found soon
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_run(page: Path, made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(made, folder)
    failed = []
    for line in dict.fromkeys(commands(page)):
        if not reason(line):
            done = command("balrog_rag", *playable(line, folder), cwd=folder)
            if done.returncode != 0:
                failed.append(f"balrog-rag {line}\n{shlex.join(playable(line, folder))}\n{done.stderr}")
    assert "\n".join(failed) == ""


def test_few_commands_are_not_run() -> None:
    lines = [line for page in PAGES for line in commands(page)]
    assert sum(bool(reason(line)) for line in lines) < len(lines) / 2


def test_every_reason_is_still_needed() -> None:
    pages = [TOP / "README.md", *(TOP / "docs").rglob("*.md")]
    lines = [line for page in pages for line in commands(page)]
    assert [pattern for pattern in NOT_RUN if not any(re.search(pattern, line) for line in lines)] == []
