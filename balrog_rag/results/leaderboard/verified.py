"""Proof that a folder's figures follow from its journals, and its journals from its configuration.

What was proved is noted on this machine, never in the folder: a note that travels with a folder could be
written by anybody.
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
from balrog_rag.util.fetch import cache_folder
from balrog_rag.util.files import LARGE, read_file
from balrog_rag.util.wording import many

Replay = Callable[[Path, Path], str]
"""Plays a journal again, raises a BalrogError where anything differs, and writes its CSV into a folder.

Returns the last digest of the journal's chain; nothing where its lines are not chained.
"""
ROOT_FILES = (
    "config.json",
    run_folder.FORKED,
    "summary.json",
    "episodes.csv",
    METADATA,
    README,
    harness.FILE,
)


class Proof(msgspec.Struct, frozen=True):
    """What is noted of a folder in which everything fitted; its name is the hash of what was proved."""

    folder: str
    episodes: int
    version: str
    heads: dict[str, str]
    """The last digest of each episode's chain, which stands for its whole journal."""


def verify(
    path: Path,
    planned: Sequence[EpisodeSpec],
    protocol: dict[str, Any],
    replay: Replay,
    told: Callable[[str], None] = lambda line: None,
) -> list[str]:
    """Everything that does not fit, one line each; where nothing is wrong, that is noted on this machine."""
    proof = _proof(path)
    run = load(path, use_index=False)
    wrong = [f"{problem.path}: {problem.what}" for problem in run.problems]
    wrong += [f"{name}: unfinished" for name in run.unfinished]
    wrong += off_plan(run, planned)
    wrong += wrong_files(run, protocol)
    wrong += contradictions(run_folder.journals(path))
    heads: dict[str, str] = {}
    wrong += wrong_replays(run, replay, told, heads)
    if not run.episodes:
        wrong.append(f"{path}: no finished episode")
    if wrong:
        proof.unlink(missing_ok=True)
    else:
        run_folder.write_json(proof, Proof(str(path.resolve()), len(run.episodes), __version__, heads))
        told(f"digest of all journals: {digest(msgspec.json.encode(heads, order='sorted'))}")
    return wrong


def wrong_replays(
    run: LoadedRun, replay: Replay, told: Callable[[str], None], heads: dict[str, str]
) -> list[str]:
    """Journals that do not replay, and trajectories that are not those of the replay."""
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
                wrong.append(f"{episode.name}: its journal is of version 1, whose lines are not chained")
            if kept.is_file() and _bytes(kept) != again.read_bytes():
                wrong.append(f"{kept}: is not the trajectory of its journal")
        told(f"equal: {episode.name}, {many(episode.steps, 'steps')}")
    return wrong


def wrong_files(run: LoadedRun, protocol: dict[str, Any]) -> list[str]:
    """Files of the folder that say something else than its journals."""
    summary = summarise(run)
    expected: dict[Path, Any] = {run.folder / "summary.json": summary.overall}
    for env, values in summary.environments.items():
        expected[run.folder / env / f"{env}_summary.json"] = values
    for episode in run.episodes:
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
        metadata = msgspec.yaml.decode(read_file(run.folder / METADATA), type=Metadata)
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
        return msgspec.json.decode(read_file(path))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _bytes(path: Path) -> bytes | None:
    try:
        return read_file(path, LARGE)
    except OSError:
        return None


def is_verified(path: Path) -> bool:
    """Whether this machine has proved this folder as it stands, by this version."""
    return _proof(path).is_file()


def _proof(path: Path) -> Path:
    return cache_folder() / "verified" / f"{contents(path)}.json"


def contents(path: Path) -> str:
    """One hash over everything that is verified, where it lies, and the version that verifies it."""
    files = [path / name for name in ROOT_FILES]
    files += [found for pattern in ("*.jsonl", "*.json", "*.csv") for found in path.glob(f"*/**/{pattern}")]
    lines = [f"{file.relative_to(path)} {digest(_bytes(file) or b'')}" for file in files if file.is_file()]
    return digest("\n".join([__version__, *sorted(lines)]))
