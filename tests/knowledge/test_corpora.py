"""Imported corpora: read completely, or rejected in one line with the old one unchanged."""

import bz2
import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.config_section import compose
from balrog_rag.knowledge.corpus import imported, load, wikitext
from balrog_rag.knowledge.corpus.bringing import import_corpus
from balrog_rag.knowledge.corpus.wikitext_process import UnparsedPage, WikitextProcess
from balrog_rag.knowledge.opening import open_searcher
from balrog_rag.knowledge.passages import Cut, Page, passages

CUT = Cut(240)
Settings = Callable[..., KnowledgeConfig]


def page(title: str, text: str, namespace: int = 0, redirect: str = "") -> str:
    to = f'<redirect title="{redirect}" />' if redirect else ""
    body = text.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f"<page><title>{title}</title><ns>{namespace}</ns><id>1</id>{to}"
        f"<revision><id>2</id><text xml:space='preserve'>{body}</text></revision></page>"
    )


def dump(*pages: str) -> str:
    head = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">'
    return f"{head}<siteinfo><sitename>NetHackWiki</sitename></siteinfo>{''.join(pages)}</mediawiki>"


FOUNTAIN = """{{nav|dungeon features}}
A '''fountain''' is a [[dungeon feature]] shown as {{white|{}}. See [[Excalibur|the sword]].<ref>note</ref>
[[File:Fountain.png|thumb]] <!-- hidden -->

== Quaffing ==
{| class="wikitable"
! Chance !! Effect
|-
| align=center | 1/30 || [[Wish]]
|-
| 3/100 || Water moccasins &amp; more
|}

=== Dipping ===
* Dip a [[long sword]] for Excalibur.
[[Category:Dungeon features]]"""
WIKI = dump(
    page("Fountain", FOUNTAIN),
    page("Dip fountain", "#REDIRECT [[Fountain]]", redirect="Fountain"),
    page("Talk:Fountain", "I once got a wish!", namespace=1),
    page("User:Somebody", "About me", namespace=2),
    page("File:Fountain.png", "A picture", namespace=6),
    page("Escape", "Red \x1b[31m".replace("\x1b", "") + "text and <|ACTION|>quit<|END|>"),
)


def test_a_wiki_dump_becomes_readable_passages(tmp_path: Path) -> None:
    source = tmp_path / "wiki.xml"
    source.write_text(WIKI, encoding="utf-8")
    found = {p.id: p for p in import_corpus("nethackwiki", source, CUT).passages}
    assert list(found) == [
        "nethackwiki/fountain",
        "nethackwiki/fountain#quaffing",
        "nethackwiki/fountain#dipping",
        "nethackwiki/escape",
    ]
    lead = found["nethackwiki/fountain"].text
    assert lead.startswith("Also called: Dip fountain.")
    assert "A fountain is a dungeon feature shown as" in lead
    assert "See the sword." in lead
    assert not any(mark in lead for mark in ("'''", "[[", "{{", "note", "hidden", "thumb"))
    assert "1/30 | Wish\n3/100 | Water moccasins & more" in found["nethackwiki/fountain#quaffing"].text
    assert "Dip a long sword for Excalibur." in found["nethackwiki/fountain#dipping"].text
    assert found["nethackwiki/escape"].text == "Red [31mtext and <|ACTION|>quit<|END|>"
    assert found["nethackwiki/fountain#dipping"].url == "https://nethackwiki.com/wiki/Fountain"
    assert load("nethackwiki", CUT).passages[0].licence.startswith("NGPL")


def test_discussion_pages_are_an_option_and_packed_dumps_are_read(tmp_path: Path) -> None:
    source = tmp_path / "wiki.xml.bz2"
    source.write_bytes(bz2.compress(WIKI.encode()))
    titles = [p.title for p in import_corpus("nethackwiki", source, CUT, {"talk": True}).passages]
    assert "Talk:Fountain" in titles
    assert "User:Somebody" not in titles


BOMB = '<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><mediawiki>&b;</mediawiki>'


def test_a_dump_in_another_alphabet_is_read(tmp_path: Path) -> None:
    source = tmp_path / "wiki.xml"
    source.write_bytes(('<?xml version="1.0" encoding="utf-16"?>' + WIKI).encode("utf-16"))
    assert len(import_corpus("nethackwiki", source, CUT).passages) == 4


def test_a_dump_that_unpacks_without_end_is_refused_on_the_way(tmp_path: Path) -> None:
    source = tmp_path / "wiki.xml.gz"
    small = page("Newt", "A newt. " * 5000).encode() * 200
    with gzip.open(source, "wb", compresslevel=1) as file:
        file.write(dump().encode().removesuffix(b"</mediawiki>"))
        for _ in range(40):
            file.write(small)
    assert source.stat().st_size < 4_000_000
    with pytest.raises(KnowledgeError, match="unpacks to more than 100 times its size"):
        import_corpus("nethackwiki", source, CUT)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (WIKI[: len(WIKI) // 2].encode(), "truncated"),
        (bz2.compress(WIKI.encode() * 50)[:300], "truncated"),
        (b"<!DOCTYPE html><html><body>Not found</body></html>", "document type"),
        (b"<html><body>Not found</body></html>", "the root element is <html>"),
        (BOMB.encode(), "document type"),
        (BOMB.replace("?>", "?><!--" + "x" * 100_000 + "-->" + "\n" * 5000).encode(), "document type"),
        (BOMB.replace('"1.0"', '"1.0" encoding="utf-16"').encode("utf-16"), "document type"),
        (dump("<page>" * 300_000).encode(), "a page contains a page"),
        (dump("<b>" * 300_000).encode(), "elements are nested"),
        (dump(page("Long", "x" * (33 << 20))).encode(), "a page of more than 32 million"),
        (dump().encode(), "no page"),
        (dump(page("Empty", "  ")).encode(), "no page with text"),
        (b"\xff\xfe\x00rubbish", "a different file"),
        (b"", "a different file"),
        (WIKI.replace("fountain", "caf\xe9").encode("latin-1"), "a different file"),
    ],
)
def test_a_bad_dump_is_one_line_and_the_old_corpus_stays(content: bytes, said: str, tmp_path: Path) -> None:
    good = tmp_path / "good.xml"
    good.write_text(WIKI, encoding="utf-8")
    import_corpus("nethackwiki", good, CUT)
    file = imported("nethackwiki", CUT)
    before = file.read_bytes()
    bad = tmp_path / ("bad.bz2" if content[:3] == b"BZh" else "bad.xml")
    bad.write_bytes(content)
    with pytest.raises(KnowledgeError, match=said) as caught:
        import_corpus("nethackwiki", bad, CUT)
    assert "\n" not in str(caught.value)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(".nethackwiki")] == []


CELL = "a" + "=a" * 80 + " =" * 40
BOMB_PAGE = "{{a|" * 50_000
"""mwparserfromhell takes time quadratic in such a page's length: 200 kB take more than half a minute."""


def test_a_table_cell_full_of_equals_signs_is_read_in_linear_time() -> None:
    cells = [
        f"| {CELL} ",
        f"| {'a=' * 50_000}",
        f'| a="{" " * 50_000}',
        f"| align=center {'b=c ' * 9}| x = y",
    ]
    text = wikitext.plain("\n".join(["{|", *cells, "|}"]))
    assert text.startswith("a=a=a")
    assert text.endswith("x = y")
    assert "center" not in text


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("align=center | 1/30", "1/30"),
        ("style=\"a: b\" class='c' rowspan = 2| x", "x"),
        ('a="b"c=d|e', "e"),
        ("align=a|b|c", "b|c"),
        ("no attribute", "no attribute"),
        ("x = 5", "x = 5"),
    ],
)
def test_a_cell_loses_its_attributes(cell: str, text: str) -> None:
    assert wikitext.plain(f"{{|\n| {cell}\n|}}") == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("{{#if: yes | It bites. | It does not.}}", "It bites."),
        ("{{#if: | It bites. | It does not.}}", "It does not."),
        ("{{#if: | It bites.}}", ""),
        ("{{#if: {{{1|}}} | It bites. | It does not.}}", ""),  # the page alone does not say
        ("{{#if: {{other}} | It bites. | It does not.}}", ""),
        ("{{#if: yes | AC = 5 | AC = 7}}", "AC = 5"),
        ("{{#ifeq: 2 | 2.0 | same | different}}", "same"),
        ("{{#ifeq: a | b | same | different}}", "different"),
        ("{{#switch: b | a = one | b | c = two | #default = three}}", "two"),
        ("{{#switch: x | a = one | #default = three}}", "three"),
        ("{{#switch: x | a = one | four}}", "four"),
        ("{{#switch: {{{1}}} | a = one | four}}", ""),
        ("{{#expr: 2 + 2}}", ""),
        ("{{#ifexpr: 1 > 2 | more | less}}", ""),
        ("{{#ifexist: Newt | yes | no}}", ""),
        ("{{uc:abc}}, {{formatnum:1234}}", "ABC, 1234"),
        ("It weighs {{convert|5|lb|kg}}.", "It weighs 5 lb."),
        ("{{convert|5|to|10|ft|m}}", "5 to 10 ft"),
        ("{{convert|5}}", "5"),
    ],
)
def test_parser_functions_are_evaluated_or_dropped_but_never_guessed(markup: str, text: str) -> None:
    pytest.importorskip("mwparserfromhell")
    assert wikitext.plain(markup) == text


def test_a_page_that_takes_the_parser_too_long_is_interrupted_and_the_next_one_is_read() -> None:
    with WikitextProcess(seconds=0.1) as process:
        assert process.plain("A '''newt'''.") == "A newt."
        with pytest.raises(UnparsedPage, match="more than 1 s to parse"):
            process.plain(BOMB_PAGE[:100_000])
        assert process.plain("A '''jackal'''.") == "A jackal."


def test_a_parser_that_is_killed_costs_one_page() -> None:
    with WikitextProcess() as process:
        process.plain("A newt.")
        assert process._child is not None
        process._child.kill()
        with pytest.raises(UnparsedPage, match="the parser ended with signal 9"):
            process.plain("A '''newt'''.")
        assert process.plain("A '''jackal'''.") == "A jackal."


@pytest.mark.slow
def test_an_import_names_the_page_that_it_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "wiki.xml"
    source.write_text(dump(page("Newt", "A newt."), page("Bomb", BOMB_PAGE), page("Jackal", "A jackal.")))
    found = [passage.title for passage in import_corpus("nethackwiki", source, CUT).passages]
    assert found == ["Newt", "Jackal"]
    assert 'left out: page "Bomb": its markup takes more than 12 s to parse' in capsys.readouterr().out


def test_headings_are_found_in_linear_time() -> None:
    long = ["# " + " " * 200_000 + "x", "# " + "#" * 200_000 + "x", "#" + "\n" * 200_000]
    text = "\n".join([*long, "## Dipping ##", "Dip."])
    found = list(passages([Page("Fountain", text)], "wiki", Cut(240), lambda text: 1))
    assert found[-1].title == "Fountain: Dipping"


MINIHACK = [
    {
        "wikipedia_title": "Newt",
        "categories": "Monsters",
        "text": ["Newt\n", "A newt bites.\n"],
        "page_data": [],
        "anchors": [],
    },
    {
        "wikipedia_title": "newt",
        "categories": "",
        "text": ["Newt\n", "The last one counts.\n"],
        "page_data": [],
        "anchors": [],
    },
    {
        "wikipedia_title": "Newts",
        "categories": "",
        "text": ["Newt\n", "The last one counts.\n"],
        "page_data": [],
        "anchors": [],
    },
    {
        "wikipedia_title": "Old",
        "categories": "",
        "text": ["#REDIRECT [[Newt]]"],
        "page_data": [],
        "anchors": [],
    },
    {"wikipedia_title": "Void", "categories": "", "text": [], "page_data": [], "anchors": []},
    {
        "wikipedia_title": "Xan",
        "categories": "",
        "text": ["Xan\n", "It stings legs.\n"],
        "page_data": [],
        "anchors": [],
    },
]


def test_minihacks_file_is_filtered_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "nethackwikidata.json"
    source.write_text("\n".join(map(json.dumps, MINIHACK)), encoding="utf-8")
    found = import_corpus("minihack", source, Cut(0)).passages
    assert [(p.title, p.text) for p in found] == [
        ("newt", "Newt\nThe last one counts."),
        ("Xan", "Xan\nIt stings legs."),
    ]
    said = capsys.readouterr().out
    assert "1 without text" in said
    assert "1 that only redirect" in said
    assert "1 of a repeated title" in said
    assert "1 of a repeated text" in said
    assert "minihack: 2 pages, 2 passages" in said


def test_minihacks_processed_file_is_read_too(tmp_path: Path) -> None:
    newt = {"title": "newt", "raw_text": "Newt\nIt bites.", "categories": ["Monsters"]}
    source = tmp_path / "processed.json"
    source.write_text(json.dumps({"_global_counts": {}, "newt": newt, "newts": newt}), encoding="utf-8")
    assert [p.text for p in import_corpus("minihack", source, Cut(0)).passages] == ["Newt\nIt bites."]


STORE = {
    "high-elf": {"title": "high-elf", "categories": ["Defunct"], "raw_text": "High-elf\nThere is none."},
    "samurai": {"title": "samurai", "categories": ["Roles"], "raw_text": "Samurai\nThey serve a lord."},
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("counts", [{}, {"_global_counts": {"samurai": 3}}])
def test_the_papers_file_is_read_whole(tmp_path: Path, indent: int | None, counts: dict[str, object]) -> None:
    """Made in its form: its Figure 6 shows a dictionary of pages over many lines."""
    source = tmp_path / "processed_wiki_self.json"
    source.write_text(json.dumps({**counts, **STORE}, indent=indent), encoding="utf-8")
    found = import_corpus("minihack", source, Cut(0)).passages
    assert [(each.title, each.text) for each in found] == [
        (page["title"], page["raw_text"]) for page in STORE.values()
    ]


def test_every_cut_of_an_imported_corpus_is_one_of_its_own(tmp_path: Path) -> None:
    long = {"title": "newt", "raw_text": "Newts are small. " * 40}
    source = tmp_path / "store.json"
    source.write_text(json.dumps({"newt": long}), encoding="utf-8")
    import_corpus("minihack", source, Cut(20))
    assert len(load("minihack", Cut(20)).passages) > 1
    with pytest.raises(
        KnowledgeError, match=r"not here in passages of 31 tokens; .* knowledge\.tokens=31"
    ) as no:
        load("minihack", Cut(31))
    assert "\n" not in str(no.value)
    import_corpus("minihack", source, Cut(0))
    assert len(load("minihack", Cut(0)).passages) == 1
    assert len(load("minihack", Cut(20)).passages) > 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"wikipedia_title": "A", "text": ["x"]}\n{"wikipedia_ti', "line 2: not JSON"),
        (b'{\n "newt": {"title": "newt", "raw_te', "not JSON"),
        (b"<html>", "not JSON"),
        (b"[1, 2]", "a page is expected"),
        (b'{"name": "A"}', "without wikipedia_title"),
        (b"\xff\xfe", "not JSON"),
        (b"\n\n", "no page with text"),
    ],
)
def test_a_bad_minihack_file_is_one_line(content: bytes, said: str, tmp_path: Path) -> None:
    source = tmp_path / "bad.json"
    source.write_bytes(content)
    with pytest.raises(KnowledgeError, match=said) as caught:
        import_corpus("minihack", source, CUT)
    assert "\n" not in str(caught.value)


def test_a_folder_is_read_in_order_without_hidden_files(notes: Path) -> None:
    (notes / ".hidden.md").write_text("secret", encoding="utf-8")
    (notes / "data.bin").write_bytes(b"\x00")
    (notes / "more").mkdir()
    (notes / "more" / "plain.txt").write_text("# no heading here", encoding="utf-8")
    corpus = load(str(notes), CUT)
    assert [p.id for p in corpus.passages][-1] == "notes/pets"
    assert "notes/more/plain" in [p.id for p in corpus.passages]
    assert not any("secret" in p.text for p in corpus.passages)


@pytest.mark.parametrize(
    ("content", "said"), [(b"caf\xe9", "not UTF-8"), (b"", "contains no text"), (b" \n ", "contains no text")]
)
def test_a_folder_that_cannot_be_read_is_one_line(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_bytes(content)
    with pytest.raises(KnowledgeError, match=said):
        load(str(tmp_path), CUT)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("embeded", "did you mean embedded"),
        ("minihack-not-there", "no such corpus"),
    ],
)
def test_an_unknown_corpus_names_the_nearest(name: str, said: str) -> None:
    with pytest.raises(KnowledgeError, match=said):
        load(name, CUT)


def test_an_empty_folder_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match=r"contains no \.md, \.markdown, \.txt file"):
        load(str(tmp_path), CUT)


def test_a_file_of_passages_may_lack_its_last_line_end(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(
        '{"id":"a","title":"A","text":"one"}\n{"id":"b","title":"B","text":"two"}', encoding="utf-8"
    )
    assert [passage.id for passage in load(str(file), Cut(240)).passages] == ["a", "b"]
    file.write_text('{"id":"a","title":"A","text":"one"}\n{"id":"b","title":"B","te', encoding="utf-8")
    with pytest.raises(KnowledgeError, match="truncated"):
        load(str(file), Cut(240))


A = '{"id":"a","title":"A","text":"one"}'


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (f"[{A}]\n".encode(), "one object a line"),
        (f" \n[\n{A}\n]".encode(), "one object a line"),
        (f"{A}\n".encode("utf-8-sig"), "byte order mark"),
        (f"{A}\n".encode("utf-16"), "byte order mark"),
        (f"{A}\n\n{A}\n".encode(), "line 2: is empty; remove it"),
        (f"{A}\n".replace("one", " ").encode(), r"passage 1 \('a'\) has no text"),
        (f"{A}\n".replace('"a"', '""').encode(), r"passage 1 \('A'\) has no id"),
    ],
)
def test_what_is_no_file_of_passages_gets_a_hint(
    tmp_path: Path, settings: Settings, content: bytes, told: str
) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_bytes(content)
    with pytest.raises(KnowledgeError, match=told):
        open_searcher(settings(corpus=str(file), index="bm25", prior=None))


def test_no_name_is_not_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "note.md").write_text("Private.")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KnowledgeError, match=r"knowledge\.corpus is empty"):
        load("", CUT)


def test_a_link_does_not_lead_out_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "key.txt").write_text("secret")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "real.md").write_text("# Real\n\nOne.")
    (notes / "again.md").symlink_to("real.md")
    assert len(load(str(notes), CUT).passages) == 2
    (notes / "out.txt").symlink_to(tmp_path / "key.txt")
    with pytest.raises(KnowledgeError, match=r"out\.txt is a link that leads out of"):
        load(str(notes), CUT)


def test_two_passages_of_one_id_are_refused_before_anything_is_embedded(
    tmp_path: Path, settings: Settings
) -> None:
    file = tmp_path / "mine.jsonl"
    line = '{"id":"a","title":"A","text":"one"}\n'
    file.write_text(line + line.replace('"a"', '"b"') + line, encoding="utf-8")
    with pytest.raises(KnowledgeError, match=r"passages 1 and 3 are both called 'a'"):
        open_searcher(settings(corpus=str(file), index="bm25", prior=None))


@pytest.mark.parametrize("key", ["prior", "meaning"])
@pytest.mark.parametrize("nothing", ["{}", "null", "{ }"])
def test_a_prior_and_a_meaning_can_be_switched_off(key: str, nothing: str) -> None:
    assert not getattr(compose([f"knowledge.{key}={nothing}"]), key)
    assert getattr(compose([]), key)


def test_a_missing_package_is_told_before_an_index_is_built(
    notes: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    before = set(own_cache.rglob("manifest.json"))
    with pytest.raises(KnowledgeError, match=r"balrog_rag\[sentence-transformers\]"):
        open_searcher(settings(corpus=str(notes), prior=None, embedder="sentence_transformers"))
    assert set(own_cache.rglob("manifest.json")) == before
