"""Corpora out of Debian packages, made here byte by byte; versions of the game that passages speak of."""

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.corpus import nethack_common, spoilers, wikitext
from balrog_rag.knowledge.index.bm25 import BM25
from balrog_rag.knowledge.search import Searcher

ARTICLE = b"""fish-343.txt  Last edited 2003-01-01 for NetHack 3.4.3
Fish and how they bite in NetHack
Compiled for 3.2.2 by Ann Example.
Updated for 3.4.3 by Bob Example <bob@example.org>.

Fish bite.
"""
MAP = b"""<html><head><title>NetHack Gazetteer: Pond</title></head><body><h1>Pond</h1><p>A pond
of water.</p><h2>Map detail</h2><pre>
}}}
}.}
</pre><address>Somebody</address></body></html>"""
GUIDEBOOK = b"""          1.  Introduction

    Water is deep.

          2.  What is going on here?

    You stand in it.
"""


def package(path: Path, files: dict[str, bytes]) -> Path:
    """A Debian package of these files."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"./usr/share/doc/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    whole = b"!<arch>\n"
    for name, content in (("debian-binary", b"2.0\n"), ("data.tar.xz", data.getvalue())):
        whole += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        whole += content + b"\n" * (len(content) % 2)
    path.write_bytes(whole)
    return path


def test_articles_keep_their_authors_and_maps_their_lines(tmp_path: Path) -> None:
    files = {
        "nethack-spoilers/fish-343.txt.gz": gzip.compress(ARTICLE),
        "nethack-spoilers/gazetteer/pond.html": MAP,
        "nethack-spoilers/copyright": b"...",
        "other/bad-343.txt": ARTICLE,
    }
    found = list(spoilers.pages(package(tmp_path / "spoilers.deb", files)))
    assert [page.path for page in found] == ["fish-343", "gazetteer/pond"]
    article, pond = found
    assert article.title.startswith("Fish and how they bite in NetHack [NetHack 3.4.3 spoiler (Compiled for")
    assert "Bob Example" in article.title
    assert "Fish bite." in article.text
    assert "A pond of water.\n\n## Map detail\n\n}}}\n}.}" in pond.text
    assert "Somebody" not in pond.text
    assert {page.version for page in found} == {"3.4.3"}


def test_the_guidebook_is_read_out_of_its_package(tmp_path: Path) -> None:
    files = {"nethack-common/Guidebook.txt.gz": gzip.compress(GUIDEBOOK)}
    found = list(nethack_common.pages(package(tmp_path / "common.deb", files)))
    assert {page.version for page in found} == {"3.6.6"}
    assert any("You stand in it." in page.text for page in found)


def test_what_is_no_package_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.deb").write_bytes(b"PK")
    whole = package(tmp_path / "b.deb", {"nethack-spoilers/fish-343.txt": ARTICLE})
    (tmp_path / "cut.deb").write_bytes(whole.read_bytes()[:300])
    for name, told in (("a.deb", "no Debian package"), ("cut.deb", "cannot be unpacked")):
        with pytest.raises(KnowledgeError, match=told):
            list(spoilers.pages(tmp_path / name))
    with pytest.raises(KnowledgeError, match="right package"):
        list(nethack_common.pages(whole))


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("costs {{frac|1|3}} of it", "costs 1/3 of it"),
        ("{{frac|2|1|3}}", "2 1/3"),
        ("lasts {{plural|3|turn}}, not {{plural|1|turn}}", "lasts 3 turns, not 1 turn"),
        ("{{plural|2|wolf|wolves}}", "2 wolves"),
        ("{{d|2|6}} damage", "2d6 damage"),
        ("{{white|@}}", "@"),
        ("{{monsterlink|newt|newts}}", "newts"),
    ],
)
def test_templates_with_several_arguments_say_what_they_mean(markup: str, text: str) -> None:
    assert wikitext.plain(markup) == text


def test_a_wiki_page_says_its_version() -> None:
    assert wikitext.version("{{nethack-367}} Text") == "3.6.7"
    assert wikitext.version("Text of 3.6.7") == ""


def test_passages_of_other_versions_are_passed_over(tmp_path: Path) -> None:
    passages = [
        Passage(str(n), "newt", "newt " * (9 - n), version=v) for n, v in enumerate(("3.4.3", "3.6", ""))
    ]

    class Texts:
        def titles(self) -> list[str]:
            return [each.title for each in passages]

        def bodies(self) -> list[str]:
            return [each.text for each in passages]

    options = {"k1": 1.2, "b": 0.75, "title": 2}
    BM25.build(tmp_path, Texts(), None, options, 1)

    def found(*versions: str) -> set[str]:
        searcher = Searcher(passages, BM25(tmp_path, None, options, 1), None, versions=versions)
        return {each.id for each in searcher.search(["newt"], 2)[0]}

    assert len(found()) == 2
    assert found("3.6") == {"1", "2"}
    assert found("3.4") == {"0", "2"}
