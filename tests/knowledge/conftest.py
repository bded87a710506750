"""A cache for each test session: downloaded weights are shared with the user's, built files are not."""

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.knowledge.config_section import compose
from balrog_rag.knowledge.corpus.embedded import assembly
from tests import support

Settings = Callable[..., KnowledgeConfig]

PAGES = {
    "doors": "# Doors\n\nA locked door can be kicked open.\n\n## Keys\n\nA skeleton key unlocks it.\n",
    "fountains": "# Fountains\n\nDipping a long sword may give Excalibur.\n",
    "eyes": "# Floating eyes\n\nNever hit a floating eye: it paralyses you.\n",
    "pets": "# Pets\n\nA kitten follows you when it stands next to you.\n",
    "ghosts": "# Ghosts\n\nGhosts are slow and leave no corpse.\n",
}


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A separate folder for indexes and imported corpora of these tests."""
    cache = support.own_cache(tmp_path_factory.mktemp("cache"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BALROG_RAG_CACHE", str(cache))
        yield cache


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A small folder of Markdown pages."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def some(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every eighth passage of the embedded corpus: similar, and quicker to index."""
    lines = assembly.encoded().splitlines(keepends=True)
    file = tmp_path_factory.mktemp("some") / "some.jsonl"
    file.write_bytes(b"".join(lines[::8]))
    return file


@pytest.fixture(scope="session")
def settings() -> Settings:
    """The settings of conf/knowledge with changes."""
    base = compose([])
    return lambda **changes: dataclasses.replace(base, **changes)
