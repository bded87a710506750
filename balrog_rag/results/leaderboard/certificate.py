"""A certificate of what was verified of a submission: a JSON file named by its own digest.

It has no clock and no path, so that anybody with the same versions who verifies the same folder gets the same
file. It proves what was replayed, not who made it.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.episode import journal as journals
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results import run_folder
from balrog_rag.results.leaderboard.seed_rules import SeedRule
from balrog_rag.results.runs import LoadedRun
from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.files import read_file

FORMAT = "balrog_rag certificate 1"
REPLAYED, DIFFERS = "verified by replay", "differs"
STATEMENT = (
    "Each journal was replayed: prompts, screens, actions and scores follow from the recorded answers and "
    "searches. Not proved: who made the journals, which model answered, tokens and costs."
)
STATEMENT_OF_DIFFERENCES = (
    "Each journal was replayed. What is listed as a difference does not follow from the recorded answers and "
    "searches."
)


class CertifiedEpisode(msgspec.Struct, frozen=True):
    """One episode as it was verified."""

    journal: str
    """The SHA-256 of the journal's file, as `sha256sum` prints it."""
    spec: str
    """The digest of its game, seeds, limits and player."""
    progression: float
    steps: int


class Certificate(msgspec.Struct, frozen=True):
    """What `leaderboard verify` found."""

    format: str
    result: str
    submission: str
    command: str
    versions: dict[str, str]
    config: str
    """The digest of the configuration."""
    plan: str
    """The SHA-256 of the digests of all planned episodes, in order: another seed makes another plan."""
    seeds: dict[str, Any]
    episodes: dict[str, CertifiedEpisode]
    differences: list[str]
    statement: str

    @property
    def encoded(self) -> bytes:
        """The content of its file."""
        return msgspec.json.format(msgspec.json.encode(self, order="sorted"), indent=2) + b"\n"

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{sha256(self.encoded).hexdigest()}.json"


def certify(
    run: LoadedRun,
    planned: Sequence[EpisodeSpec],
    differences: Sequence[str],
    versions: Mapping[str, str],
    rule: SeedRule,
) -> Certificate:
    """Make the certificate of a folder after it was verified with these differences."""
    place = f"{run.folder}/"
    return Certificate(
        FORMAT,
        DIFFERS if differences else REPLAYED,
        run.name,
        " ".join(["balrog-rag leaderboard verify", run.name, *rule.words]),
        dict(versions),
        run.digest,
        sha256("\n".join(spec.digest for spec in planned).encode()).hexdigest(),
        rule.facts,
        {episode.name: _certified(run, episode) for episode in run.episodes},
        [line.replace(place, "") for line in differences],
        STATEMENT_OF_DIFFERENCES if differences else STATEMENT,
    )


def _certified(run: LoadedRun, episode: Any) -> CertifiedEpisode:
    found = journal_digest(run.journal(episode.name))
    return CertifiedEpisode(found, episode.spec_digest, episode.progression, episode.steps)


def journal_digest(path: Path) -> str:
    """Return the SHA-256 of a journal, in a file or packed."""
    return sha256(journals.read_bytes(path)).hexdigest()


def write_certificate(certificate: Certificate, folder: Path) -> Path:
    """Write a certificate into a folder under its own digest."""
    path = folder / certificate.name
    run_folder.write_bytes(path, certificate.encoded)
    return path


def read_certificate(path: Path) -> Certificate:
    """Read a certificate; raises RunFolderError if its name is not its digest."""
    try:
        data = read_file(path)
        found = decoded_json(data, Certificate)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{path}: not a certificate ({error})") from error
    if path.name != f"{sha256(data).hexdigest()}.json":
        raise RunFolderError(f"{path}: changed since it was written; its name is not its SHA-256")
    return found
