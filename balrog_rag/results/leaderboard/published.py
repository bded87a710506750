"""Published results from eval/published.yaml, as reference rows."""

from functools import cache
from typing import Any

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.results.statistics.units import Score
from balrog_rag.util.paths import data

Scored = tuple[float, float, int]
"""Mean progression in percent, standard error, episodes."""


class Reference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One published row."""

    name: str
    agent: str
    date: str
    source: str
    folder: str = ""
    note: str = ""
    average: tuple[float, float] | None = None
    scored: dict[str, Scored] = {}
    """Its figures by environment."""
    episodes: dict[str, tuple[str, ...]] = {}
    """Highest achievement of each episode, if published."""

    def scores(self, env: str) -> list[Score]:
        """Its scores in an environment, if published per episode."""
        worth = kind_of(env).scoring.worth
        return [Score(100 * worth(reached), env) for reached in self.episodes.get(env, ())]


class Published(msgspec.Struct, frozen=True):
    """The whole file."""

    sources: dict[str, str]
    rows: tuple[Reference, ...]
    measured: dict[str, tuple[dict[str, Any], ...]] = {}
    """Rows in measures other than progression, by benchmark."""


@cache
def published() -> Published:
    """Read eval/published.yaml."""
    path = data("eval") / "published.yaml"
    try:
        return msgspec.yaml.decode(path.read_bytes(), type=Published)
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from error
