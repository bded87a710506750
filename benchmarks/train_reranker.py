"""Train the feature reranker from judged passages, and measure it on queries that it was not trained on.

    python benchmarks/train_reranker.py             # prints figures
    python benchmarks/train_reranker.py --write     # also writes wiki_index/reranker.json

Trained on the dev queries and the judged draws 1 to 3; measured on draws 4 to 6, whose queries are in none of
them. The test queries are not read. A judgement of an earlier text of a passage counts for its present one.
"""

import argparse
import json
from pathlib import Path

import msgspec
import numpy as np

from balrog_rag.config.compose import compose
from balrog_rag.knowledge.evaluation import read_queries
from balrog_rag.knowledge.opening import open_searcher
from balrog_rag.knowledge.rerank.feature_reranker import FEATURES, features
from balrog_rag.studies.judgements import read_judgements

ROOT = Path(__file__).parents[1]
DEPTH, GRADES = 20, {"answers": 1.0, "useful": 0.5, "no": 0.0}
TRAIN = ("draw1_author", "draw2_author", "draw3_reader")
HELD_OUT = ("draw4_guide-editor", "draw5_search-editor", "draw6_search-editor")
Rows = list[tuple[np.ndarray, np.ndarray]]
"""For each query: the features of its judged passages, in the order of the search, and their grades."""


def judged(searcher, names) -> Rows:
    grades: dict[str, dict[str, float]] = {}
    for name in names:
        (path,) = (ROOT / "eval" / "judgements").glob(f"*_{name}.jsonl")
        for each in read_judgements(path):
            grades.setdefault(each.query, {})[each.passage] = GRADES[each.grade]
    rows = (of_query(searcher, query, known, None) for query, known in grades.items())
    return [row for row in rows if len(row[1]) > 1]


def of_query(searcher, query: str, known: dict[str, float], otherwise: float | None):
    found = searcher.search([query], DEPTH)[0]
    rows = [
        (row, known.get(each.id, otherwise))
        for row, each in zip(features(query, found), found, strict=True)
        if each.id in known or otherwise is not None
    ]
    return np.array([row for row, _ in rows]), np.array([grade for _, grade in rows], float)


def pairs(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    differences, weights = [], []
    for values, grades in rows:
        better = [(i, j) for i in range(len(grades)) for j in range(len(grades)) if grades[i] > grades[j]]
        for i, j in better:
            differences.append(values[i] - values[j])
            weights.append((grades[i] - grades[j]) / len(better) ** 0.5)
    return np.array(differences), np.array(weights)


def fit(rows: Rows, ridge: float = 0.01, rounds: int = 1500) -> np.ndarray:
    """Logistic regression of which of two passages is the better one, by gradient descent."""
    values, importance = pairs(rows)
    scale = values.std(0) + 1e-6
    scaled, weights = values / scale, np.zeros(values.shape[1])
    for _ in range(rounds):
        gradient = -(importance / (1 + np.exp(scaled @ weights))) @ scaled / importance.sum()
        weights -= 0.6 * (gradient + ridge * weights)
    return weights / scale


def measured(rows: Rows, weights: np.ndarray | None) -> str:
    right = count = first = 0.0
    for values, grades in rows:
        score = -np.arange(len(grades)) if weights is None else values @ weights
        for i in range(len(grades)):
            for j in range(len(grades)):
                if grades[i] > grades[j]:
                    right, count = right + (score[i] > score[j]), count + 1
        first += grades[int(np.argmax(score))]
    pairs_right = f"pairs in the right order {right / count:.3f} of {count:.0f}"
    return f"{pairs_right}, mean grade of the first {first / len(rows):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    searcher = open_searcher(compose([]).knowledge, remember=True)
    queries = read_queries(ROOT / "wiki_index" / "queries.jsonl", "dev")
    dev = [of_query(searcher, each.query, dict.fromkeys(each.answers, 1.0), 0.0) for each in queries]
    train, held_out = judged(searcher, TRAIN), judged(searcher, HELD_OUT)
    weights = fit(dev + train)
    print(f"held out, {len(held_out)} queries: search {measured(held_out, None)}")
    print(f"held out, {len(held_out)} queries: reranked {measured(held_out, weights)}")
    named = {name: round(float(weight), 3) for name, weight in zip(FEATURES, weights, strict=True)}
    print(json.dumps(named))
    if options.write:
        (ROOT / "wiki_index" / "reranker.json").write_bytes(
            msgspec.json.format(msgspec.json.encode(named), indent=1) + b"\n"
        )


if __name__ == "__main__":
    main()
