"""Write a run, a sweep or one journal in a format of other tools, one episode in memory at a time.

Formats of episodes (jsonl, atif, hf-traces, otlp) become one file per journal, inspect one per environment,
eee two per run, hf-results one per run, and parquet three tables.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.episode import journal as journals
from balrog_rag.episode.journal import Header
from balrog_rag.export import event_lines
from balrog_rag.export.turns import Turns
from balrog_rag.results import run_folder
from balrog_rag.results.arms import run_folders
from balrog_rag.results.recorded_provenance import origin
from balrog_rag.results.runs import LoadedRun
from balrog_rag.results.shard_folders import loaded
from balrog_rag.results.tally import read_episode
from balrog_rag.run.replay import replay
from balrog_rag.util import extras
from balrog_rag.util.files import replacing

OF_EPISODES = {"jsonl": ".jsonl", "atif": ".atif.json", "hf-traces": ".jsonl", "otlp": ".otlp.json"}
"""Formats with one file per episode, and the file's suffix."""
EVAL = ".eval"
"""The suffix of Inspect's logs."""


def write_episode(path: Path, kind: str, out: BinaryIO, prompts: bool = False) -> None:
    """Write one journal in a format of episodes."""
    if kind in ("jsonl", "atif"):
        event_lines.export(path, kind, out)
        return
    header, found = turns_of(path)
    if kind == "hf-traces":
        from balrog_rag.export.session_trace import trace_lines

        out.writelines(trace_lines(header, found))
        return
    from balrog_rag.export.otel_spans import EpisodeSpans

    home = run_folder.home_of(path)
    started = origin(home).started if home else "unknown"
    spans = EpisodeSpans(header, found, read_episode(path), started, prompts)
    out.write(msgspec.json.encode(spans.document()) + b"\n")


def turns_of(path: Path) -> tuple[Header, Turns]:
    """Replay a journal; raises an error if it does not match the replayed game."""
    header, _ = journals.read_headed(path)
    found = Turns()
    asyncio.run(replay(path, found))
    return header, found


class Credits(msgspec.Struct, frozen=True):
    """What journals do not say, for formats that publish results."""

    organization: str = "unknown"
    """Who evaluated."""
    relationship: str = "other"
    """What the evaluator is to the model, in the words of Every Eval Ever."""
    dataset: str = ""
    """The benchmark's dataset repository on the Hugging Face Hub."""


def write_runs(
    place: Path,
    kind: str,
    out: Path,
    credits: Credits,
    prompts: bool = False,
    note: Callable[[str], None] = lambda line: None,
) -> list[Path]:
    """Write a journal, or everything below a run folder, a sweep, or RUN.shards; returns the files.

    `note` is told what a run's results leave out.
    """
    found = _journals_in(place)
    if kind in OF_EPISODES:
        return list(_episode_files(place, found, kind, out, prompts))
    if kind == "parquet":
        return _parquet(found, out)
    if not place.is_dir():
        return _of_journal(place, kind, out, credits)
    folders = run_folders(place)
    made: list[Path] = []
    for folder in folders:
        target = out / folder.resolve().name if len(folders) > 1 and kind != "eee" else out
        target.mkdir(parents=True, exist_ok=True)
        if kind == "inspect":
            made += _inspect(folder, target)
            continue
        run = _finished(folder)
        if run.caveat:
            note(run.caveat)
        made += _every_eval(run, target, credits) if kind == "eee" else [_model_card(run, target, credits)]
    return made


def _of_journal(path: Path, kind: str, out: Path, credits: Credits) -> list[Path]:
    """Write one journal in a format of runs."""
    if kind == "hf-results":
        raise ConfigError(f"{path}: a journal; results of a model's card are of a whole run: pass its folder")
    home = run_folder.home_of(path)
    if kind == "inspect":
        return _inspect_logs([path], _stem(path.name), origin(home).started if home else "unknown", out)
    if home is None:
        raise ConfigError(f"{path}: not in a run folder, whose configuration --to {kind} needs")
    run, header = loaded(home), journals.read(path).header
    name = header.spec.episode if header is not None else ""
    only = [episode for episode in run.episodes if episode.name == name]
    if not only:
        raise ConfigError(f"{path}: has not ended; --to {kind} needs a score")
    alone = replace(run, episodes=only, unfinished=[], problems=[], forked=(), share=[name])
    return _every_eval(alone, out, credits, name)


def _stem(name: str) -> str:
    return name.removesuffix(".journal.jsonl").replace("/", "_")


def _journals_in(place: Path) -> Sequence[Path]:
    found = run_folder.journals(place) if place.is_dir() else [run_folder.one_journal(place)]
    if not found:
        raise ConfigError(f"{place}: contains no journal; pass a run folder or a *.journal.jsonl")
    return found


def _episode_files(place: Path, found: Sequence[Path], kind: str, out: Path, prompts: bool) -> Iterator[Path]:
    top = place if place.is_dir() else place.parent
    for path in found:
        # Journals of a sweep's runs have the same names: the folders above them are part of the file's.
        target = out / f"{_stem(str(path.relative_to(top)))}{OF_EPISODES[kind]}"
        with replacing(target) as file:
            write_episode(path, kind, file, prompts)
        yield target


def _parquet(found: Sequence[Path], out: Path) -> list[Path]:
    extras.require("pyarrow", "parquet", "--to parquet")
    from balrog_rag.export.parquet_tables import SCHEMAS, ParquetTables

    read = 0
    with ParquetTables(out) as tables:
        for path in found:
            journal = journals.read(path)
            if journal.header is not None:
                ended = read_episode(path, (journal.header, *journal.entries))
                tables.add(journal.header, journal.entries, ended)
                read += 1
        if not read:
            journals.read_headed(found[0])  # raises the error
    return [out / f"{name}.parquet" for name in SCHEMAS]


def _finished(folder: Path) -> LoadedRun:
    run = loaded(folder)
    if run.problems:  # a result without the episodes that cannot be read would not say so
        raise RunFolderError(f"{folder}: {run.problems[0].path}: {run.problems[0].what}")
    if not run.episodes:
        raise ConfigError(f"{folder}: no finished episode; nothing can be exported")
    return run


def _model_card(run: LoadedRun, out: Path, credits: Credits) -> Path:
    from balrog_rag.export.model_results import model_results

    target = out / f"{run.name}.yaml"
    with replacing(target) as file:
        file.write(msgspec.yaml.encode(model_results(run, origin(run.folders[0]).started, credits.dataset)))
    return target


def _every_eval(run: LoadedRun, out: Path, credits: Credits, part: str = "") -> list[Path]:
    from balrog_rag.export.every_eval import EvalRecord

    started = origin(run.folders[0]).started
    record = EvalRecord(run, started, credits.organization, credits.relationship, part)
    results, samples = (out / f"{record.path}{suffix}" for suffix in (".json", "_samples.jsonl"))
    results.parent.mkdir(parents=True, exist_ok=True)
    digest = sha256()
    with replacing(samples) as file:
        for episode in run.episodes:
            line = msgspec.json.encode(record.sample(turns_of(run.journal(episode.name))[1], episode)) + b"\n"
            digest.update(line)
            file.write(line)
    with replacing(results) as file:
        content = record.results(len(run.episodes), digest.hexdigest())
        file.write(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
    return [results, samples]


def _inspect(folder: Path, out: Path) -> list[Path]:
    return _inspect_logs(_journals_in(folder), folder.resolve().name, origin(folder).started, out)


def _inspect_logs(found: Sequence[Path], run: str, started: str, out: Path) -> list[Path]:
    from balrog_rag.export.inspect_log import InspectLog

    logs: dict[str, InspectLog] = {}
    with ExitStack() as stack:
        for path in found:
            header, turns = turns_of(path)
            env = header.spec.game.env
            if env not in logs:
                file = stack.enter_context(replacing(_log_path(out, run, env)))
                logs[env] = InspectLog(file, env, run, started)
                stack.callback(logs[env].close)
            logs[env].add(header, turns, read_episode(path))
    return [_log_path(out, run, env) for env in logs]


def _log_path(out: Path, run: str, env: str) -> Path:
    """Return the path of a log; a journal's may be named in full."""
    return out if out.suffix == EVAL and not out.is_dir() else out / f"{run}_{env}{EVAL}"
