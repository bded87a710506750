"""Hidden seeds: a season commits to a digest of secret seeds first, and reveals them later."""

import secrets
from hashlib import sha256
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results import run_folder
from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.files import read_file

MOST = 1_000
"""Seeds of a season."""
HIGHEST = 2**62
"""Seeds are below this: too many to try."""
T = TypeVar("T", bound=msgspec.Struct)


class SeasonSecret(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the organiser keeps until the season ends."""

    season: str
    seeds: tuple[int, ...]
    salt: str
    """Without it, somebody could test a guess of the seeds against the commitment."""

    @classmethod
    def drawn(cls, season: str, count: int) -> Self:
        """Draw the seeds of a season."""
        if not 1 <= count <= MOST:
            raise ConfigError(f"--count {count}: expected 1 to {MOST:,}")
        seeds: dict[int, None] = {}
        while len(seeds) < count:
            seeds[secrets.randbelow(HIGHEST)] = None
        return cls(season, tuple(seeds), secrets.token_hex(32))

    @property
    def commitment(self) -> str:
        """The SHA-256 of this object's canonical JSON."""
        return sha256(msgspec.json.encode(self, order="sorted")).hexdigest()


class AnnouncedSeason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is published when the season begins."""

    season: str
    count: int
    commitment: str


class RevealedSeason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is published when the season ends."""

    season: str
    seeds: tuple[int, ...]
    salt: str
    commitment: str

    @property
    def words(self) -> str:
        """The overrides that play the season."""
        return f"env.seeding=list env.episodes={len(self.seeds)} env.seeds=[{','.join(map(str, self.seeds))}]"


def commit(season: str, count: int, secret: Path, public: Path) -> AnnouncedSeason:
    """Draw a season's seeds, and write the secret and the announcement."""
    if not run_folder.is_part(season):
        raise ConfigError(f"season {season!r}: invalid name; use letters, digits, dots and dashes")
    if secret.resolve() == public.resolve():
        raise ConfigError(f"{secret}: secret and announcement need a file each")
    once = ConfigError(f"{secret}: already exists; a season's seeds are drawn once")
    if secret.exists():
        raise once
    if public.exists():
        raise ConfigError(f"{public}: already exists; an announcement is never replaced")
    drawn = SeasonSecret.drawn(season, count)
    if not run_folder.write_new_bytes(secret, msgspec.json.encode(drawn) + b"\n"):
        raise once
    announced = AnnouncedSeason(season, count, drawn.commitment)
    try:
        secret.chmod(0o600)
        run_folder.write_json(public, announced)
    except BaseException:
        secret.unlink()  # seeds that were never announced
        raise
    return announced


def reveal(secret: Path, public: Path, out: Path) -> RevealedSeason:
    """Write what proves that the announced season had the secret's seeds."""
    kept, announced = _read(secret, SeasonSecret), _read(public, AnnouncedSeason)
    shown = RevealedSeason(kept.season, kept.seeds, kept.salt, kept.commitment)
    _check(shown, announced, secret)
    if out.resolve() in (secret.resolve(), public.resolve()):
        raise ConfigError(f"{out}: would replace the secret or the announcement; choose another --out")
    run_folder.write_json(out, shown)
    return shown


def checked(public: Path, revealed: Path) -> RevealedSeason:
    """Read a revealed season; raises ConfigError unless it is the one that was announced."""
    shown = _read(revealed, RevealedSeason)
    _check(shown, _read(public, AnnouncedSeason), revealed)
    return shown


def _check(shown: RevealedSeason, announced: AnnouncedSeason, where: Path) -> None:
    computed = SeasonSecret(shown.season, shown.seeds, shown.salt).commitment
    if (shown.season, len(shown.seeds)) != (announced.season, announced.count):
        raise ConfigError(f"{where}: season {shown.season} with {len(shown.seeds)} seeds; announced was "
                          f"{announced.season} with {announced.count}")  # fmt: skip
    if computed != announced.commitment or shown.commitment != announced.commitment:
        raise ConfigError(
            f"{where}: its seeds and salt have the digest {computed}; announced was {announced.commitment}"
        )


def _read(path: Path, kind: type[T]) -> T:
    try:
        return decoded_json(read_file(path), kind)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not the expected file of a season ({error})") from error
