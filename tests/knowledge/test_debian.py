"""Corpora from Debian packages, built here byte by byte; game versions that passages describe."""

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.corpus import dlb, nethack_common, spoilers, wikitext
from balrog_rag.knowledge.corpus.embedded import texts
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


def ciphered(text: str) -> bytes:
    """Encrypt as the game's own tools do; the cipher is its own inverse."""
    return dlb.deciphered(text.encode("latin-1")).encode("latin-1")


ANT = b"\tAnts are many.\n\tThey\tbite.\n"
NEWT = b"\tNewts are small.\n"
INDEX = b"~giant newt\nant\n*ants\n0,2\nnewt\n%d,1\n.\n%d,0\n" % (len(ANT), len(ANT + NEWT))
TRUE = ciphered("A newt is harmless.____________\nTwo newts are, too.\n")
TEXTS = {
    "data": b"#\tMade.\n%08x\n" % (17 + len(INDEX)) + INDEX + ANT + NEWT,
    "rumors": b"#\tMade.\n0002,%06d,%06x;0001,000006,000000;0,0,00c015\n" % (len(TRUE), 57)
    + TRUE
    + ciphered("Newts kill.\n"),
    "oracles": b"#\tMade.\n  2\n---\n%s---\n%s---\n%s---\n"
    % tuple(ciphered(f"{word}\n") for word in ("So what?", "Beware of newts!", "Count to 3.")),
    "cmdhelp": b"&# cmdhelp\n&? debug\n^W\tWish\n&: #!debug\n&? number_pad=1,2\n7\tGo\n&: number_pad=0\n"
    b"h\tGo west\n&: #-1\nh\tHelp\n&.\n&.\n&\tTell\n",
    "history": b"NetHack is old.\n",
    "options": b"\n    NetHack version 3.6.7\n\nOptions\n",
    "quest.dat": b"\0\1",
}


def archive(texts: dict[str, bytes], count: int | None = None, **wrong: int) -> bytes:
    """A data archive of these files."""
    names = ["Directory", *texts]
    begin = 44 + sum(len(f"n{name}  {0:>8}\n") for name in names)
    places = [0]
    for text in texts.values():
        places.append(places[-1] + len(text))
    at = [0, *(begin + place for place in places)]
    numbers = {"revision": 1, "count": count or len(names), "text": 0, "begin": begin, "size": at[-1]} | wrong
    head = "{revision:3} {count:8} {text:8} {begin:8} {size:8}\n".format(**numbers)
    listed = "".join(f"n{name}  {place:8}\n" for name, place in zip(names, at, strict=False))
    return (head.rjust(44) + listed).encode() + b"".join(texts.values())


def package(path: Path, files: dict[str, bytes]) -> Path:
    """A Debian package of these files."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(
                f"./usr/{name}" if name.startswith("lib/") else f"./usr/share/doc/{name}"
            )
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


def common(path: Path, data: bytes) -> Path:
    """A package with a Guidebook and this data archive."""
    files = {"nethack-common/Guidebook.txt.gz": gzip.compress(GUIDEBOOK), "lib/games/nethack/nhdat": data}
    return package(path, files)


def test_guidebook_and_data_are_read_out_of_their_package(tmp_path: Path) -> None:
    found = list(nethack_common.pages(common(tmp_path / "common.deb", archive(TEXTS))))
    assert {(page.version, page.licence, page.plain) for page in found} == {("3.6.7", "NGPL", True)}
    texts = {page.path: (page.title, page.text) for page in found if not page.path.startswith("guidebook/")}
    assert texts == {
        "encyclopaedia/ant": ("ant (encyclopaedia)", "Also: ants.\n\nAnts are many.\nThey  bite."),
        "encyclopaedia/newt": ("newt (encyclopaedia)", "Newts are small."),
        "oracle/1": ("what the Oracle says, 1", "Beware of newts!"),
        "oracle/2": ("what the Oracle says, 2", "Count to 3."),
        "rumour/1": ("true rumour", "A true rumour (fortune cookie): A newt is harmless."),
        "rumour/2": ("true rumour", "A true rumour (fortune cookie): Two newts are, too."),
        "help/cmdhelp": ("help: what each key does", "h  Go west\n&  Tell"),
        "help/history": ("history of NetHack", "NetHack is old.\n"),
    }
    assert any("You stand in it." in page.text for page in found)


def test_nles_own_archive_says_what_its_sources_say() -> None:
    import nle

    game = Path(nle.__file__).parent / "nethackdir"
    members = dlb.members((game / "nhdat").read_bytes(), "nhdat")
    sources = game / "dat"
    assert len(members) == 137
    for name in ("help", "hh", "cmdhelp", "history"):
        assert members[name] == (sources / name).read_bytes()
    found = list(nethack_common.archive_pages(members))
    entries = {page.path: page for page in texts.encyclopaedia(sources / "data.base")}
    assert {page.path: page for page in found if page.path.startswith("encyclopaedia/")} == entries
    rumours = [page.text.partition(": ")[2] for page in found if page.path.startswith("rumour/")]
    assert rumours == (sources / "rumors.tru").read_text("latin-1").splitlines()
    sayings = [part.strip() for part in (sources / "oracles.txt").read_text("latin-1").split("-----")]
    assert [page.text for page in found if page.path.startswith("oracle/")] == [
        each for each in sayings if each
    ]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "unexpected numbers"),
        (b"PK\3\4" * 99, "invalid literal"),
        (archive(TEXTS)[:-1], "truncated"),
        (archive(TEXTS, revision=2), "unexpected numbers"),
        (archive(TEXTS, count=10**7), "truncated, or"),
        (archive(TEXTS, count=99), None),
        (archive(TEXTS, begin=10**7), "truncated, or"),
        (archive(TEXTS, begin=60), "directory is empty"),
        (archive({"../../etc/passwd": b"x"}).replace(b"n..", b"c.."), "a wrong line"),
        (archive({**TEXTS, "data": b"#\nzz\nant\n0,1\n"}), "index is wrong"),
        (archive({**TEXTS, "data": b"#\nffffffff\n" + b"0,1\n" * 9000}), "more than 5000"),
        (archive({**TEXTS, "rumors": b"#\n;;\n\n"}), "index is wrong"),
        (archive({**TEXTS, "rumors": b"#\n1,-5,-9;\n\n"}), "index is wrong"),
    ],
)
def test_a_hostile_archive_is_refused_in_one_line(tmp_path: Path, data: bytes, told: str | None) -> None:
    file = common(tmp_path / "common.deb", data)
    if told is None:  # a directory shorter than its number says is read as far as it goes
        assert list(nethack_common.pages(file))
        return
    with pytest.raises(KnowledgeError, match=told) as error:
        list(nethack_common.pages(file))
    assert "\n" not in str(error.value)


def test_what_is_no_package_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.deb").write_bytes(b"PK")
    whole = package(tmp_path / "b.deb", {"nethack-spoilers/fish-343.txt": ARTICLE})
    (tmp_path / "cut.deb").write_bytes(whole.read_bytes()[:300])
    for name, told in (("a.deb", "not a Debian package"), ("cut.deb", "cannot be unpacked")):
        with pytest.raises(KnowledgeError, match=told):
            list(spoilers.pages(tmp_path / name))
    with pytest.raises(KnowledgeError, match="right package"):
        list(nethack_common.pages(whole))
    only = {"nethack-common/Guidebook.txt": GUIDEBOOK, "lib/games/nethack/symbols": b""}
    with pytest.raises(KnowledgeError, match="contains no nhdat; is it nethack-common"):
        list(nethack_common.pages(package(tmp_path / "only.deb", only)))


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
