"""A library that is not installed is reported before anything is fetched, indexed or written."""

from pathlib import Path

import pytest

from tests.support import CLEAN, command

HIDE = """
import importlib.machinery
import os

find_spec = importlib.machinery.PathFinder.find_spec


def without(name, path=None, target=None):
    return None if name.split(".")[0] in os.environ["HIDDEN"].split() else find_spec(name, path, target)


importlib.machinery.PathFinder.find_spec = without
"""


@pytest.mark.parametrize(
    ("words", "hidden", "said"),
    [
        ([], "xllamacpp", "model.backend=local: xllamacpp is not installed; pip install 'balrog_rag[local]'"),
        (["+experiment=quickstart"], "xllamacpp", "balrog_rag[local]"),
        (["agent=naive"], "xllamacpp", "balrog_rag[local]"),
        (
            ["model=scripted", "knowledge.embedder=sentence_transformers"],
            "sentence_transformers",
            "pip install 'balrog_rag[sentence-transformers]'",
        ),
        (["agent=autoascend"], "nethackers", "pip install 'balrog_rag[autoascend]'"),
        (["env=textworld", "agent=random"], "textworld", "pip install 'balrog_rag[textworld]'"),
    ],
)
def test_a_missing_extra_is_one_line_and_leaves_nothing(
    words: list[str], hidden: str, said: str, tmp_path: Path
) -> None:
    site, cache, work = (tmp_path / name for name in ("site", "cache", "work"))
    for folder in (site, cache, work):
        folder.mkdir()
    (site / "sitecustomize.py").write_text(HIDE)
    path = ":".join(filter(None, [str(site), CLEAN.get("PYTHONPATH")]))
    environment = {"HIDDEN": hidden, "PYTHONPATH": path, "BALROG_RAG_CACHE": str(cache)}
    ended = command("balrog_rag.eval", *words, cwd=work, **environment)
    assert ended.returncode == 2, ended
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert [*work.iterdir(), *cache.iterdir()] == []


def test_a_player_that_asks_no_model_needs_no_extra_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HIDE)
    environment = {"HIDDEN": "xllamacpp", "PYTHONPATH": str(tmp_path)}
    words = ["agent=random", "env.episodes=1", "limits.steps=5"]
    ended = command("balrog_rag.eval", *words, cwd=tmp_path, **environment)
    assert ended.returncode == 0, ended
