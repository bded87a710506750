"""`balrog-rag knowledge eval`: measure how well each index finds the passages that answer a query."""

import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from balrog_rag.config.schema import KnowledgeConfig
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge import beir
from balrog_rag.knowledge.corpus import Corpus, load
from balrog_rag.knowledge.metrics import DEPTH, SCORES, QuestionOutcome, mean, scores
from balrog_rag.knowledge.opening import open_searcher
from balrog_rag.knowledge.passages import Cut
from balrog_rag.util.paths import data

_WIDEST = 132
EXPORTED = 100
"""Passages of each query in an exported run."""
_PLAIN: dict[str, Any] = {"parts": 0.0, "cover": 0.0, "meaning": {}}
"""An index alone: without rewriting of queries or adjustment of scores."""


class Query(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A test query: its style, origin and split, and the passages that answer it."""

    query: str
    style: Literal["model", "question"]
    origin: Literal["paper", "ours"]
    split: Literal["dev", "test"]
    answers: tuple[str, ...]


def evaluate(config: KnowledgeConfig, options: Namespace) -> int:
    """Measure the requested indexes and print the results."""
    corpus = load(config.corpus, Cut(config.tokens, config.overlap))
    queries = read_queries(options.queries or data("wiki_index") / "queries.jsonl", options.split)
    check_answers(queries, corpus)
    names = options.index or registry.indexes.names()
    plain = [
        replace(config, index=name, folder=None, prior={}, passing=[], reranker=None, **_PLAIN)
        for name in names
    ]
    named = {each.index: each for each in plain}
    named[f"as configured ({config.index})"] = replace(config, folder=None)
    if options.export:
        export_collection(options.export, options.split, corpus, queries, named)
    outcomes = [measure(each, name, corpus, queries) for name, each in named.items()]
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(outcomes), indent=2).decode())
    else:
        print_table(outcomes, options.split)
    for outcome in outcomes if options.misses else []:
        for query in outcome.missed:
            print(f"{outcome.index}: nothing among the first five: {query}")
    if options.plot:
        from balrog_rag.knowledge.plot import plot

        plot(outcomes, options.split, options.plot)
    return 0


def export_collection(
    folder: Path, split: str, corpus: Corpus, queries: Sequence[Query], named: Mapping[str, KnowledgeConfig]
) -> None:
    """Write the collection and each search's first passages, for tools that read BEIR and TREC."""
    names = {f"q{place}": query for place, query in enumerate(queries, start=1)}
    runs = {}
    for title, config in named.items():
        searcher = open_searcher(config, corpus)
        found = searcher.search([query.query for query in queries], EXPORTED)
        runs[title if title == config.index else "configured"] = dict(zip(names, found, strict=True))
    beir.export(
        folder,
        split,
        corpus.passages,
        beir.Collection(
            {name: query.query for name, query in names.items()},
            {name: dict.fromkeys(query.answers, 1) for name, query in names.items()},
        ),
        runs,
    )


def _of_collection(folder: Path, split: str) -> list[Query]:
    """The queries of a folder in BEIR's layout; every passage with a grade above 0 answers."""
    splits: list[Literal["dev", "test"]] = [name for name in ("dev", "test") if split in ("all", name)]
    return [
        Query(text, "question", "ours", name, answers)
        for name in splits
        for found in (beir.read(folder, name),)
        for id_, text in found.queries.items()
        if (answers := tuple(each for each, grade in found.grades[id_].items() if grade > 0))
    ]


def read_queries(path: Path, split: str) -> list[Query]:
    """Read the queries of a split, or all."""
    if path.is_dir():
        return _of_collection(path, split)
    decoder = msgspec.json.Decoder(Query)
    try:
        queries = decoder.decode_lines(path.read_bytes())
    except OSError as error:
        raise KnowledgeError(f"cannot read the queries in {path}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise KnowledgeError(f"{path}: not a file of test queries: {error}") from error
    chosen = [query for query in queries if split in ("all", query.split)]
    if not chosen:
        raise KnowledgeError(f"{path}: contains no query of split {split}")
    return chosen


def check_answers(queries: Sequence[Query], corpus: Corpus) -> None:
    """Check that every answer is a passage of the corpus; otherwise scores would be wrong without notice."""
    known = {passage.id for passage in corpus.passages}
    for query in queries:
        for answer in query.answers:
            if answer not in known:
                raise KnowledgeError(
                    f"query {query.query!r} names the passage {answer}, which corpus {corpus.name} does not "
                    "have; use queries that are labelled for this corpus (--queries)"
                )


def measure(config: KnowledgeConfig, name: str, corpus: Corpus, queries: Sequence[Query]) -> QuestionOutcome:
    """Run every query on one index, one by one."""
    searcher = open_searcher(config, corpus)
    for query in queries:
        searcher.search([query.query], DEPTH)  # warm up: every length of query has then occurred once
    rows, took, missed = [], [], []
    for query in queries:
        start = time.perf_counter()
        found = searcher.search([query.query], DEPTH)[0]
        took.append((time.perf_counter() - start) * 1000)
        rows.append(scores([passage.id for passage in found], query.answers))
        if not rows[-1]["recall@5"]:
            missed.append(query.query)
    return QuestionOutcome(
        index=name,
        embedder=config.embedder if registry.indexes.get(config.index).needs_vectors else "none",
        corpus=corpus.name,
        queries=len(queries),
        scores=mean(rows),
        by_style=_by_style(queries, rows),
        p50_ms=float(np.quantile(took, 0.5)),
        p95_ms=float(np.quantile(took, 0.95)),
        missed=missed,
    )


def _by_style(queries: Sequence[Query], rows: Sequence[dict[str, float]]) -> dict[str, float]:
    styles: dict[str, list[float]] = {}
    for query, row in zip(queries, rows, strict=True):
        styles.setdefault(query.style, []).append(row["recall@5"])
    return {style: sum(values) / len(values) for style, values in sorted(styles.items())}


def print_table(outcomes: Sequence[QuestionOutcome], split: str) -> None:
    """Print one row per index."""
    from rich.console import Console
    from rich.table import Table

    first = outcomes[0]
    table = Table(title=f"retrieval on {first.corpus}, {split} split, {first.queries} queries")
    short = [name.replace("recall", "r") for name in SCORES]
    for column in ("index", "embedder", *short, "r@5 model", "r@5 question", "p50 ms", "p95 ms"):
        left = column in ("index", "embedder")
        table.add_column(column, justify="left" if left else "right", no_wrap=left)
    best = max(outcome.scores["recall@5"] for outcome in outcomes)
    for outcome in sorted(outcomes, key=lambda each: -each.scores["recall@5"]):
        figures = [f"{outcome.scores[name]:.3f}" for name in SCORES]
        figures += [f"{outcome.by_style.get(style, 0):.3f}" for style in ("model", "question")]
        figures += [f"{outcome.p50_ms:.2f}", f"{outcome.p95_ms:.2f}"]
        style = "bold green" if outcome.scores["recall@5"] == best else ""
        table.add_row(outcome.index, outcome.embedder, *figures, style=style)
    # A narrow terminal breaks lines; a table squeezed into it could not be read at all.
    Console(width=max(Console().width, _WIDEST)).print(table)
