"""Arms of a comparison: runs of one configuration belong together, named by what tells them apart."""

import filecmp
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.config.frozen import tree_digest
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.results import run_folder, sweeps
from balrog_rag.results.comparability import flat, settings_of, short
from balrog_rag.results.episodes import NO_MODEL, Episode
from balrog_rag.results.experiments import departure, grouped
from balrog_rag.results.runs import LoadedRun, load, partial


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
