"""Define when runs are comparable, for compare, report and leaderboard alike.

Runs with the same *settings* form one arm, and their episodes are pooled. Arms played under the same
*conditions* (the game, and its limits on steps, tokens, dollars or seconds) can be ranked. If conditions
differ, a comparison lists the differences, which may explain the result, and the leaderboard ranks such arms
separately.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from balrog_rag.contracts.data import CONNECTION_KEYS, GameSpec
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.results.episodes import NO_MODEL, any_asked
from balrog_rag.results.recorded_provenance import origin
from balrog_rag.results.runs import LoadedRun
from balrog_rag.results.stored_sequence import together

if TYPE_CHECKING:  # it needs numpy, which a run starts without
    from balrog_rag.results.episode_arrays import EpisodeArrays

NO_PART_OF_AN_ARM: dict[str, tuple[str, ...]] = {
    "run": (), "runner": (), "resume": (),
    "limits": ("run",), "env": ("episodes", "seeds"), **CONNECTION_KEYS,
}  # fmt: skip
"""Sections or keys that only affect where, how fast and how often to play, not who plays what."""

Task = tuple[str, str]
"""Environment and task."""


def settings_of(run: LoadedRun) -> dict[str, Any]:
    """The part of a run's configuration that defines an arm, and the origin of a fork.

    The model is excluded for policies: their configuration names one, but it is never called.
    """
    kept: dict[str, Any] = {}
    for name, value in run.config.items():
        keys = NO_PART_OF_AN_ARM.get(name)
        if keys and isinstance(value, Mapping):
            kept[name] = {key: inner for key, inner in value.items() if key not in keys}
        elif keys is None:
            kept[name] = value
    if "episode" in kept.get("limits", {}):
        kept["limits"]["episode"] = _caps(run, kept["limits"]["episode"])
    if run.episodes and not any_asked(run.episodes):
        kept["model"] = {"name": NO_MODEL}
        kept.pop("knowledge", None)
    if run.is_fork:
        kept["forked"] = "; ".join(sorted({*_arrays(run).coded("forked").values})) or "yes"
    return kept


def _caps(run: LoadedRun, frozen: Mapping[str, Any]) -> dict[str, Any]:
    """An episode's caps; if a resumed run changed them, all values in order, as in `5, then null`."""
    attempts = [frozen, *(caps for folder in run.folders for caps in origin(folder).caps)]
    found = {}
    for name in frozen:
        values = list(dict.fromkeys(caps[name] for caps in attempts if name in caps))
        found[name] = values[0] if len(values) == 1 else ", then ".join(map(short, values))
    return found


def tasks_of(runs: Sequence[LoadedRun]) -> set[Task]:
    """The tasks that these runs planned or played."""
    planned = {task for run in runs for task in run.config.get("env", {}).get("tasks", ())}
    found = {(env, task) for env, _, task in (name.partition("/") for name in planned)}
    return found | {(env, task) for run in runs for env, task in _arrays(run).bare_games}


def conditions(runs: Sequence[LoadedRun], tasks: Collection[Task]) -> dict[str, str]:
    """The conditions under which these runs of one arm played these tasks, by dotted key."""
    found: dict[str, set[str]] = {}
    for run in runs:
        limits = flat(settings_of(run).get("limits", {}), "limits.")
        for key, value in limits.items():
            found.setdefault(key, set()).add(short(value))
    for game in _distinct(runs, tasks):
        interface = kind_of(game.env).sampling.interface
        found.setdefault(f"env.max_steps.{game.env}", set()).add(str(game.max_steps))
        for key, value in flat(game.options).items():
            if key not in interface:
                found.setdefault(f"env.options.{game.env}.{key}", set()).add(short(value))
    return {key: ", ".join(sorted(values)) for key, values in sorted(found.items())}


def _distinct(runs: Sequence[LoadedRun], tasks: Collection[Task]) -> list[GameSpec]:
    """The games of these tasks, regardless of their seeds."""
    found = [_arrays(run).bare_games for run in runs]
    return [game for games in found for task, of_task in games.items() if task in tasks for game in of_task]


def _arrays(run: LoadedRun) -> "EpisodeArrays":
    return together([run.episodes]).arrays


def different_conditions(ours: Sequence[LoadedRun], theirs: Sequence[LoadedRun]) -> str:
    """Describe the conditions in which two arms differ on the tasks that both played; empty if none."""
    shared = tasks_of(ours) & tasks_of(theirs)
    mine, yours = conditions(ours, shared), conditions(theirs, shared)
    differing = [
        f"{key} {mine.get(key, 'none')} against {yours.get(key, 'none')}"
        for key in sorted({*mine, *yours})
        if mine.get(key) != yours.get(key)
    ]
    return f"different conditions may explain a difference: {'; '.join(differing)}" if differing else ""


def flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten a nested mapping to dotted keys."""
    made: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping) and value:
            made |= flat(value, f"{prefix}{name}.")
        else:
            made[f"{prefix}{name}"] = value
    return made


def short(value: Any, most: int = 60) -> str:
    """Format a setting's value for display."""
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= most else text[: most - 1] + "…"
