"""Index folders: whole or not there, refused when they do not fit, embedding only what changed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from functools import reduce
from operator import getitem
from pathlib import Path

import numpy as np
import pytest

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts.errors import ConfigError, KnowledgeError
from balrog_rag.knowledge.corpus import load
from balrog_rag.knowledge.opening import build_index, make_embedder, open_searcher
from balrog_rag.knowledge.passages import Cut

Settings = Callable[..., KnowledgeConfig]


def build(config: KnowledgeConfig) -> Path:
    return build_index(config, load(config.corpus, Cut(config.tokens)), make_embedder(config)).path


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
    with pytest.raises(KnowledgeError, match=r"does not fit \(corpus_digest .*index build knowledge.folder="):
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
    with pytest.raises(
        KnowledgeError, match=r"holds no index; build one with `python -m balrog_rag\.knowledge"
    ):
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
    deadline = time.monotonic() + 200
    while not list(tmp_path.glob(".index.*/vectors.npy")) and time.monotonic() < deadline:
        time.sleep(0.005)
    builder.send_signal(signal.SIGKILL)
    assert builder.wait() == -signal.SIGKILL
    assert files(folder) == before
    assert open_searcher(settings(corpus=str(notes), folder=str(folder))).search(["kitten"], 1)[0]


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
        with pytest.raises(KnowledgeError, match="is no index and stays as it is"):
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
