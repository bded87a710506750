"""What MkDocs does beyond rendering docs/: generated pages, links out of docs/, Markdown for language models.

- `reference/configuration.md` is made from the schema, `reference/python-api.md` from `balrog_rag.__all__`.
- Files outside docs/ that a page links to are copied to `project/`, so that the site links to nothing that it
  does not contain.
- Every page is also written as Markdown beside its HTML, and `llms.txt` lists them.
"""

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

import balrog_rag
from balrog_rag.cli.verbs import main as balrog
from balrog_rag.config.key_reference import key_reference

TOP = Path(__file__).parents[1]
PROJECT = "project"
"""Folder of the site with files from outside docs/."""
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
LINK = re.compile(r"\]\(([^)\s]+)\)")
SUMMARY = "Compare language-model agents, prompts and retrieval in NetHack and five other text games."

_written: dict[str, str] = {}
"""The Markdown of every page as it was rendered, by its path."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the files outside docs/ that pages link to."""
    made = {"reference/configuration.md": key_reference(), "reference/python-api.md": python_api()}
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    for name in PAGES:
        files.append(File.generated(config, f"{PROJECT}/{name}", content=(TOP / name).read_text()))
    for page in [file for file in files.documentation_pages() if file.src_uri not in made]:
        for outside in outside_links(page.src_uri, page.content_string):
            if files.get_file_from_path(place_of(outside)) is None:
                files.append(File.generated(config, place_of(outside), content=(TOP / outside).read_bytes()))
    return files


def python_api() -> str:
    """Return a page with the docstring of every public name."""
    lines = ["# Python\n", "The public names of `balrog_rag`, from their docstrings.\n"]
    for name in sorted(balrog_rag.__all__, key=str.lower):
        where = balrog_rag._WHERE[name].replace(":", ".")
        lines.append(
            f"::: balrog_rag.{where}\n    options:\n      heading: {name}\n      toc_label: {name}\n"
        )
    return "\n".join(lines)


def source_of(page: str) -> str:
    """Return the path from the repository's top of the file that a page of the site is made from."""
    return page.removeprefix(f"{PROJECT}/") if page.startswith(f"{PROJECT}/") else f"docs/{page}"


def linked_file(page: str, target: str) -> str | None:
    """Return the file that a page links to, from the repository's top; None for an address or an anchor."""
    name = target.partition("#")[0]
    if not name or "://" in name or name.startswith("mailto:"):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(source_of(page)), name))


def outside_links(page: str, text: str) -> Iterator[str]:
    """Yield the files outside docs/ that a page links to."""
    for target in LINK.findall(text):
        path = linked_file(page, target)
        if path is not None and not path.startswith("docs/") and (TOP / path).is_file():
            yield path


def place_of(path: str) -> str:
    """Return where the site keeps a file of the repository; what is not a page is shown as plain text."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return (
        f"{PROJECT}/{path}" if path in PAGES or not path.endswith((".py", ".md")) else f"{PROJECT}/{path}.txt"
    )


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at the site's copies, and keep the page's Markdown."""
    here = page.file.src_uri

    def moved(found: re.Match[str]) -> str:
        path = linked_file(here, found[1])
        if path is None:
            return found[0]
        relative = posixpath.relpath(place_of(path), posixpath.dirname(here) or ".")
        _, hash_sign, anchor = found[1].partition("#")
        return f"]({relative}{hash_sign}{anchor})"

    _written[here] = LINK.sub(moved, markdown)
    return _written[here]


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Keep the order of the pages for llms.txt."""
    config.extra["sections"] = nav.items
    return nav


def on_post_build(config: MkDocsConfig) -> None:
    """Write the Markdown of every page, llms.txt and the JSON Schemas."""
    site = Path(config.site_dir)
    for name, text in _written.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    (site / "llms.txt").write_text("\n".join(_listed(config)) + "\n", encoding="utf-8")
    before = Path.cwd()
    os.chdir(site)
    try:
        balrog(["config", "schema", "--out", "schema"])
    finally:
        os.chdir(before)


def _listed(config: MkDocsConfig) -> Iterator[str]:
    yield f"# {config.site_name}\n"
    yield f"> {SUMMARY}"
    for section in config.extra["sections"]:
        yield f"\n## {section.title}\n"
        yield from _entries(section)


def _entries(section: Section) -> Iterator[str]:
    for item in section.children or ():
        if isinstance(item, Page):
            about = first_sentence(_written[item.file.src_uri])
            yield f"- [{item.title}]({item.file.src_uri})" + (f": {about}" if about else "")
        elif isinstance(item, Section):
            yield from _entries(item)


def first_sentence(text: str) -> str:
    """Return the first sentence below the heading, without links; nothing if the page begins with code."""
    prose = next(iter(re.split(r"\n\s*\n", text.strip())[1:]), "")
    if not re.match(r"[A-Za-z`\[*(]", prose) or "```" in prose or "::: " in prose:
        return ""
    plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(prose.split()))
    return re.split(r"(?<!al\.)(?<=[.?!])\s", plain, maxsplit=1)[0].rstrip(":")
