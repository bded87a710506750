"""Index folders: complete or absent, rejected if they do not match, embedding only what changed."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import reduce
from itertools import product
from operator import getitem
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts.errors import ConfigError, KnowledgeError
from balrog_rag.knowledge.corpus import load
from balrog_rag.knowledge.index_folder import IndexFolder
from balrog_rag.knowledge.integrity import records
from balrog_rag.knowledge.opening import build_index, make_embedder, open_searcher, options_of
from balrog_rag.knowledge.passages import Cut
from tests.support import until

Settings = Callable[..., KnowledgeConfig]


def build(config: KnowledgeConfig) -> Path:
    return build_index(config, load(config.corpus, Cut(config.tokens)), make_embedder(config)).path


class Fixed:
    """An embedder that returns the vectors it was given."""

    identity = "fixed/4"

    def __init__(self, made: Any, dimensions: int = 4) -> None:
        self._made, self.dimensions = made, dimensions

    def passages(self, texts: Sequence[str], progress: Callable[[int], None]) -> Any:
        return self._made

    def queries(self, texts: Sequence[str]) -> Any:
        return self._made


def quickly_built(config: KnowledgeConfig) -> Path:
    """Build an index of the six notes without loading a model."""
    return build_index(
        config, load(config.corpus, Cut(240)), Fixed(np.eye(6, 384, dtype=np.float32), 384)
    ).path


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_only_what_changed_is_embedded(
    notes: Path, tmp_path: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    config = settings(corpus=str(notes), folder=str(tmp_path / "index"))
    (notes / "doors.md").write_text("# Gates\n\nA page that no index has seen, number 1.", encoding="utf-8")
    build(config)
    (notes / "pets.md").write_text("# Pets\n\nA page that no index has seen, number 2.", encoding="utf-8")
    (notes / "eyes.md").unlink()
    build(config)
    assert "indexed 4 passages" in capsys.readouterr().err.splitlines()[-1]
    (notes / "doors.md").write_text("# Gates\n\nA page that no index has seen, number 3.", encoding="utf-8")
    build(config)
    assert ", 1 embedded)" in capsys.readouterr().err.splitlines()[-1]
    vectors = np.load(tmp_path / "index" / "vectors.npy")
    texts = [f"{p.title}\n{p.text}" for p in load(str(notes), Cut(240)).passages]
    embedder = make_embedder(config)
    assert embedder is not None
    np.testing.assert_allclose(vectors, embedder.passages(texts, lambda count: None), atol=2e-2)


def test_each_arithmetic_has_an_index_of_its_own(
    notes: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    (notes / "own.md").write_text("# Own\n\nA page that no index has seen, number 4.", encoding="utf-8")
    options = settings().options
    places = []
    if make_embedder(settings()).identity.endswith("/f32"):
        pytest.skip("this processor computes in float32 alone")
    for precision in ("f32", "bf16"):
        config = settings(corpus=str(notes), options={**options, "minilm": {"precision": precision}})
        places.append(build(config))
        said = capsys.readouterr().err.splitlines()[-1]
        assert re.search(r", [1-7] embedded\)", said), said  # its own page at least, for each arithmetic
    assert places[0] != places[1]


def test_an_index_of_another_corpus_is_refused_with_what_to_run(
    notes: Path, tmp_path: Path, settings: Settings
) -> None:
    config = settings(corpus=str(notes), folder=str(tmp_path / "index"))
    build(config)
    (notes / "new.md").write_text("# New\n\nMore.", encoding="utf-8")
    with pytest.raises(KnowledgeError, match=r"\(corpus_digest .*index build .*knowledge.folder="):
        open_searcher(config)


@pytest.mark.parametrize(
    ("changes", "named"),
    [({"index": "bm25"}, "embedder"), ({"index": "flat_ip"}, "index is hybrid, not flat_ip")],
)
def test_an_index_of_another_kind_is_refused(
    changes: dict[str, str], named: str, notes: Path, tmp_path: Path, settings: Settings
) -> None:
    folder = str(tmp_path / "index")
    build(settings(corpus=str(notes), folder=folder))
    with pytest.raises(KnowledgeError, match=named):
        open_searcher(settings(corpus=str(notes), folder=folder, **changes))


def test_what_only_searching_spends_may_change_without_a_new_index(
    notes: Path, tmp_path: Path, settings: Settings
) -> None:
    folder = str(tmp_path / "index")
    build(settings(corpus=str(notes), folder=folder, index="hnsw"))
    options = {**settings().options, "hnsw": {"m": 32, "build_effort": 100, "effort": 7}}
    assert open_searcher(settings(corpus=str(notes), folder=folder, index="hnsw", options=options))
    options = {**settings().options, "hnsw": {"m": 8, "build_effort": 100, "effort": 7}}
    with pytest.raises(KnowledgeError, match="options is"):
        open_searcher(settings(corpus=str(notes), folder=folder, index="hnsw", options=options))


def test_a_missing_index_names_the_command(notes: Path, tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(KnowledgeError, match=r"no index here; build one with `balrog-rag knowledge"):
        open_searcher(settings(corpus=str(notes), folder=str(tmp_path / "nothing")))


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("manifest.json", b"{"),
        ("manifest.json", b'{"format": "x"}'),
        ("passages.jsonl", b""),
        ("passages.jsonl", b'{"id": "a", "ti'),
        ("vectors.npy", b"garbage"),
        ("vectors.npy", b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94."),
        ("index/index.faiss", b"garbage"),
    ],
)
def test_a_broken_index_is_one_clear_line(
    file: str, content: bytes, notes: Path, tmp_path: Path, settings: Settings
) -> None:
    config = settings(corpus=str(notes), index="hnsw", folder=str(tmp_path / "index"))
    (build(config) / file).write_bytes(content)
    with pytest.raises(KnowledgeError) as caught:
        open_searcher(config).search(["door"], 1)
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "index") in str(caught.value)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)


def _sparse(path: Path) -> None:
    os.truncate(path, 5 << 30)


@pytest.mark.parametrize("index", ["hnsw", "ivf_pq", "hybrid"])
def test_a_file_that_changed_since_the_build_is_named_before_it_is_opened(
    index: str, notes: Path, tmp_path: Path, settings: Settings
) -> None:
    folder = quickly_built(settings(corpus=str(notes), index=index, folder=str(tmp_path / "index")))
    manifest, whole = IndexFolder(folder).manifest(), tmp_path / "whole"
    names = [name for name in files(folder) if name != "manifest.json"]
    assert {name.split("/")[0] for name in names} == {"hashes.npy", "index", "passages.jsonl", "vectors.npy"}
    for name, change in product(names, (_truncate, _flip, Path.unlink, _sparse)):
        shutil.copytree(folder, whole)
        change(whole / name)
        with pytest.raises(
            KnowledgeError, match=rf"is damaged: {re.escape(name)} .*build it again"
        ) as caught:
            IndexFolder(whole).check(manifest)
        assert "\n" not in str(caught.value)
        shutil.rmtree(whole)


@pytest.mark.parametrize("index", ["hnsw", "ivf_pq"])
def test_a_truncated_faiss_file_does_not_end_the_process(
    index: str, notes: Path, tmp_path: Path, settings: Settings
) -> None:
    config = settings(corpus=str(notes), index=index, folder=str(tmp_path / "index"))
    _truncate(build(config) / "index" / "index.faiss")
    with pytest.raises(KnowledgeError, match=r"is damaged: index/index\.faiss has [\d,]+ bytes, not "):
        open_searcher(config)


def test_a_file_that_was_added_to_an_index_is_refused(
    notes: Path, tmp_path: Path, settings: Settings
) -> None:
    folder = quickly_built(settings(corpus=str(notes), folder=str(tmp_path / "index")))
    (folder / "index" / "more.npy").write_bytes(b"")
    with pytest.raises(KnowledgeError, match=r"is damaged: index/more\.npy was added"):
        IndexFolder(folder).check(IndexFolder(folder).manifest())


def _reopen(config: KnowledgeConfig) -> None:
    """Write a manifest that matches changed files, as a person could by hand, and open the folder."""
    assert config.folder is not None
    place = IndexFolder(Path(config.folder))
    sealed = msgspec.structs.replace(place.manifest(), files=records(place.path))
    (place.path / "manifest.json").write_bytes(msgspec.json.encode(sealed))
    place.check(sealed)
    place.open(options_of(config, config.index), 1)


VECTORS = np.eye(6, 384, dtype=np.float32)


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (VECTORS[:5], "expected 6 vectors of 384 numbers"),
        (VECTORS[:, :100], "expected 6 vectors of 384 numbers"),
        (VECTORS.astype(np.float64), "expected an array of float32, got float64"),
        (np.asfortranarray(VECTORS), "row by row"),
        (np.where(VECTORS == 1, np.nan, VECTORS), "NaN"),
        (np.array(["a"]), "float32"),
    ],
)
def test_vectors_that_cannot_be_searched_are_refused(
    vectors: Any, said: str, notes: Path, tmp_path: Path, settings: Settings
) -> None:
    config = settings(corpus=str(notes), index="flat_ip", folder=str(tmp_path / "index"))
    np.save(quickly_built(config) / "vectors.npy", vectors)
    with pytest.raises(KnowledgeError, match=rf"is damaged: vectors\.npy: .*{said}"):
        _reopen(config)


def _faiss_file(path: Path, kind: str, rows: int, dimensions: int, metric: int) -> None:
    import faiss

    index = faiss.index_factory(dimensions, kind, metric)
    index.add(np.ones((rows, dimensions), np.float32))
    faiss.write_index(index, str(path))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (("Flat", 6, 384, 0), "is an IndexFlatIP, not an IndexHNSWFlat"),
        (("HNSW32", 5, 384, 0), "is over 5 vectors of 384 numbers, not 6 of 384"),
        (("HNSW32", 6, 100, 0), "is over 6 vectors of 100 numbers"),
        (("HNSW32", 6, 384, 1), "does not search by inner product"),
    ],
)
def test_a_faiss_index_of_other_vectors_is_refused(
    made: tuple[str, int, int, int], said: str, notes: Path, tmp_path: Path, settings: Settings
) -> None:
    config = settings(corpus=str(notes), index="hnsw", folder=str(tmp_path / "index"))
    _faiss_file(quickly_built(config) / "index" / "index.faiss", *made)
    with pytest.raises(KnowledgeError, match=said):
        _reopen(config)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("indices.csc.index.npy", np.full(3, 900, np.int32)),
        ("data.csc.index.npy", np.full(3, np.nan, np.float32)),
        ("indptr.csc.index.npy", np.array([5, 1, 7])),
        ("vocab.index.json", b'{"door": 90000}'),
        ("vocab.index.json", b'{"door": "x"}'),
        ("params.index.json", b"[]"),
        ("params.index.json", b"{}"),
    ],
)
def test_a_bm25_index_that_does_not_fit_is_one_line(
    name: str, content: Any, notes: Path, tmp_path: Path, settings: Settings
) -> None:
    config = settings(corpus=str(notes), index="bm25", folder=str(tmp_path / "index"))
    path = build(config) / "index" / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content)
    with pytest.raises(KnowledgeError, match=re.escape(str(tmp_path / "index"))) as caught:
        _reopen(config)
    assert "\n" not in str(caught.value)


def test_an_index_of_another_count_of_passages_is_refused(
    notes: Path, tmp_path: Path, settings: Settings
) -> None:
    config = settings(corpus=str(notes), index="bm25", folder=str(tmp_path / "index"))
    build(config)
    lines = (tmp_path / "index" / "passages.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "fewer.jsonl").write_bytes(b"".join(lines[:3]))
    build(replace(config, corpus=str(tmp_path / "fewer.jsonl"), folder=str(tmp_path / "fewer")))
    shutil.rmtree(tmp_path / "index" / "index")
    shutil.copytree(tmp_path / "fewer" / "index", tmp_path / "index" / "index")
    with pytest.raises(KnowledgeError, match="the bm25 index is of 3 passages, not 6"):
        _reopen(config)


def test_a_damaged_neighbour_gives_no_vectors(
    notes: Path, tmp_path: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    (notes / "odd.md").write_text("# Odd\n\nA page that no index has seen, number 7.", encoding="utf-8")
    first, second = (settings(corpus=str(notes), folder=str(tmp_path / name)) for name in ("a", "b"))
    _flip(build(first) / "vectors.npy")
    build(second)
    assert ", 7 embedded)" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("made", [np.full((6, 4), np.nan), np.ones((6, 1)), np.ones((6, 5)), np.ones(4)])
def test_an_embedder_that_returns_unusable_vectors_is_named_and_nothing_is_built(
    made: Any, notes: Path, tmp_path: Path, settings: Settings
) -> None:
    config = settings(corpus=str(notes), index="flat_ip", folder=str(tmp_path / "index"))
    with pytest.raises(KnowledgeError, match=r"^fixed/4: unusable vectors"):
        build_index(config, load(str(notes), Cut(240)), Fixed(made.astype(np.float32)))
    assert not (tmp_path / "index").exists()


def test_a_failed_build_leaves_the_old_index_untouched(
    notes: Path, tmp_path: Path, settings: Settings
) -> None:
    config = settings(corpus=str(notes), folder=str(tmp_path / "index"))
    before = files(build(config))
    broken = tmp_path / "broken.jsonl"
    good = b'{"id":"a","title":"A","text":"a"}\n'
    lines = [good.replace(b'"id":"a"', b'"id":"%d"' % number) for number in range(4)]
    broken.write_bytes(b"".join([*lines[:3], b"{nonsense}\n", lines[3]]))
    with pytest.raises(KnowledgeError, match=r"broken.jsonl, line 4: not a passage"):
        build(settings(corpus=str(broken), folder=str(tmp_path / "index")))
    assert files(tmp_path / "index") == before
    assert not list(tmp_path.glob(".index.*[0-9]"))  # nothing half-built is left


def test_a_build_that_is_killed_leaves_the_old_index_untouched(
    notes: Path, some: Path, tmp_path: Path, settings: Settings
) -> None:
    folder = tmp_path / "index"
    before = files(build(settings(corpus=str(notes), folder=str(folder))))
    lines = some.read_bytes().splitlines(keepends=True)
    fresh = tmp_path / "fresh.jsonl"
    fresh.write_bytes(b"".join(line.replace(b'"title":"', b'"title":"unseen ') for line in lines))
    command = [sys.executable, "-m", "balrog_rag.knowledge", "index", "build"]
    command += [f"knowledge.corpus={fresh}", f"knowledge.folder={folder}"]
    builder = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ)
    until(lambda: list(tmp_path.glob(".index.*/vectors.npy")), "vectors", pause=0.005)
    builder.send_signal(signal.SIGKILL)
    assert builder.wait() == -signal.SIGKILL
    assert files(folder) == before
    assert open_searcher(settings(corpus=str(notes), folder=str(folder))).search(["kitten"], 1)[0]


@pytest.mark.slow
def test_two_builds_at_once_make_one_whole_index(notes: Path, some: Path, settings: Settings) -> None:
    """Two processes: one builds while the other waits for it, and both find the index whole."""
    text = "A page that two processes index at once."
    (notes / "twice.md").write_text(f"# Twice\n\n{text}", encoding="utf-8")
    command = [sys.executable, "-m", "balrog_rag.knowledge", "search", "two processes at once", "-k", "1"]
    command += [f"knowledge.corpus={notes}", "--json"]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [each.communicate() for each in both]
    assert [each.returncode for each in both] == [0, 0], said
    assert all(text in out for out, _ in said)
    assert sum("indexed" in err for _, err in said) == 1
    place = build(settings(corpus=str(notes)))
    assert len(IndexFolder(place).passages()) == 7
    assert not list(place.parent.glob(f".{place.name}.*[0-9]"))  # nothing half-built is left


@pytest.mark.parametrize(
    ("index", "missing"),
    [("bm25", "bm25.title"), ("hybrid", "hybrid.bm25.k1"), ("hybrid", "minilm.precision")],
)
def test_a_missing_setting_is_named_before_anything_is_built(
    notes: Path, tmp_path: Path, settings: Settings, index: str, missing: str
) -> None:
    options = deepcopy(settings().options)
    *path, key = missing.split(".")
    del reduce(getitem, path, options)[key]
    with pytest.raises(ConfigError, match=re.escape(f"knowledge.options.{missing}: no value; set it")):
        open_searcher(settings(corpus=str(notes), index=index, options=options, folder=str(tmp_path / "new")))
    assert not (tmp_path / "new").exists()


def test_a_setting_that_only_a_search_misses_is_named_too(notes: Path, settings: Settings) -> None:
    options = deepcopy(settings().options)
    del options["hybrid"]["word_weight"]
    with pytest.raises(ConfigError, match=r"^knowledge\.options\.hybrid\.word_weight: no value; set it$"):
        open_searcher(settings(corpus=str(notes), options=options)).search(["kitten"], 1)


def test_what_killed_builds_have_left_goes_with_the_next(
    notes: Path, tmp_path: Path, settings: Settings
) -> None:
    left = [tmp_path / name for name in (".index.12345", ".index.old.12345")]
    others = [tmp_path / name for name in (".index.2.12345", ".index.lock.d", "index.12345", ".other.12345")]
    for folder in (*left, *others):
        folder.mkdir()
        (folder / "vectors.npy").write_bytes(b"half")
    build(settings(corpus=str(notes), folder=str(tmp_path / "index")))
    assert [folder for folder in left if folder.exists()] == []
    assert all(folder.exists() for folder in others)


def test_what_is_no_index_is_never_replaced_by_one(notes: Path, settings: Settings) -> None:
    before = files(notes)
    for place in (notes, notes / "doors.md"):
        with pytest.raises(KnowledgeError, match="not an index, and left unchanged"):
            build(settings(corpus=str(notes), folder=str(place)))
    assert files(notes) == before


def test_the_manifest_says_what_the_index_was_made_of(
    notes: Path, tmp_path: Path, settings: Settings
) -> None:
    path = build(settings(corpus=str(notes), folder=str(tmp_path / "index")))
    manifest = json.loads((path / "manifest.json").read_bytes())
    assert manifest["passages"] == 6
    assert manifest["dimensions"] == 384
    assert manifest["embedder"].startswith("minilm/")
    assert manifest["options"]["bm25"] == {"k1": 1.2, "b": 0.75, "title": 2}
    assert {"numpy", "faiss-cpu", "bm25s"} <= manifest["versions"].keys()
