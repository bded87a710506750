"""A run with retrieval whose model and wiki write hostile texts, and a browser for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import evaluate
from tests.viewer.support import ANSWERS, PAGES, Browser, new_browser


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs: `told`, an agent with retrieval, and `plain`, without a model."""
    top = tmp_path_factory.mktemp("viewed")
    (top / "wiki").mkdir()
    for name, text in PAGES.items():
        (top / "wiki" / f"{name}.md").write_text(text)
    answers = ",".join(repr(answer) for answer in ANSWERS)
    retrieving = [f"knowledge.corpus={top / 'wiki'}", "knowledge.index=bm25"]
    for name, words in (
        ("told", ["agent=naive_rag", "limits.steps=70", f"model.options.answers=[{answers}]", *retrieving]),
        ("plain", ["agent=random", "limits.steps=20"]),
    ):
        done = evaluate(
            *words, "env.episodes=2", "env.no_progress=0", f"run.folder={top}", f"run.name={name}", cwd=top
        )
        assert done.returncode == 0, done.stderr
    return top


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium, driven by Selenium; skipped where either is missing."""
    opened = new_browser()
    yield opened
    opened.close()
