"""Every command of the tutorial works as written, with a model that costs nothing and short games."""

import glob
import re
import shlex
from pathlib import Path

import pytest

from tests.support import command

PAGE = (Path(__file__).parents[2] / "docs/tutorials/first-verdict.md").read_text()
SHORT = {
    "balrog": ["env.tasks=[minihack/MiniHack-Corridor-R3-v0]", "env.episodes=1", "env.max_steps.minihack=2"],
    "sweep": ["env.episodes=2", "limits.steps=2"],
}


def commands() -> list[list[str]]:
    return [shlex.split(line) for line in re.findall(r"^    balrog-rag (.*)$", PAGE, re.MULTILINE)]


def shortened(words: list[str]) -> list[str]:
    """The same command without costs, in a few steps."""
    if words[0] not in ("run", "sweep"):
        return words
    more = SHORT["balrog"] if "+experiment=balrog" in words else SHORT["sweep"]
    return [*("model=scripted" if word == "model=openai" else word for word in words), *more]


@pytest.mark.slow
def test_the_tutorial_can_be_followed(tmp_path: Path) -> None:
    verbs = [words[0] for words in commands()]
    assert verbs[:6] == ["run", "run", "sweep", "resume", "report", "report"]
    assert verbs[6:] == ["compare", "show", "run", "leaderboard", "leaderboard"]
    for words in commands():
        found = [
            name
            for word in shortened(words)
            for name in (glob.glob(word, root_dir=tmp_path) if word.endswith("*") else [word])
        ]
        done = command("balrog_rag", *found, cwd=tmp_path)
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stderr}"
    assert (tmp_path / "reports/knowledge/report.html").is_file()
    assert list((tmp_path / "reports/paper").rglob("*.pdf"))
    assert list((tmp_path / "reports/submissions").rglob("harness.md"))
