"""Two runs that exports are made of: one with searches and model calls, one in which skills press keys."""

import os
from pathlib import Path

import pytest

import balrog_rag
from balrog_rag.cli.episode import main

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
COMMON = ("model=scripted", "env.episodes=2", "limits.steps=3", "runner.log=none")


@pytest.fixture(scope="session")
def searching(tmp_path_factory: pytest.TempPathFactory) -> balrog_rag.Run:
    """Two episodes of an agent that searches, asks for a summary, and acts."""
    model = "model.name=openai/scripted"
    words = (*COMMON, model, "env=corridor", "agent=robust_star_rag", "knowledge.index=bm25")
    return balrog_rag.evaluate(*words, folder=tmp_path_factory.mktemp("searching") / "run")


@pytest.fixture(scope="session")
def skilled(tmp_path_factory: pytest.TempPathFactory) -> balrog_rag.Run:
    """Two episodes in which a program explores the level."""
    answers = ("model.options.answers=[explore_level,search]", "model.options.order=sequence")
    words = (*COMMON, *answers, "agent=naive", "env=nethack", "env.actions=skills")
    return balrog_rag.evaluate(*words, folder=tmp_path_factory.mktemp("skilled") / "run")


@pytest.fixture(scope="session")
def unasked(tmp_path_factory: pytest.TempPathFactory) -> balrog_rag.Run:
    """Two episodes of a player without a model."""
    words = (*COMMON, "env=corridor", "agent=random")
    return balrog_rag.evaluate(*words, folder=tmp_path_factory.mktemp("unasked") / "run")


def export(run: balrog_rag.Run, kind: str, out: Path, *words: str) -> list[Path]:
    """Export a run; returns the files, in order."""
    assert main(["export", str(run.folder), "--to", kind, "--out", str(out), *words]) == 0
    return sorted(path for path in out.rglob("*") if path.is_file())
