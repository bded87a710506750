"""The head of a run's page: its means with intervals as in a report, and the settings that matter."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from balrog_rag.results.arms import by_env, differences
from balrog_rag.results.comparability import flat, short
from balrog_rag.results.environment_titles import environment_title
from balrog_rag.results.episodes import NO_MODEL, Episode
from balrog_rag.results.scoring import interval, scores
from balrog_rag.results.statistics.units import values
from balrog_rag.viewer.listing import ListedEpisode, runs_of

MOST_SETTINGS = 16
"""Settings shown per run."""

Ended = tuple[str, ...]


class RunHeads:
    """The heads of the listed runs; a run's interval is computed again when an episode has ended."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[Ended, bool, list[dict[str, Any]]]] = {}

    def document(self, episodes: Sequence[ListedEpisode]) -> list[dict[str, Any]]:
        """One head per run folder with an ended episode."""
        played = {run: _ended(run, episodes) for run in runs_of(episodes)}
        played = {run: mine for run, mine in played.items() if mine}
        settings = {run: settings_of(mine) for run, mine in played.items()}
        differing = [key for key, _ in differences(list(settings.values()))]
        return [
            {
                "run": run.name,
                "means": self._means(run, mine, _whole(run, episodes)),
                "settings": telling(settings[run], differing),
            }
            for run, mine in played.items()
        ]

    def _means(self, run: Path, mine: Sequence[Episode], whole: bool) -> list[dict[str, Any]]:
        ended = tuple(episode.name for episode in mine)
        known = self._known.get(run)
        if known is None or known[:2] != (ended, whole):
            known = ended, whole, [mean_of(env, of) | whole_or_not(whole) for env, of in by_env(mine).items()]
            self._known[run] = known
        return known[2]


def _ended(run: Path, episodes: Sequence[ListedEpisode]) -> list[Episode]:
    return [each.episode for each in episodes if each.run == run and each.episode is not None]


def _whole(run: Path, episodes: Sequence[ListedEpisode]) -> bool:
    """Whether no listed episode of the run is open or damaged, or was cut by a cap of the run."""
    return all(each.episode is not None and not each.episode.cut for each in episodes if each.run == run)


def whole_or_not(whole: bool) -> dict[str, Any]:
    """Ended episodes of an unfinished run are not a sample of it, so reports give them no interval."""
    return {} if whole else {"low": None, "high": None, "partial": True}


def mean_of(env: str, episodes: Sequence[Episode]) -> dict[str, Any]:
    """Mean progression and its interval, as a report computes them."""
    found = interval(episodes)
    mean = float(values(scores(episodes)).mean())
    made = {"env": env, "title": environment_title(env), "n": len(episodes), "mean": round(mean, 3)}
    return made | {"low": round(found.low, 3), "high": round(found.high, 3)} if found.known else made


def settings_of(episodes: Sequence[Episode]) -> dict[str, Any]:
    """The settings of a run's player and games."""
    first = episodes[0]
    asked = any(episode.calls for episode in episodes)
    return {
        "agent": first.agent,
        "model": first.model if asked else {"name": NO_MODEL},
        "knowledge": first.knowledge if _retrieves(first.agent) else {},
        "env": dict(first.game.options),
        "steps": first.game.max_steps,
    }


def _retrieves(agent: Mapping[str, Any]) -> bool:
    retrieval = agent.get("retrieval")
    return isinstance(retrieval, Mapping) and bool(retrieval.get("enabled"))


SHOWN = (
    "agent.name", "model.name", "agent.retrieval.enabled", "agent.retrieval.when", "agent.retrieval.query",
    "agent.retrieval.k", "knowledge.corpus", "knowledge.index", "agent.history.window",
    "model.temperature", "model.reasoning_effort", "env.character", "env.actions", "env.layout",
)  # fmt: skip
"""Settings that are shown in any case, before those that differ between the runs."""


def telling(settings: Mapping[str, Any], differing: Sequence[str]) -> list[list[str]]:
    """The settings to show: the usual ones, then those that differ between the runs."""
    known = flat(settings)
    if not _retrieves(settings["agent"]):
        known = {key: value for key, value in known.items() if not key.startswith("agent.retrieval.")}
        known["agent.retrieval.enabled"] = False
    wanted = [key for key in dict.fromkeys([*SHOWN, *differing]) if not key.endswith("_digest")]
    given = [key for key in wanted if known.get(key) not in (None, {}, [])]
    return [[key, short(known[key])] for key in given][:MOST_SETTINGS]
