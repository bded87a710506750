"""Registered statistics as summaries and reports use them: checked, and switched off once they fail."""

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import PluginError
from balrog_rag.contracts.statistics import Statistic
from balrog_rag.results.episodes import Episode
from balrog_rag.util.blame import blame_of
from balrog_rag.util.secrets import redact
from balrog_rag.util.terminal_safe import one_line

_failed: dict[str, object] = {}
"""What was registered under the names of statistics that have failed in this process."""
_problems: list[str] = []


def statistics_for(envs: Iterable[str]) -> list[Statistic]:
    """The registered statistics for any of these kinds of game, without those that have failed."""
    known = {*envs}
    found = [_loaded(name) for name in registry.statistics.plugged() if not _off(name)]
    return [one for one in found if one is not None and (not one.env or one.env in known)]


def _off(name: str) -> bool:
    """Whether it has failed; registered anew, as in a notebook, it gets another chance."""
    return name in _failed and _failed[name] is registry.statistics.added_as(name)


def _loaded(name: str) -> Statistic | None:
    try:
        found = registry.statistics.get(name)
    except PluginError as error:
        return _switch_off(name, str(error))
    if not isinstance(found, Statistic):
        return _switch_off(name, f"is a {type(found).__name__}, not a balrog_rag.contracts.statistics.Statistic")
    if found.name != name:
        return _switch_off(name, f"is registered under this name, but calls itself {found.name!r}")
    return found


def _switch_off(name: str, why: str) -> None:
    """Report once, and leave it out from now on: a statistic must not keep anyone from their results."""
    _failed[name] = registry.statistics.added_as(name)
    line = one_line(redact(f"statistic {name}: {why}; it is left out"))
    _problems.append(line)
    print(line, file=sys.stderr)


def take_problems() -> list[str]:
    """What went wrong since this was last asked, for the log of a run."""
    found = [*_problems]
    _problems.clear()
    return found


def of_episode(statistic: Statistic, episode: Episode) -> float:
    """The figure of one episode; not a number where it is unknown."""
    assert statistic.episode is not None
    return _figure(statistic, statistic.episode, episode, statistic.low, statistic.high)


def of_episodes(statistic: Statistic, episodes: Sequence[Episode]) -> float:
    """The figure of episodes of one kind of game together; not a number where it is unknown."""
    assert statistic.episodes is not None
    mine = [episode for episode in episodes if statistic.env in ("", episode.env)]
    return _figure(statistic, statistic.episodes, mine, -math.inf, math.inf) if mine else math.nan


def _figure(statistic: Statistic, function: Any, given: Any, low: float, high: float) -> float:
    if _off(statistic.name):
        return math.nan
    try:
        found = function(given)
        value = math.nan if found is None else float(found)
    except Exception as error:  # noqa: BLE001 - the code is the user's
        _switch_off(statistic.name, blame_of(error, "raised").line)
        return math.nan
    if isinstance(found, str | bytes) or math.isinf(value) or not (math.isnan(value) or low <= value <= high):
        _switch_off(statistic.name, f"returned {found!r}; expected None or a number from {low:g} to {high:g}")
        return math.nan
    return value


def per_episode(envs: Iterable[str]) -> list[Statistic]:
    """Those that are a figure of every episode."""
    return [one for one in statistics_for(envs) if one.episode is not None]


def across_episodes(envs: Iterable[str]) -> list[Statistic]:
    """Those that are one figure of many episodes."""
    return [one for one in statistics_for(envs) if one.episodes is not None]


def columns(episode: Episode, envs: Iterable[str]) -> dict[str, float | None]:
    """The figures of one episode by name, for all kinds of game of a table; None where unknown."""
    found = {
        one.name: of_episode(one, episode) if one.env in ("", episode.env) else math.nan
        for one in per_episode(envs)
    }
    return {name: None if math.isnan(value) else value for name, value in found.items()}


def summary_keys(env: str, episodes: Sequence[Episode]) -> Mapping[str, Any]:
    """{"statistics": {NAME: {...}}} for a summary of one kind of game; empty without any."""
    found: dict[str, dict[str, Any]] = {}
    for one in statistics_for([env]):
        title = {"title": one.title or one.name, "unit": one.unit}
        if one.episode is None:
            figure = of_episodes(one, episodes)
            found[one.name] = title | {"value": None if math.isnan(figure) else figure}
            continue
        values = [value for each in episodes if not math.isnan(value := of_episode(one, each))]
        mean = math.fsum(values) / len(values) if values else None
        found[one.name] = title | {"mean": mean, "episodes": len(values)}
    found = {name: told for name, told in found.items() if not _off(name)}
    return {"statistics": found} if found else {}
