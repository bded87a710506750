"""Files about the project itself: they are valid, and true."""

import json
import re
from importlib.metadata import requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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
    assert {"pyproject.toml", "requirements-hashed.txt", "README.md", "LICENSE"} <= names
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
    found = re.findall(r'"balrog_rag(?:\[[\w,-]+\])?>=(\d+)\.(\d+),<(\d+)\.(\d+)"', path.read_text())
    ours = tuple(int(part) for part in __version__.split(".")[:2])
    assert found
    assert all((int(a), int(b)) <= ours < (int(c), int(d)) for a, b, c, d in found)


def pins(path: Path) -> dict[str, set[str]]:
    """The exact versions in a file of requirements, by package, without markers and hashes."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([\w.]+)", path.read_text(), re.MULTILINE):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


def needed(name: str, extras: frozenset[str], seen: set[tuple[str, frozenset[str]]]) -> None:
    """Add a distribution to `seen` with all that it needs, as installed here."""
    if (name, extras) in seen:
        return
    seen.add((name, extras))
    for requirement in map(Requirement, requires(name) or ()):
        environments = [{"extra": extra} for extra in (*extras, "")]
        if requirement.marker is None or any(map(requirement.marker.evaluate, environments)):
            needed(canonicalize_name(requirement.name), frozenset(requirement.extras), seen)


def test_every_package_of_the_plain_install_has_its_pinned_version_and_hashes() -> None:
    """Or pip would refuse requirements-hashed.txt; `.ci/hash-requirements` makes it again."""
    path = ROOT / "requirements-hashed.txt"
    hashed, pinned = pins(path), pins(ROOT / "constraints.txt")
    assert {name: pinned.get(name) for name in hashed} == hashed
    seen: set[tuple[str, frozenset[str]]] = set()
    needed("balrog-rag", frozenset({"local"}), seen)
    assert {name for name, _ in seen} - {"balrog-rag"} - hashed.keys() == set()
    entries = path.read_text().replace(" \\\n", " ").splitlines()[2:]
    assert [entry for entry in entries if not re.search(r" --hash=sha256:[0-9a-f]{64}\b", entry)] == []
    assert "://" not in path.read_text()
