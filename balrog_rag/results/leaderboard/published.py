"""Published results from eval/published.yaml, as reference rows."""

from functools import cache
from typing import Any

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.envs.nethack.progression import table
from balrog_rag.results.statistics.units import Score
from balrog_rag.util.paths import data

Scored = tuple[float, float, int]
"""Mean progression in percent, standard error, episodes."""


class Reference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One published row; `nle_episodes` holds each episode's highest achievement where that is published."""

    name: str
    agent: str
    date: str
    source: str
    folder: str = ""
    note: str = ""
    average: tuple[float, float] | None = None
    nle: Scored | None = None
    minihack: Scored | None = None
    nle_episodes: tuple[str, ...] = ()

    def scored(self, env: str) -> Scored | None:
        """Its figures for an environment."""
        return {"nle": self.nle, "minihack": self.minihack}.get(env)

    def scores(self) -> list[Score]:
        """Its episodes of NetHack, where they are published."""
        worth = {"none": 0.0, **table()}
        return [Score(100 * worth[achievement], "nle") for achievement in self.nle_episodes]


class Published(msgspec.Struct, frozen=True):
    """The whole file."""

    sources: dict[str, str]
    rows: tuple[Reference, ...]
    netplay: tuple[dict[str, Any], ...] = ()


@cache
def published() -> Published:
    """Read eval/published.yaml."""
    path = data("eval") / "published.yaml"
    try:
        return msgspec.yaml.decode(path.read_bytes(), type=Published)
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from error
