"""Files about the project itself: they are valid, and true."""

import json
import re
from pathlib import Path

import pytest
import yaml

from balrog_rag import __version__

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github").rglob("*.yml"))


def test_citation_and_changelog_name_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == __version__
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]
    released = [heading for heading in headings if heading != "## Unreleased"]
    assert released[0] == f"## {__version__} ({cited['date-released']})"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_and_templates_can_be_read(path: Path) -> None:
    found = yaml.safe_load(path.read_text())
    if path.parent.name == "workflows":
        assert found["permissions"] == {"contents": "read"}  # jobs that need more say so themselves
        assert found["jobs"]


def test_continuous_integration_runs_what_developers_run() -> None:
    steps = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]["test"]["steps"]
    assert {"run": "bash .ci/run"} in steps


def test_the_image_copies_what_the_package_needs() -> None:
    """The wheel is built in the image, so each file and folder that goes into it has to be there."""
    copied = set(re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    names = {name for line in copied for name in line.split()}
    assert {"pyproject.toml", "constraints.txt", "README.md", "LICENSE"} <= names
    assert {"balrog_rag", "conf", "wiki_index", "eval"} <= names


def test_the_development_container_can_be_read() -> None:
    assert (
        json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())["postCreateCommand"]
        == "make setup"
    )


@pytest.mark.parametrize(
    "name", ["README.md", "AGENTS.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md"]
)
def test_files_that_pages_name_exist(name: str) -> None:
    text = (ROOT / name).read_text()
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("integrations/*/pyproject.toml")), ids=lambda path: path.parent.name
)
def test_integrations_admit_this_version(path: Path) -> None:
    """Or they could not be installed beside it."""
    found = re.findall(r'"balrog_rag(?:\[\w+\])?>=(\d+)\.(\d+),<(\d+)\.(\d+)"', path.read_text())
    ours = tuple(int(part) for part in __version__.split(".")[:2])
    assert found
    assert all((int(a), int(b)) <= ours < (int(c), int(d)) for a, b, c, d in found)
