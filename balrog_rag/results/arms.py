"""Arms of a comparison: runs of one configuration belong together, named by what tells them apart."""

import filecmp
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.config.frozen import tree_digest
from balrog_rag.contracts import registry
from balrog_rag.contracts.data import CONNECTION_KEYS
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.results import run_folder, sweeps
from balrog_rag.results.episodes import NO_MODEL, Episode, any_asked
from balrog_rag.results.experiments import departure, grouped
from balrog_rag.results.runs import LoadedRun, load, partial

NO_PART_OF_AN_ARM: dict[str, tuple[str, ...]] = {
    "run": (), "runner": (), "resume": (),
    "limits": ("episode", "run"), "env": ("episodes", "seeds"), **CONNECTION_KEYS,
}  # fmt: skip
"""Sections, or keys in a section, that say where, how fast and how often, not who played what."""


class Arm(msgspec.Struct):
    """One kind of player on one set of games, in one run folder or several."""

    name: str
    runs: list[LoadedRun]
    settings: dict[str, Any]
    plain: str = ""
    """Its name without what is said of it."""
    allowed: bool = False
    """Whether --partial was said: conclusions from a part of its plan are wanted."""

    @property
    def episodes(self) -> list[Episode]:
        """All its episodes, run by run."""
        return [episode for run in self.runs for episode in run.episodes]

    @property
    def forked(self) -> bool:
        """Whether others than its player decided some of its steps."""
        return any(run.is_fork for run in self.runs)

    @property
    def partial(self) -> str:
        """'partial: 7 of 204' where episodes of its runs are open or missing; empty where none is."""
        cut = sum(len(run.cut) for run in self.runs)
        return partial(len(self.episodes) - cut, sum(run.holes for run in self.runs))

    @property
    def withheld(self) -> bool:
        """Whether nothing is concluded from it: no verdict, no rank, no interval."""
        return bool(self.partial) and not self.allowed

    def marked(self, name: str) -> str:
        """A name for it that hides neither a fork nor a hole."""
        marks = [mark for mark in ("forked" if self.forked else "", self.partial) if mark]
        return f"{name} ({', '.join(marks)})" if marks else name

    def by_env(self) -> dict[str, list[Episode]]:
        """Its episodes by environment, in the order in which these are shown."""
        return by_env(self.episodes)


def by_env(episodes: Iterable[Episode]) -> dict[str, list[Episode]]:
    """Episodes by environment, in the order in which these are shown."""
    grouped: dict[str, list[Episode]] = {}
    for episode in episodes:
        grouped.setdefault(episode.env, []).append(episode)
    return {env: grouped[env] for env in in_order(grouped)}


def in_order(envs: Iterable[str]) -> list[str]:
    """Environments as they are shown: in the order in which they are registered, plug-ins' last by name."""
    return sorted(set(envs), key=lambda env: (registry.environments.rank(env), env))


def departures(arms: Iterable[Arm]) -> list[str]:
    """Which of them are not the experiment that they are named after, and in what."""
    return grouped((arm.name, departure(run.config)) for arm in arms for run in arm.runs)


def load_arms(paths: Sequence[Path], use_index: bool = True, partial: bool = False) -> list[Arm]:
    """The arms in these folders, each a run folder or a folder of run folders; none counts twice.

    `partial`: conclusions are wanted even from arms that have open or missing episodes.
    """
    folders = {found.resolve(): found for path in paths for found in run_folders(path)}
    grouped: dict[str, list[LoadedRun]] = {}
    for run in (load(found, use_index) for found in folders.values()):
        grouped.setdefault(tree_digest(settings_of(run)), []).append(run)
    arms = [Arm("", group, settings_of(group[0]), allowed=partial) for group in grouped.values()]
    for arm, name in zip(arms, names(arms), strict=True):
        arm.plain, arm.name = name, arm.marked(name)
        refuse_copies(arm)
    return arms


def refuse_copies(arm: Arm) -> None:
    """The same episode in two folders is one episode; counted twice, it would feign certainty."""
    seen: dict[tuple[str, str], list[Path]] = {}
    for run in arm.runs:
        for episode in run.episodes:
            path = run_folder.journal_path(run.folder, episode.name)
            others = seen.setdefault((episode.name, episode.spec_digest), [])
            for other in others:
                if filecmp.cmp(path, other, shallow=False):
                    raise RunFolderError(f"{path}: is a copy of {other}; name one of the two runs")
            others.append(path)


def run_folders(path: Path) -> list[Path]:
    """The folder itself, where it is a run folder, or the run folders in it."""
    if (path / "config.json").exists():
        return [path]
    found = sorted(config.parent for config in path.glob("*/config.json")) if path.is_dir() else []
    # a sweep's first run is its baseline
    places = {run.name: place for place, run in enumerate(sweeps.read(path).runs)}
    found.sort(key=lambda run: places.get(run.name, len(found)))
    if not found:
        raise RunFolderError(f"{path}: neither a run folder nor a folder of run folders (no config.json)")
    return found


def settings_of(run: LoadedRun) -> dict[str, Any]:
    """The part of a run's configuration that makes an arm, and what it was forked from.

    A policy's runs have a model in their configuration like any other, and nobody asks it.
    """
    kept: dict[str, Any] = {}
    for name, value in run.config.items():
        keys = NO_PART_OF_AN_ARM.get(name)
        if keys and isinstance(value, Mapping):
            kept[name] = {key: inner for key, inner in value.items() if key not in keys}
        elif keys is None:
            kept[name] = value
    if run.episodes and not any_asked(run.episodes):
        kept["model"] = {"name": NO_MODEL}
        kept.pop("knowledge", None)
    if run.is_fork:
        kept["forked"] = "; ".join(sorted({episode.forked for episode in run.episodes})) or "yes"
    return kept


def names(arms: Sequence[Arm]) -> list[str]:
    """A name for each arm: its run folder's where it has but one, else agent, model asked, what differs."""
    folders = [arm.runs[0].name for arm in arms]
    if all(len(arm.runs) == 1 for arm in arms) and len(set(folders)) == len(folders):
        return folders
    plain = [flat(arm.settings) for arm in arms]
    telling = [key for key, _ in differences([arm.settings for arm in arms]) if key not in _IN_THE_NAME][:3]
    made = [
        " ".join(
            [short(values.get(key)) for key in _IN_THE_NAME if values.get(key) != NO_MODEL]
            + [f"{key.partition('.')[2]}={short(values[key])}" for key in telling if key in values]
        )
        for values in plain
    ]
    return [name if made.count(name) == 1 else f"{name} #{place}" for place, name in enumerate(made, 1)]


_IN_THE_NAME = ("agent.name", "model.name")


def differences(settings: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Any]]]:
    """The dotted keys in which these settings are not all the same, with each one's value."""
    plain = [flat(each) for each in settings]
    keys = sorted({key for each in plain for key in each})
    rows = [(key, [each.get(key) for each in plain]) for key in keys]
    return [(key, values) for key, values in rows if _differ(key, plain)]


def _differ(key: str, plain: Sequence[Mapping[str, Any]]) -> bool:
    """Whether not all whom it concerns have the same there."""
    of_models = key != "model.name" and key.startswith(("model.", "knowledge."))
    concerned = [each for each in plain if not (of_models and each.get("model.name") == NO_MODEL)]
    return any(each.get(key) != concerned[0].get(key) for each in concerned[1:])


def flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A nested mapping as one mapping from dotted keys."""
    made: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping) and value:
            made |= flat(value, f"{prefix}{name}.")
        else:
            made[f"{prefix}{name}"] = value
    return made


def short(value: Any, most: int = 60) -> str:
    """A setting's value as a reader sees it."""
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= most else text[: most - 1] + "…"
