"""Runs as three Parquet tables: episodes, steps and calls of models, joined by `spec_digest`."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from balrog_rag.episode.journal import Completion, Event, Header, Lookup, Start, Step
from balrog_rag.results.episodes import Episode
from balrog_rag.util.files import replacing

KEYS = (("episode", pa.string()), ("spec_digest", pa.string()))
NUMBERS = pa.list_(pa.struct([("name", pa.string()), ("value", pa.int64())]))
"""Numbers of the game. Not a map: Hugging Face `datasets` cannot read maps."""
SCHEMAS = {
    "episodes": pa.schema(
        [
            *KEYS,
            ("env", pa.string()),
            ("task", pa.string()),
            ("agent", pa.string()),
            ("model", pa.string()),
            ("outcome", pa.string()),
            ("ended_by", pa.string()),
            ("progression", pa.float64()),
            ("highest", pa.string()),
            ("steps", pa.int64()),
            ("keys", pa.int64()),
            ("invalid", pa.int64()),
            ("reward", pa.float64()),
            ("calls", pa.int64()),
            ("input_tokens", pa.int64()),
            ("output_tokens", pa.int64()),
            ("dollars", pa.float64()),
            ("unpriced_calls", pa.int64()),
            ("searches", pa.int64()),
            ("last", NUMBERS),
        ]
    ),
    "steps": pa.schema(
        [
            *KEYS,
            ("step", pa.int64()),
            ("action", pa.string()),
            ("taken", pa.string()),
            ("valid", pa.bool_()),
            ("reward", pa.float64()),
            ("keys", pa.int64()),
            ("stopped", pa.string()),
            ("numbers", NUMBERS),
        ]
    ),
    "calls": pa.schema(
        [
            *KEYS,
            ("step", pa.int64()),
            ("purpose", pa.string()),
            ("request", pa.string()),
            ("model", pa.string()),
            ("text", pa.string()),
            ("reasoning", pa.string()),
            ("finish", pa.string()),
            ("input_tokens", pa.int64()),
            ("output_tokens", pa.int64()),
            ("cached_tokens", pa.int64()),
            ("reasoning_tokens", pa.int64()),
            ("dollars", pa.float64()),
            ("latency", pa.float64()),
            ("attempts", pa.int64()),
            ("query", pa.string()),
            ("passages", pa.list_(pa.string())),
        ]
    ),
}
"""The columns of each table. `numbers` is every number of the game after the step; a search is a row of
`calls` with the purpose `search`."""


class ParquetTables:
    """Writes the tables episode by episode."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._writers: dict[str, Any] = {}
        with ExitStack() as stack:
            for name, schema in SCHEMAS.items():
                file = stack.enter_context(replacing(folder / f"{name}.parquet"))
                self._writers[name] = stack.enter_context(pq.ParquetWriter(file, schema))
            self._files = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._files.__exit__(kind, error, trace)  # after an error, earlier tables stay as they were

    def add(self, header: Header, entries: Iterable[Event], episode: Episode | None) -> None:
        """Add an episode; one that has not ended is only in `steps` and `calls`."""
        keys = {"episode": header.spec.episode, "spec_digest": header.spec_digest}
        rows: dict[str, list[dict[str, Any]]] = {name: [] for name in SCHEMAS}
        if episode is not None:
            rows["episodes"].append(keys | _episode(episode))
        for table, row in _rows(entries):
            rows[table].append(keys | row)
        for name, found in rows.items():
            if found:
                self._writers[name].write_table(pa.Table.from_pylist(found, SCHEMAS[name]))


def _episode(episode: Episode) -> dict[str, Any]:
    total = episode.total
    return {
        "env": episode.env,
        "task": episode.task,
        "agent": episode.agent_name,
        "model": str(episode.asked_model.get("name", "")),
        "outcome": episode.outcome,
        "ended_by": episode.ended_by,
        "progression": episode.progression,
        "highest": episode.highest,
        "steps": episode.steps,
        "keys": episode.keys,
        "invalid": episode.invalid,
        "reward": episode.total_reward,
        "calls": total.count,
        "input_tokens": total.input,
        "output_tokens": total.output,
        "dollars": total.dollars,
        "unpriced_calls": total.unpriced,
        "searches": episode.lookups.count,
        "last": _named(episode.last),
    }


def _rows(entries: Iterable[Event]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of an episode's steps and calls, each with the name of its table."""
    numbers: dict[str, int] = {}
    for entry in entries:
        match entry:
            case Start():
                numbers = dict(entry.numbers)
            case Completion():
                yield "calls", _call(entry)
            case Lookup():
                found = [passage.id for passage in entry.passages]
                row = {"step": entry.step, "purpose": "search", "query": entry.query, "passages": found}
                yield "calls", row | {"latency": entry.latency}
            case Step():
                numbers = {**numbers, **entry.numbers}
                yield (
                    "steps",
                    {
                        "step": entry.n,
                        "action": entry.action,
                        "taken": entry.taken,
                        "valid": entry.valid,
                        "reward": entry.reward,
                        "keys": entry.keys,
                        "stopped": entry.stopped,
                        "numbers": _named(numbers),
                    },
                )


def _call(entry: Completion) -> dict[str, Any]:
    reply, used = entry.reply, entry.reply.usage
    return {
        "step": entry.step,
        "purpose": entry.purpose,
        "request": entry.request,
        "model": reply.model,
        "text": reply.text,
        "reasoning": reply.reasoning,
        "finish": reply.finish,
        "input_tokens": used.input,
        "output_tokens": used.output,
        "cached_tokens": used.cached,
        "reasoning_tokens": used.reasoning,
        "dollars": reply.cost,
        "latency": reply.latency,
        "attempts": reply.attempts,
    }


def _named(numbers: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in numbers.items()]
