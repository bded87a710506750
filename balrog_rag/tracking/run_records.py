"""What every tracker logs of a run: its configuration, progress, each episode, and the results at the end."""

import os
from collections.abc import Mapping, Sequence
from math import fsum
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag import __version__
from balrog_rag.contracts.events import WatchedRun
from balrog_rag.results.episodes import Calls, Episode
from balrog_rag.util.secrets import redact
from balrog_rag.util.shell_commands import command

VIEWER_URL = "BALROG_RAG_VIEWER_URL"
"""The variable with the address below which pages of runs are published."""

Record = dict[str, Any]


def run_record(run: WatchedRun) -> Record:
    """Describe a run that begins."""
    # An address in the configuration may contain a password.
    config = msgspec.json.decode(redact(msgspec.json.encode(run.config).decode()))
    return {
        "run": run.folder.name,
        "folder": str(run.folder.absolute()),
        "label": run.label,
        "balrog_rag": __version__,
        "config_digest": run.digest,
        "planned": len(run.planned),
        "viewer": viewer_link(run.folder),
        "viewer_command": command("view", run.folder, "--out", run.folder / "view.html"),
        "config": config,
    }


def viewer_link(folder: Path) -> str:
    """Return the address of a run's viewer page: where it is published, else the file that `view` writes."""
    if base := os.environ.get(VIEWER_URL):
        return f"{base.rstrip('/')}/{folder.name}/view.html"
    return (folder / "view.html").absolute().as_uri()


class OpenEpisode(msgspec.Struct):
    """Counts of an episode that is being played."""

    steps: int = 0
    calls: Calls = msgspec.field(default_factory=Calls)


class RunProgress(msgspec.Struct):
    """Counts that events update; exact for ended episodes, whose journals are read."""

    planned: int
    ended: int = 0
    steps: int = 0
    """Steps of ended episodes."""
    troubles: int = 0
    used: Calls = msgspec.field(default_factory=Calls)
    """Calls of ended episodes."""
    progressions: list[float] = []
    in_play: dict[str, OpenEpisode] = {}

    def record(self) -> Record:
        """Return the progress as a record."""
        together = Calls()
        for calls in (self.used, *(episode.calls for episode in self.in_play.values())):
            together.add(calls)
        mean = fsum(self.progressions) / len(self.progressions) if self.progressions else None
        return {
            "planned": self.planned,
            "ended": self.ended,
            "in_play": len(self.in_play),
            "troubles": self.troubles,
            "steps": self.steps + sum(episode.steps for episode in self.in_play.values()),
            **usage_record(together),
            "mean_progression_of_ended": mean,
        }


def usage_record(calls: Calls) -> Record:
    """Return calls, tokens and dollars; tokens that nobody reported are null."""
    return {
        "calls": calls.count,
        "input_tokens": None if calls.unseen else calls.input,
        "output_tokens": None if calls.unseen else calls.output,
        "dollars": calls.dollars,
        "unpriced_calls": calls.unpriced,
    }


def episode_record(episode: Episode, earlier: bool) -> Record:
    """Return an ended episode's results; `earlier`: it ended in an earlier attempt at the run."""
    return {
        "episode": episode.name,
        "env": episode.env,
        "task": episode.task,
        "progression": episode.percent,
        "outcome": episode.outcome,
        "ended_by": episode.ended_by,
        "steps": episode.steps,
        **usage_record(episode.total),
        "earlier": earlier,
    }


def verdict_table(episodes: Sequence[Episode], planned: int) -> list[Record]:
    """Return mean progression per environment and overall, with 95 % intervals if the run is complete."""
    from balrog_rag.results.scoring import interval, overall_interval

    by_env: dict[str, list[Episode]] = {}
    for episode in episodes:
        by_env.setdefault(episode.env, []).append(episode)
    whole = len(episodes) == planned
    rows = [_table_row(env, found, interval(found) if whole else None) for env, found in by_env.items()]
    if len(rows) > 1:
        mean = fsum(row["progression"] for row in rows) / len(rows)
        average = _table_row("average", episodes, overall_interval(by_env) if whole else None)
        rows.append(average | {"progression": mean})
    return rows


def _table_row(env: str, episodes: Sequence[Episode], interval: Any) -> Record:
    used = Calls()
    for episode in episodes:
        used.add(episode.total)
    known = interval is not None and interval.known
    return {
        "env": env,
        "episodes": len(episodes),
        "progression": fsum(episode.percent for episode in episodes) / len(episodes),
        "low": interval.low if known else None,
        "high": interval.high if known else None,
        **usage_record(used),
    }


def numbers_in(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the numeric values of a record, as trackers take metrics."""
    return {
        name: value
        for name, value in record.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
