"""Verify that a folder's figures follow from its journals, and its journals from its configuration.

The result is stored on this machine, never in the folder: anybody could forge a note that travels with a
folder.
"""

from collections.abc import Callable, Sequence
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from balrog_rag import __version__
from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import BalrogError
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results import run_folder
from balrog_rag.results.episode_table import episodes_csv
from balrog_rag.results.leaderboard import harness
from balrog_rag.results.leaderboard.off_plan import off_plan
from balrog_rag.results.leaderboard.submission import METADATA, README, Metadata, card, readme
from balrog_rag.results.recorded_provenance import contradictions
from balrog_rag.results.runs import LoadedRun, load
from balrog_rag.results.summary import Summary, episode_record, summarise
from balrog_rag.results.user_statistics import without_statistics
from balrog_rag.util.bounded_decoding import decoded_json, decoded_yaml
from balrog_rag.util.fetch import cache_folder
from balrog_rag.util.files import LARGE, read_file
from balrog_rag.util.wording import many

Replay = Callable[[Path, Path], str]
"""Replays a journal, raises BalrogError on any difference, and writes its CSV into a folder.

Returns the final digest of the journal's hash chain, or nothing for a journal without one.
"""
ROOT_FILES = (*run_folder.RECORDS, METADATA, README, harness.FILE)


class Proof(msgspec.Struct, frozen=True):
    """Record of a successful verification, stored under the hash of what was verified."""

    folder: str
    episodes: int
    version: str
    heads: dict[str, str]
    """The final digest of each episode's hash chain, which identifies its whole journal."""


def verify(
    path: Path,
    planned: Sequence[EpisodeSpec],
    protocol: dict[str, Any],
    replay: Replay,
    report: Callable[[str], None] = lambda line: None,
) -> list[str]:
    """Return one line per difference; if there is none, record the success on this machine."""
    proof = _proof(path)
    run = load(path, use_index=False)
    wrong = [f"{problem.path}: {problem.what}" for problem in run.problems]
    wrong += [f"{name}: unfinished" for name in run.unfinished]
    wrong += off_plan(run, planned)
    wrong += wrong_files(run, protocol)
    wrong += contradictions(run_folder.journals(path))
    heads: dict[str, str] = {}
    wrong += wrong_replays(run, replay, report, heads)
    if not run.episodes:
        wrong.append(f"{path}: no finished episode")
    if wrong:
        proof.unlink(missing_ok=True)
    else:
        run_folder.write_json(proof, Proof(str(path.resolve()), len(run.episodes), __version__, heads))
        report(f"digest of all journals: {digest(msgspec.json.encode(heads, order='sorted'))}")
    return wrong


def wrong_replays(
    run: LoadedRun, replay: Replay, report: Callable[[str], None], heads: dict[str, str]
) -> list[str]:
    """Return the journals that do not replay, and the trajectories that differ from the replay."""
    wrong = []
    for episode in run.episodes:
        kept = run_folder.episode_stem(run.folder, episode.name).with_suffix(".csv")
        with TemporaryDirectory() as place:
            again = run_folder.episode_stem(Path(place), episode.name).with_suffix(".csv")
            again.parent.mkdir(parents=True)
            try:
                heads[episode.name] = replay(run_folder.journal_path(run.folder, episode.name), Path(place))
            except BalrogError as error:
                wrong.append(str(error))
                continue
            if not heads[episode.name]:
                wrong.append(f"{episode.name}: its journal has version 1, without a hash chain")
            if kept.is_file() and _bytes(kept) != again.read_bytes():
                wrong.append(f"{kept}: differs from the trajectory in its journal")
        report(f"equal: {episode.name}, {many(episode.steps, 'steps')}")
    return wrong


def wrong_files(run: LoadedRun, protocol: dict[str, Any]) -> list[str]:
    """Files of the folder that contradict its journals.

    A submission has none of the statistics that somebody has installed; a run folder may have them.
    """
    with without_statistics():
        wrong = _wrong_files(run, protocol)
    return wrong and _wrong_files(run, protocol)


def _wrong_files(run: LoadedRun, protocol: dict[str, Any]) -> list[str]:
    summary = summarise(run)
    expected: dict[Path, Any] = {run.folder / "summary.json": summary.overall}
    for env, values in summary.environments.items():
        expected[run.folder / env / f"{env}_summary.json"] = values
    for episode in run.with_files:
        stem = run_folder.episode_stem(run.folder, episode.name)
        expected[stem.with_suffix(".json")] = episode_record(episode)
    wrong = [path for path, value in expected.items() if not _same(_read(path), _plain(value))]
    texts = {run.folder / "episodes.csv": episodes_csv(run.episodes)}
    if (run.folder / METADATA).exists():
        texts[run.folder / README] = _readme(run, summary)
        texts[run.folder / harness.FILE] = card(run, protocol)
    wrong += [path for path, text in texts.items() if _bytes(path) != text.encode()]
    return [f"{path}: does not follow from the journals" for path in wrong]


def _readme(run: LoadedRun, summary: Summary) -> str:
    try:
        metadata = decoded_yaml(read_file(run.folder / METADATA), Metadata)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return ""
    return readme(summary, metadata) if run.episodes else ""


def _plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _same(kept: Any, again: Any) -> bool:
    """Whether two JSON values are equal; the last digits of a sum may depend on the version that wrote it."""
    if isinstance(kept, dict) and isinstance(again, dict):
        return kept.keys() == again.keys() and all(_same(kept[key], again[key]) for key in kept)
    if isinstance(kept, float) and isinstance(again, float):
        return isclose(kept, again, rel_tol=1e-12)
    return bool(kept == again)


def _read(path: Path) -> Any:
    try:
        return decoded_json(read_file(path), object)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _bytes(path: Path) -> bytes | None:
    try:
        return read_file(path, LARGE)
    except OSError:
        return None


def is_verified(path: Path) -> bool:
    """Whether this version has verified this folder, unchanged since, on this machine."""
    return _proof(path).is_file()


def _proof(path: Path) -> Path:
    return cache_folder() / "verified" / f"{contents(path)}.json"


def contents(path: Path) -> str:
    """One hash over everything that is verified, its location, and the verifying version."""
    files = [path / name for name in ROOT_FILES]
    files += [found for pattern in ("*.jsonl", "*.json", "*.csv") for found in path.glob(f"*/**/{pattern}")]
    lines = [f"{file.relative_to(path)} {digest(_bytes(file) or b'')}" for file in files if file.is_file()]
    return digest("\n".join([__version__, *sorted(lines)]))
