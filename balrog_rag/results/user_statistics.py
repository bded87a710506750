"""Apply registered statistics to episodes: results are checked, and a failing statistic is switched off."""

import math
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from balrog_rag.contracts import registry
from balrog_rag.contracts.blame import blame_of
from balrog_rag.contracts.errors import PluginError
from balrog_rag.contracts.statistics import Statistic
from balrog_rag.results.episodes import Episode
from balrog_rag.util.files import text_file
from balrog_rag.util.secrets import redact
from balrog_rag.util.terminal_safe import one_line

_failed: dict[str, object] = {}
"""The statistics that have failed in this process, by name, with the registered object."""
_problems: list[str] = []


_ignored: ContextVar[bool] = ContextVar("ignored", default=False)


@contextmanager
def without_statistics() -> Iterator[None]:
    """Ignore statistics in the `with` block: files for others must not depend on what is installed here."""
    token = _ignored.set(True)
    try:
        yield
    finally:
        _ignored.reset(token)


def statistics_for(envs: Iterable[str]) -> list[Statistic]:
    """Return the registered statistics for any of these kinds of game, except those that have failed."""
    if _ignored.get():
        return []
    known = {*envs}
    found = [_loaded(name) for name in registry.statistics.plugged() if not _off(name)]
    return [one for one in found if one is not None and (not one.env or one.env in known)]


def _off(name: str) -> bool:
    """Whether it has failed. One that is registered again, as in a notebook, is tried again."""
    return name in _failed and _failed[name] is registry.statistics.added_as(name)


def _loaded(name: str) -> Statistic | None:
    try:
        found = registry.statistics.get(name)
    except PluginError as error:
        _switch_off(name, str(error))
        return None
    if isinstance(found, Statistic) and found.name == name:
        return found
    if isinstance(found, Statistic):
        _switch_off(name, f"its Statistic is named {found.name!r}; give the entry point and it one name")
    else:
        _switch_off(
            name, f"expected a balrog_rag.contracts.statistics.Statistic, got a {type(found).__name__}"
        )
    return None


def _switch_off(name: str, why: str) -> None:
    """Report it once and leave it out from now on: a failing statistic must not prevent results."""
    _failed[name] = registry.statistics.added_as(name)
    line = one_line(redact(f"statistic {name}: {why}; it is left out"))
    _problems.append(line)
    print(line, file=sys.stderr)


def of_episode(statistic: Statistic, episode: Episode) -> float:
    """Compute the figure of one episode; NaN if it is unknown."""
    assert statistic.episode is not None
    if statistic.env not in ("", episode.env):
        return math.nan
    return _figure(statistic, statistic.episode, episode, statistic.low, statistic.high)


def of_episodes(statistic: Statistic, episodes: Sequence[Episode]) -> float:
    """Compute the figure of all episodes of one kind of game; NaN if it is unknown."""
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


def per_episode(envs: Iterable[str], taken: Iterable[str]) -> list[Statistic]:
    """Select the figures of single episodes; one whose name is already `taken` is switched off."""
    found = [one for one in statistics_for(envs) if one.episode is not None]
    for one in (clashing := [one for one in found if one.name in {*taken}]):
        _switch_off(one.name, "has the name of a figure that exists already; choose another name")
    return [one for one in found if one not in clashing]


def across_episodes(envs: Iterable[str]) -> list[Statistic]:
    """Select the figures of all episodes together."""
    return [one for one in statistics_for(envs) if one.episodes is not None]


def columns(
    episodes: Sequence[Episode], envs: Iterable[str], taken: Iterable[str]
) -> dict[str, list[float | None]]:
    """Compute the figures of each episode by name, for all kinds of game in a table; None where unknown."""
    return {
        one.name: [None if math.isnan(value := of_episode(one, each)) else value for each in episodes]
        for one in per_episode(envs, taken)
    }


def figures(env: str, episodes: Sequence[Episode]) -> dict[str, dict[str, Any]]:
    """Compute the statistics of a kind of game by name, as written in summaries; empty if there are none."""
    found: dict[str, dict[str, Any]] = {}
    for one in statistics_for([env]):
        said = {"title": one.title or one.name, "unit": one.unit}
        if one.episode is None:
            figure = of_episodes(one, episodes)
            found[one.name] = said | {"value": None if math.isnan(figure) else figure}
            continue
        values = [value for each in episodes if not math.isnan(value := of_episode(one, each))]
        mean = math.fsum(values) / len(values) if values else None
        found[one.name] = said | {"mean": mean, "episodes": len(values)}
    return {name: told for name, told in found.items() if not _off(name)}


def log_problems(run: Path) -> None:
    """Write the problems since the last call to the run's log."""
    if not _problems:
        return
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    lines = [f"{stamp} ERROR {line}\n" for line in _problems]
    _problems.clear()
    try:
        with text_file(run / "eval.log", "a") as file:
            file.writelines(lines)
    except OSError as error:  # stderr has them, too, and the results are written
        print(f"{run}/eval.log: cannot be written ({error.strerror})", file=sys.stderr)
