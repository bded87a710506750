"""Every episode as one row for spreadsheets and data frames: CSV, and Parquet if pyarrow is installed."""

import csv
import io
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.contracts.kinds import EnvironmentKind, Measure, kind_of
from balrog_rag.results import run_folder, user_statistics
from balrog_rag.results.coded_values import Coded
from balrog_rag.results.episode_arrays import BARE_GAME, EpisodeArrays
from balrog_rag.results.episodes import Episode, EpisodeSequence, agent_name
from balrog_rag.util.files import FileNotWritten, replacing
from balrog_rag.util.spreadsheet import harmless

ROWS_AT_ONCE = 20_000
"""Rows that are held as objects while a table is made."""
PURPOSES = ("act", "query", "summary", "rerank", "other")


TableColumn: TypeAlias = Coded | NDArray[Any] | list[Any]


def row(episode: Episode, kinds: Sequence[EnvironmentKind]) -> dict[str, Any]:
    """One episode's values by name; names and order are the same for all episodes of these kinds."""
    return {name: plain(column)[0] for name, column in columns_of([episode], kinds).items()}


def columns_of(episodes: Sequence[Episode], kinds: Sequence[EnvironmentKind]) -> dict[str, TableColumn]:
    """The values of these episodes by name, as `row` has them."""
    arrays = EpisodeArrays(episodes)
    found = _own_columns(arrays, kinds)
    return {**found, **user_statistics.columns(episodes, [kind.name for kind in kinds], found)}


def plain(column: TableColumn) -> list[Any]:
    """The values of a column as Python objects."""
    values = column.array() if isinstance(column, Coded) else column
    return values if isinstance(values, list) else values.tolist()


def _own_columns(arrays: EpisodeArrays, kinds: Sequence[EnvironmentKind]) -> dict[str, TableColumn]:
    seeds, total, lookups = arrays.seeds, arrays.total, arrays.lookups
    cause, unseen = arrays.cause, arrays.unseen
    segments = arrays.numbers("segments")
    return {
        "episode": arrays.values("name"),
        "env": arrays.env,
        "task": arrays.task,
        "agent": arrays.mapped(agent_name, "agent"),
        "model": arrays.asked_model.mapped(lambda model: model.get("name", "")),
        "answered_by": arrays.mapped(", ".join, "answered_by"),
        "core_seed": seeds[0],
        "disp_seed": seeds[1],
        "lgen_seed": seeds[2],
        "options": arrays.mapped(lambda game: json_text(game.options), BARE_GAME),
        "outcome": arrays.coded("outcome"),
        "ended_by": arrays.ended_by,
        "cause": cause,
        "preventable": arrays.preventable,
        "progression_percent": arrays.percent,
        "highest_achievement": arrays.mapped(lambda highest: highest or "", "highest"),
        **_measures(arrays, kinds),
        "steps": arrays.numbers("steps"),
        "key_presses": arrays.numbers("keys"),
        "invalid_actions": arrays.numbers("invalid"),
        "return": arrays.numbers("total_reward"),
        "seconds_waiting": arrays.seconds,
        "calls": total("count"),
        "input_tokens": _unless(unseen, total("input")),
        "output_tokens": _unless(unseen, total("output")),
        "cached_tokens": total("cached"),
        "reasoning_tokens": total("reasoning"),
        "dollars": total("dollars"),
        "unpriced_calls": total("unpriced"),
        **{f"{purpose}_calls": arrays.calls("count", purpose) for purpose in PURPOSES},
        "searches": lookups("count"),
        "search_hits": lookups("hits"),
        "different_queries": lookups("queries"),
        "steps_with_search": lookups("steps"),
        "steps_using_passages": arrays.lookups_used,
        "forked": arrays.coded("forked"),
        "spec_digest": arrays.values("spec_digest"),
        "segments": _unless(segments == 0, segments),
    }


def _unless(unknown: NDArray[np.bool_], values: NDArray[Any]) -> TableColumn:
    """The values, None where they are unknown."""
    if not unknown.any():
        return values
    if unknown.all():
        return Coded(np.zeros(len(values), dtype=np.int64), [None])
    found = values.astype(object)
    found[unknown] = None
    return found


def _measures(arrays: EpisodeArrays, kinds: Sequence[EnvironmentKind]) -> dict[str, TableColumn]:
    """The measures of these kinds of game; blank for an episode of another kind."""
    found: dict[str, TableColumn] = {}
    for name in dict.fromkeys(measure.name for kind in kinds for measure in kind.scoring.measures):
        own = {
            env: next((each for each in kind_of(env).scoring.measures if each.name == name), None)
            for env, _ in arrays.env.counted()
        }
        found[name] = _measure(arrays, own)
    return found


def _measure(arrays: EpisodeArrays, own: Mapping[str, Measure | None]) -> TableColumn:
    """One measure, by environment; environments define those of one name independently."""
    different = list(dict.fromkeys(own.values()))
    if len(different) == 1:
        if (measure := different[0]) is None:
            return _unless(np.ones(len(arrays), dtype=bool), np.zeros(len(arrays)))
        values = arrays.measured(measure)
        return _unless(np.isnan(values), values)
    made = np.full(len(arrays), None, dtype=object)
    for env, measure in own.items():
        if measure is not None:
            values, mine = arrays.measured(measure), arrays.env.array() == env
            made[mine & ~np.isnan(values)] = values[mine & ~np.isnan(values)].astype(object)
    return made


def json_text(value: Any) -> str:
    """Encode a plain value on one line with sorted keys."""
    return msgspec.json.encode(value, order="sorted").decode()


def kinds_of(episodes: Iterable[Episode]) -> list[EnvironmentKind]:
    """The distinct kinds of game of these episodes."""
    if isinstance(episodes, EpisodeSequence):
        return [kind_of(name) for name, _ in episodes.arrays.env.counted()]
    return [kind_of(name) for name in dict.fromkeys(episode.env for episode in episodes)]


def csv_text(rows: Iterable[dict[str, Any]]) -> str:
    """Format rows as CSV that is safe for terminals and spreadsheets."""
    listed = list(rows)
    return "".join(
        csv_lines([{name: [each[name] for each in listed] for name in listed[0]}] if listed else [])
    )


def csv_lines(tables: Iterable[Mapping[str, TableColumn]]) -> Iterator[str]:
    """Format tables of the same columns as one CSV, safe for terminals and spreadsheets."""
    names: list[str] = []
    for table in tables:
        if not names:
            names = list(table)
            yield ",".join(map(_csv_value, names)) + "\n"
        count = _length(next(iter(table.values())))
        # A statistic of the user's that fails is left out of later tables.
        cells = _joined([_csv_cells(table[name]) if name in table else "" for name in names], count)
        if count:
            yield "\n".join(map(",".join, zip(*cells, strict=True))) + "\n"


def _length(column: TableColumn) -> int:
    return len(column.codes if isinstance(column, Coded) else column)


def _joined(columns: Iterable[list[str] | str], count: int) -> list[list[str]]:
    """Lists of cells, those of neighbours that are the same in every row put together."""
    made: list[list[str]] = []
    shared: list[str] = []
    for column in columns:
        if isinstance(column, str):
            shared.append(column)
            continue
        made += [[",".join(shared)] * count, column] if shared else [column]
        shared = []
    return [*made, [",".join(shared)] * count] if shared else made


def _csv_cells(column: TableColumn) -> list[str] | str:
    """The cells of a column, or the one of all rows."""
    if isinstance(column, Coded):
        same = len(column.values) == 1
        return _csv_cell(column.values[0]) if same else plain(column.mapped(_csv_cell))
    if isinstance(column, list) or column.dtype.kind not in "if":
        return list(map(_csv_cell, plain(column)))
    # Compared as bytes, since 0.0 equals -0.0, and nan does not equal nan.
    same = len(column) > 0 and column.tobytes() == column[:1].tobytes() * len(column)
    return repr(column[0].item()) if same else list(map(repr, column.tolist()))


_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9/._-]*")


def _csv_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        if _PLAIN.fullmatch(value):
            return value
        value = harmless(value)
    elif type(value) in (int, float):
        return repr(value)
    return _csv_value(value)


def _csv_value(value: Any) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([value, ""])  # alone, an empty cell would be quoted
    return out.getvalue()[:-2]


def episodes_csv(episodes: Sequence[Episode]) -> str:
    """Format these episodes as CSV."""
    return "".join(csv_lines(tables_of(episodes)))


def tables_of(
    episodes: Sequence[Episode], kinds: Sequence[EnvironmentKind] | None = None
) -> Iterator[dict[str, TableColumn]]:
    """Tables of these episodes, each of as many rows as fit into memory together."""
    own = kinds_of(episodes) if kinds is None else kinds
    for at in range(0, len(episodes), ROWS_AT_ONCE):
        yield columns_of(episodes[at : at + ROWS_AT_ONCE], own)


def write_csv(path: Path, episodes: Sequence[Episode]) -> None:
    """Write these episodes as CSV."""
    write_lines(path, csv_lines(tables_of(episodes)))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write text atomically while it is made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            for line in lines:
                file.write(line.encode("utf-8", "replace"))
    except FileNotWritten as error:
        raise RunFolderError(str(error)) from error
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be written ({error.strerror})") from error


def has_parquet() -> bool:
    """Whether Parquet can be written."""
    return find_spec("pyarrow") is not None


def require_parquet() -> None:
    """Raise a ConfigError if Parquet cannot be written."""
    if not has_parquet():
        raise ConfigError("Parquet: pyarrow is not installed; pip install 'balrog_rag[parquet]'")


def write_tables(path: Path, tables: Iterable[Mapping[str, TableColumn]], kinds: Sequence[str]) -> None:
    """Write tables as `path`.csv and `path`.parquet if `kinds` contains these; nothing without tables."""
    left = iter(tables)
    if (first := next(left, None)) is None:
        return
    parts = []

    def kept() -> Iterator[Mapping[str, TableColumn]]:
        for table in chain([first], left):
            if "parquet" in kinds:
                parts.append(_compressed(table))
            yield table

    if "csv" in kinds:
        write_lines(path.with_suffix(".csv"), csv_lines(kept()))
    elif "parquet" in kinds:
        deque(kept(), maxlen=0)
    if "parquet" in kinds:
        _write_parquet(path.with_suffix(".parquet"), parts)


def _write_parquet(path: Path, parts: Sequence[Any]) -> None:
    """Write compressed tables as one file, with the types that fit all of them."""
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.unify_schemas([_opened(part).schema for part in parts], promote_options="permissive")
    sink = io.BytesIO()
    with parquet.ParquetWriter(sink, schema) as writer:
        for part in parts:
            alike = [schema.empty_table(), _opened(part)]
            writer.write_table(pyarrow.concat_tables(alike, promote_options="permissive"))
    run_folder.write_bytes(path, sink.getvalue())


def _arrow_column(column: TableColumn) -> Any:
    import pyarrow

    if isinstance(column, Coded):
        return pyarrow.array(column.values).take(pyarrow.array(column.codes))
    return pyarrow.array(
        column if isinstance(column, list) or column.dtype.kind in "ifb" else column.tolist()
    )


def _compressed(columns: Mapping[str, TableColumn]) -> Any:
    """A table in Arrow's stream format."""
    import pyarrow

    table = pyarrow.table({name: _arrow_column(column) for name, column in columns.items()})
    sink = pyarrow.BufferOutputStream()
    options = pyarrow.ipc.IpcWriteOptions(compression="lz4")
    with pyarrow.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _opened(stored: Any) -> Any:
    import pyarrow

    return pyarrow.ipc.open_stream(stored).read_all()
