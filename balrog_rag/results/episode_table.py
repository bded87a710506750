"""Every episode as one row for spreadsheets and data frames: CSV, and Parquet if pyarrow is installed."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from math import isnan, nan
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.contracts.kinds import EnvironmentKind, kind_of
from balrog_rag.results import run_folder, user_statistics
from balrog_rag.results.episodes import Episode
from balrog_rag.util.files import FileNotWritten, replacing
from balrog_rag.util.spreadsheet import harmless

ROWS_AT_ONCE = 20_000
"""Rows that are held as objects while a table is made."""
PURPOSES = ("act", "query", "summary", "rerank", "other")


def row(episode: Episode, kinds: Sequence[EnvironmentKind]) -> dict[str, Any]:
    """One episode's values by name; names and order are the same for all episodes of these kinds."""
    found = _own_columns(episode, kinds)
    return {**found, **user_statistics.columns(episode, [kind.name for kind in kinds], found)}


def _own_columns(episode: Episode, kinds: Sequence[EnvironmentKind]) -> dict[str, Any]:
    total, lookups, calls = episode.total, episode.lookups, episode.calls
    return {
        "episode": episode.name,
        "env": episode.env,
        "task": episode.task,
        "agent": episode.agent_name,
        "model": episode.asked_model.get("name", ""),
        "answered_by": ", ".join(episode.answered_by),
        "core_seed": episode.game.seeds.core,
        "disp_seed": episode.game.seeds.disp,
        "lgen_seed": episode.game.seeds.lgen,
        "options": json_text(episode.game.options),
        "outcome": episode.outcome,
        "ended_by": episode.ended_by,
        "cause": episode.cause,
        "preventable": episode.preventable,
        "progression_percent": episode.percent,
        "highest_achievement": episode.highest or "",
        **_measures(episode, kinds),
        "steps": episode.steps,
        "key_presses": episode.keys,
        "invalid_actions": episode.invalid,
        "return": episode.total_reward,
        "seconds_waiting": episode.seconds,
        "calls": total.count,
        "input_tokens": None if total.unseen else total.input,
        "output_tokens": None if total.unseen else total.output,
        "cached_tokens": total.cached,
        "reasoning_tokens": total.reasoning,
        "dollars": total.dollars,
        "unpriced_calls": total.unpriced,
        **{f"{purpose}_calls": calls[purpose].count if purpose in calls else 0 for purpose in PURPOSES},
        "searches": lookups.count,
        "search_hits": lookups.hits,
        "different_queries": lookups.queries,
        "steps_with_search": lookups.steps,
        "steps_using_passages": lookups.used,
        "forked": episode.forked,
        "spec_digest": episode.spec_digest,
        "segments": episode.segments or None,
    }


def _measures(episode: Episode, kinds: Sequence[EnvironmentKind]) -> dict[str, Any]:
    """The measures of these kinds of game; blank for an episode of another kind."""
    own = {measure.name: measure for measure in kind_of(episode.env).scoring.measures}
    names = dict.fromkeys(measure.name for kind in kinds for measure in kind.scoring.measures)
    found = {name: episode.measured(own[name]) for name in names if name in own}
    return {name: None if isnan(value := found.get(name, nan)) else value for name in names}


def json_text(value: Any) -> str:
    """Encode a plain value on one line with sorted keys."""
    return msgspec.json.encode(value, order="sorted").decode()


def kinds_of(episodes: Iterable[Episode]) -> list[EnvironmentKind]:
    """The distinct kinds of game of these episodes."""
    return [kind_of(name) for name in dict.fromkeys(episode.env for episode in episodes)]


def csv_text(rows: Iterable[dict[str, Any]]) -> str:
    """Format rows as CSV that is safe for terminals and spreadsheets."""
    return "".join(csv_lines(rows))


def csv_lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Format rows as CSV one by one: those of a million episodes do not fit into memory together."""
    out = io.StringIO()
    writer: csv.DictWriter[str] | None = None
    for each in rows:
        if writer is None:
            writer = csv.DictWriter(out, list(each), lineterminator="\n")
            writer.writeheader()
        writer.writerow({key: _cell(value) for key, value in each.items()})
        yield out.getvalue()
        out.seek(0)
        out.truncate()


def _cell(value: Any) -> Any:
    return harmless(value) if isinstance(value, str) else value


def episodes_csv(episodes: Sequence[Episode]) -> str:
    """Format these episodes as CSV."""
    kinds = kinds_of(episodes)
    return csv_text(row(episode, kinds) for episode in episodes)


def write_csv(path: Path, episodes: Sequence[Episode]) -> None:
    """Write these episodes as CSV."""
    kinds = kinds_of(episodes)
    write_lines(path, csv_lines(row(episode, kinds) for episode in episodes))


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


def write_parquet(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as Parquet."""
    require_parquet()
    import pyarrow
    from pyarrow import parquet

    left, parts = iter(rows), []
    while part := list(islice(left, ROWS_AT_ONCE)):
        parts.append(pyarrow.Table.from_pylist(part))
    sink = io.BytesIO()
    parquet.write_table(pyarrow.concat_tables(parts, promote_options="permissive"), sink)
    run_folder.write_bytes(path, sink.getvalue())
