"""Compare flat, HNSW and IVF-PQ as a knowledge base grows.

    PYTHONPATH=. python benchmarks/index_scale.py embed --out FOLDER [--count 50000] [--texts FOLDER ...]
    PYTHONPATH=. python benchmarks/index_scale.py compare --out FOLDER --count 200000 --count 1000000

`embed` embeds real passages, by default the docstrings and text files of the installed Python packages, in
pieces of a thousand; a second call continues. `compare` takes these vectors and fills up with mixtures of
two of them with noise, so that the others are as crowded as real ones; without `embed`, the passages of
`embedded` are used. Queries are the real test queries. Recall is relative to flat search, whose results are
kept in FOLDER, so that `--only hnsw` can follow on another day.
"""

import argparse
import ast
import json
import os
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np

from balrog_rag.contracts import registry
from balrog_rag.knowledge.config_section import compose
from balrog_rag.knowledge.corpus import load
from balrog_rag.knowledge.embed import Embedder, Vectors
from balrog_rag.knowledge.embed.minilm import tokenizer
from balrog_rag.knowledge.evaluation import read_queries
from balrog_rag.knowledge.opening import make_embedder
from balrog_rag.knowledge.passages import Cut, Page, passages, wording
from balrog_rag.util.paths import data

NOISE = 0.5
KINDS = ("flat_ip", "hnsw", "ivf_pq")
TOKENS = 240
_BLOCK = 50_000
_PIECE = 1000
_SHORTEST = 200
"""Characters of the shortest text that is a page: most docstrings are one line."""


def embedder_of_defaults() -> Embedder:
    """Return the default embedder."""
    embedder = make_embedder(compose([]))
    assert embedder is not None
    return embedder


def pages(folder: Path) -> Iterator[Page]:
    """Return the docstrings and text files below a folder, in the order of their paths."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".py", ".md", ".txt", ".rst") or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
            texts = docstrings(text) if path.suffix == ".py" else [text]
        except (OSError, UnicodeDecodeError, SyntaxError, ValueError, RecursionError):
            continue  # of somebody else's package, and one of many
        name = path.relative_to(folder).as_posix()
        yield from (Page(title=path.stem, text=each, path=name, plain=True) for each in texts)


def docstrings(source: str) -> list[str]:
    """Return the docstrings of a module that are more than a line or two."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = (ast.get_docstring(node) for node in ast.walk(ast.parse(source)) if isinstance(node, kinds))
    return [text for text in found if text and len(text) >= _SHORTEST]


def different_texts(folders: list[Path], count: int) -> Iterator[str]:
    """Return texts of passages, each once, until there are enough."""
    words, seen = tokenizer(), set()
    cut = Cut(TOKENS)
    for folder in folders:
        for passage in passages(pages(folder), "texts", cut, lambda text: len(words.encode(text).ids)):
            if passage.text not in seen:
                seen.add(passage.text)
                yield wording(passage)
            if len(seen) == count:
                return


def embed(out: Path, folders: list[Path], count: int) -> None:
    """Embed the texts in pieces; those that are in the folder are kept."""
    out.mkdir(parents=True, exist_ok=True)
    listed = out / "texts.json"
    if not listed.exists():
        listed.write_text(json.dumps(list(different_texts(folders, count))), encoding="utf-8")
    texts = json.loads(listed.read_text(encoding="utf-8"))
    embedder, start, embedded = embedder_of_defaults(), time.process_time(), 0
    for number, first in enumerate(range(0, len(texts), _PIECE)):
        piece = out / f"piece-{number:05}.npy"
        if piece.exists():
            continue
        vectors = embedder.passages(texts[first : first + _PIECE], lambda done: None)
        np.save(piece.with_suffix(".part.npy"), vectors)
        piece.with_suffix(".part.npy").rename(piece)
        embedded += len(vectors)
        rate = embedded / (time.process_time() - start)
        print(f"{first + len(vectors)} of {len(texts)}, {rate:.0f} a second of processor", flush=True)


def real_vectors(out: Path) -> Vectors:
    """Return the embedded pieces, or the vectors of the corpus `embedded` if there are none."""
    found = sorted(out.glob("piece-?????.npy"))
    if found:
        return np.concatenate([np.load(path) for path in found])
    texts = [wording(passage) for passage in load("embedded", Cut(TOKENS)).passages]
    return embedder_of_defaults().passages(texts, lambda done: None)


def filled_up(real: Vectors, folder: Path, count: int) -> Vectors:
    """Return this many vectors, the real ones first, written to disk and mapped, as in a built index."""
    path = folder / "vectors.npy"
    vectors = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(count, real.shape[1]))
    given = min(count, len(real))
    vectors[:given] = real[:given]
    dice = np.random.default_rng(0)
    for start in range(given, count, _BLOCK):
        size = min(_BLOCK, count - start)
        share = dice.uniform(0.3, 1, (size, 1)).astype(np.float32)
        mixed = share * real[dice.integers(len(real), size=size)]
        mixed += (1 - share) * real[dice.integers(len(real), size=size)]
        mixed += NOISE / np.sqrt(real.shape[1]) * dice.standard_normal(mixed.shape, dtype=np.float32)
        vectors[start : start + size] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    vectors.flush()
    return np.load(path, mmap_mode="r")


def resident() -> float:
    """Return the process's resident memory in megabytes."""
    pages_used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages_used * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(name: str, vectors: Vectors, queries: Vectors, folder: Path, threads: int, truth: Path) -> None:
    """Build, search one by one, compare with the exact result, and print a row."""
    options = dict(compose([]).options[name])
    kind = registry.indexes.get(name)
    place = folder / name
    place.mkdir()
    wall, processor = time.perf_counter(), time.process_time()
    kind.build(place, None, vectors, options, threads)
    built, used = time.perf_counter() - wall, time.process_time() - processor
    before = resident()
    index = kind(place, vectors, options, 1)
    for query in queries[:20]:
        index.search([""], query[None], 5)
    took, found = [], []
    for query in queries:
        start = time.perf_counter()
        hits = index.search([""], query[None], 5)[0]
        took.append((time.perf_counter() - start) * 1000)
        found.append([int(number) for number, _ in hits])
    if name == "flat_ip":
        truth.write_text(json.dumps(found), encoding="utf-8")
    exact = json.loads(truth.read_text(encoding="utf-8"))
    recall = sum(len({*one} & {*other}) / 5 for one, other in zip(found, exact, strict=True)) / len(exact)
    size = sum(path.stat().st_size for path in place.iterdir()) / 1e6
    own = "the vectors" if not size else f"{size:.0f} MB"
    print(
        f"{len(vectors):>9} {name:8} {built:>9.1f} {used:>9.1f} {median(took):>9.2f} {recall:>9.3f} "
        f"{resident() - before:>9.0f}   {own}",
        flush=True,
    )


def compare(out: Path, counts: list[int], only: list[str], threads: int) -> None:
    """Print one row per index and number of passages."""
    out.mkdir(parents=True, exist_ok=True)
    asked = [query.query for query in read_queries(data("wiki_index") / "queries.jsonl", "all")]
    queries, real = embedder_of_defaults().queries(asked), real_vectors(out)
    print(f"{len(real)} real vectors, {len(asked)} queries")
    print(
        f"{'passages':>9} {'index':8} {'build s':>9} {'cpu s':>9} {'p50 ms':>9} {'recall@5':>9} "
        f"{'MB':>9}   its file"
    )
    for count in counts:
        with tempfile.TemporaryDirectory(dir=out) as temporary:
            vectors = filled_up(real, Path(temporary), count)
            truth = out / f"exact-{count}-of-{len(real)}.json"
            for name in only if truth.exists() else dict.fromkeys(("flat_ip", *only)):
                measure(name, vectors, queries, Path(temporary), threads, truth)


def main() -> None:
    """Run one step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("embed", "compare"))
    parser.add_argument("--out", type=Path, required=True, help="folder of vectors and exact results")
    parser.add_argument("--count", type=int, action="append", help="how many passages")
    parser.add_argument("--texts", type=Path, action="append", help="folders of texts to embed")
    parser.add_argument("--only", action="append", choices=KINDS, help="an index (all)")
    parser.add_argument("--threads", type=int, default=2, help="threads for building (2); searches use one")
    given = parser.parse_args()
    if given.step == "embed":
        folders = given.texts or [Path(sysconfig.get_path("purelib"))]
        embed(given.out, folders, (given.count or [50_000])[0])
    else:
        compare(given.out, given.count or [3000, 30_000, 300_000], given.only or [*KINDS], given.threads)


if __name__ == "__main__":
    main()
