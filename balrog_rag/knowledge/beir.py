"""Test collections in BEIR's layout, and runs in TREC's, so that ranx, pytrec_eval and others can read them.

A folder has `corpus.jsonl` and `queries.jsonl` (`_id`, `title`, `text`), `qrels/SPLIT.tsv` (query, passage,
grade) and, when exported from here, `runs/NAME.trec`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from balrog_rag.contracts.data import Passage
from balrog_rag.contracts.errors import KnowledgeError

_HEADING = "query-id\tcorpus-id\tscore"
_MOST_LINES = 10_000_000


class Collection(NamedTuple):
    """Queries by id, and the grade of each judged passage by query id."""

    queries: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]


class _Row(msgspec.Struct, frozen=True, rename={"id": "_id"}):
    id: str
    text: str
    title: str = ""


def export(
    folder: Path,
    split: str,
    passages: Iterable[Passage],
    collection: Collection,
    runs: Mapping[str, Mapping[str, Sequence[Passage]]],
) -> None:
    """Write a collection and the results of each run; existing files of these names are replaced."""
    try:
        (folder / "qrels").mkdir(parents=True, exist_ok=True)
        (folder / "runs").mkdir(exist_ok=True)
        _write(folder / "corpus.jsonl", (_Row(each.id, each.text, each.title) for each in passages))
        _write(folder / "queries.jsonl", (_Row(name, text) for name, text in collection.queries.items()))
        graded = (
            (name, each, grade) for name, row in collection.grades.items() for each, grade in row.items()
        )
        lines = [_HEADING, *(f"{query}\t{passage}\t{grade}" for query, passage, grade in graded)]
        (folder / "qrels" / f"{split}.tsv").write_text("\n".join(lines) + "\n")
        for name, found in runs.items():
            (folder / "runs" / f"{name}.trec").write_text("".join(_run_lines(name, found)))
    except OSError as error:
        raise KnowledgeError(f"cannot write {error.filename}: {error.strerror}") from error


def _write(path: Path, rows: Iterable[_Row]) -> None:
    with path.open("wb") as file:
        file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)


def _run_lines(name: str, found: Mapping[str, Sequence[Passage]]) -> Iterable[str]:
    """TREC's lines. Their scores follow the ranks: a passage that was moved up may have a lower score."""
    for query, passages in found.items():
        for rank, passage in enumerate(passages, start=1):
            yield f"{query} Q0 {passage.id} {rank} {len(passages) - rank + 1} {name}\n"


def read(folder: Path, split: str) -> Collection:
    """Read the queries of a split and its judgements."""
    path = folder / "qrels" / f"{split}.tsv"
    try:
        grades = _grades(path)
        rows = msgspec.json.Decoder(_Row).decode_lines((folder / "queries.jsonl").read_bytes())
    except OSError as error:
        raise KnowledgeError(f"cannot read {error.filename}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise KnowledgeError(f"{folder}: not a test collection in BEIR's layout: {error}") from error
    queries = {row.id: row.text for row in rows if row.id in grades}
    for query in grades:
        if query not in queries:
            raise KnowledgeError(f"{path}: query {query!r} is not in queries.jsonl")
    return Collection(queries, grades)


def _grades(path: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if number > _MOST_LINES:
                raise KnowledgeError(f"{path}: has more than {_MOST_LINES} lines; split the file")
            cells: list[Any] = line.rstrip("\n").split("\t")
            if not line.strip() or (number == 1 and cells[-1:] == ["score"]):
                continue
            if len(cells) != 3 or not cells[2].lstrip("-").isdigit():
                raise KnowledgeError(
                    f"{path}, line {number}: expected query, passage and a whole number, separated by tabs"
                )
            grades.setdefault(cells[0], {})[cells[1]] = int(cells[2])
    return grades
