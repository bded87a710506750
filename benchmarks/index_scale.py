"""Compare flat, HNSW and IVF-PQ as a knowledge base grows: `benchmarks/index_scale.py --count 1000000`.

Passages are synthetic: each vector is a mixture of two real passages' vectors with noise, so that they are as
crowded as real ones. Queries are the real test queries. Recall is relative to flat search.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

from balrog_rag.contracts import registry
from balrog_rag.knowledge.config_section import compose
from balrog_rag.knowledge.corpus import load
from balrog_rag.knowledge.evaluation import read_queries
from balrog_rag.knowledge.opening import make_embedder
from balrog_rag.knowledge.passages import Cut, wording
from balrog_rag.util.paths import data

NOISE = 0.5
_BLOCK = 50_000


def synthetic(folder: Path, count: int) -> np.ndarray:
    """This number of vectors, written to disk and mapped, as in a built index."""
    config = compose([])
    embedder = make_embedder(config)
    passages = load("embedded", Cut(240)).passages
    real = embedder.passages([wording(p) for p in passages], lambda done: None)
    path = folder / "vectors.npy"
    vectors = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(count, real.shape[1]))
    dice = np.random.default_rng(0)
    for start in range(0, count, _BLOCK):
        size = min(_BLOCK, count - start)
        share = dice.uniform(0.3, 1, (size, 1)).astype(np.float32)
        mixed = share * real[dice.integers(len(real), size=size)]
        mixed += (1 - share) * real[dice.integers(len(real), size=size)]
        mixed += NOISE / np.sqrt(real.shape[1]) * dice.standard_normal(mixed.shape, dtype=np.float32)
        vectors[start : start + size] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    vectors.flush()
    return np.load(path, mmap_mode="r")


def measure(
    name: str, vectors: np.ndarray, queries: np.ndarray, folder: Path, threads: int, truth: list
) -> list:
    """Build, search one by one, compare with the exact result, and print a row."""
    options = dict(compose([]).options[name])
    kind = registry.indexes.get(name)
    place = folder / name
    place.mkdir()
    start = time.perf_counter()
    kind.build(place, None, vectors, options, threads)
    built = time.perf_counter() - start
    index = kind(place, vectors, options, 1)
    for query in queries[:20]:
        index.search([""], query[None], 5)
    took, found = [], []
    for query in queries:
        start = time.perf_counter()
        hits = index.search([""], query[None], 5)[0]
        took.append((time.perf_counter() - start) * 1000)
        found.append({number for number, _ in hits})
    truth = truth or found
    recall = sum(len(one & other) / 5 for one, other in zip(found, truth, strict=True)) / len(truth)
    size = sum(path.stat().st_size for path in place.iterdir()) / 1e6
    own = "the vectors" if not size else f"{size:.0f} MB"
    print(f"{len(vectors):>9} {name:8} {built:>9.1f} {median(took):>9.2f} {recall:>9.3f}   {own}", flush=True)
    return truth


def main() -> None:
    """Print one row per index."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, action="append", help="how many passages (3000, 30000, 300000)")
    parser.add_argument("--threads", type=int, default=2, help="threads for building (2); searches use one")
    options = parser.parse_args()
    embedder = make_embedder(compose([]))
    asked = [query.query for query in read_queries(data("wiki_index") / "queries.jsonl", "all")]
    queries = embedder.queries(asked)
    print(f"{'passages':>9} {'index':8} {'build s':>9} {'p50 ms':>9} {'recall@5':>9}   its file")
    for count in options.count or [3000, 30_000, 300_000]:
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as temporary:
            folder = Path(temporary)
            vectors = synthetic(folder, count)
            truth: list = []
            for name in ("flat_ip", "hnsw", "ivf_pq"):
                truth = measure(name, vectors, queries, folder, options.threads, truth)


if __name__ == "__main__":
    main()
