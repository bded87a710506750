"""The documentation site: its navigation names every page once, and nothing that does not exist."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
GENERATED = {
    *("reference/configuration.md", "reference/python-api.md"),
    *("project/ARCHITECTURE.md", "project/CONTRIBUTING.md", "project/CHANGELOG.md"),
}
"""Pages that docs/site_hooks.py adds."""


def pages(nav: object) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else []
    return [page for part in parts for page in pages(part)]


def test_the_navigation_names_every_page_once() -> None:
    text = (ROOT / "mkdocs.yml").read_text().replace("!!python/object/apply:pymdownx.slugs.slugify", "")
    found = pages(yaml.safe_load(text)["nav"])
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert sorted(found) == sorted(written | GENERATED)


def test_the_generated_pages_are_those_of_the_hooks() -> None:
    hooks = (ROOT / "docs/site_hooks.py").read_text()
    assert all(Path(page).name in hooks for page in GENERATED)


def test_what_builds_the_site_has_upper_bounds() -> None:
    lines = (ROOT / "docs/requirements.txt").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#") and not re.search(r",<\d", line)] == []
