"""Arms of a comparison: runs of one configuration form an arm, named by the settings that distinguish it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_not
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.config.frozen import tree_digest
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.episode import journal
from balrog_rag.results import sweeps
from balrog_rag.results.comparability import flat, settings_of, short
from balrog_rag.results.episodes import NO_MODEL, Episode, EpisodeSequence, as_sequence
from balrog_rag.results.experiments import departure, grouped
from balrog_rag.results.runs import LoadedRun, partial
from balrog_rag.results.shard_folders import is_sharded, loaded
from balrog_rag.results.stored_sequence import together


class Arm(msgspec.Struct, dict=True):
    """One kind of player on one set of games, in one or more run folders."""

    name: str
    runs: list[LoadedRun]
    settings: dict[str, Any]
    plain: str = ""
    """Its name without marks."""
    allowed: bool = False
    """Whether --partial was given: conclusions from incomplete runs are wanted."""

    @property
    def episodes(self) -> EpisodeSequence:
        """All its episodes, run by run."""
        found: EpisodeSequence = self._made_once("all", lambda: together([run.episodes for run in self.runs]))
        return found

    def _made_once(self, what: str, make: Callable[[], Any]) -> Any:
        """Keep what is made of its runs' episodes, until a run has another list of them."""
        lists = [run.episodes for run in self.runs]
        known = self.__dict__.get(f"_kept_{what}")  # a name that hides no method
        if known is None or len(known[0]) != len(lists) or any(map(is_not, known[0], lists)):
            known = self.__dict__[f"_kept_{what}"] = lists, make()
        return known[1]

    @property
    def forked(self) -> bool:
        """Whether some of its steps were decided by other players."""
        return any(run.is_fork for run in self.runs)

    @property
    def partial(self) -> str:
        """'partial: 7 of 204' if episodes of its runs are open or missing, otherwise empty."""
        return str(self._made_once("partial", self._partial))

    def _partial(self) -> str:
        cut = sum(len(run.cut) for run in self.runs)
        return partial(len(self.episodes) - cut, sum(run.holes for run in self.runs))

    @property
    def withheld(self) -> bool:
        """Whether conclusions are suppressed: no verdict, no rank, no interval."""
        return bool(self.partial) and not self.allowed

    def marked(self, name: str) -> str:
        """Mark a name as forked or partial."""
        marks = [mark for mark in ("forked" if self.forked else "", self.partial) if mark]
        return f"{name} ({', '.join(marks)})" if marks else name

    def by_env(self) -> dict[str, EpisodeSequence]:
        """Its episodes by environment, in display order."""
        found: dict[str, EpisodeSequence] = self._made_once("by_env", lambda: by_env(self.episodes))
        return found


def by_env(episodes: Iterable[Episode]) -> dict[str, EpisodeSequence]:
    """Group episodes by environment, in display order."""
    found = as_sequence(episodes).by_env()
    return {env: found[env] for env in in_order(found)}


def in_order(envs: Iterable[str]) -> list[str]:
    """Sort environments for display: in registration order, those of plug-ins last by name."""
    return sorted(set(envs), key=lambda env: (registry.environments.rank(env), env))


def departures(arms: Iterable[Arm]) -> list[str]:
    """Notes on the arms that depart from the experiment they are named after."""
    return grouped((arm.name, departure(run.config)) for arm in arms for run in arm.runs)


def load_arms(paths: Sequence[Path], use_index: bool = True, partial: bool = False) -> list[Arm]:
    """Load the arms in these folders (run folders or folders of run folders); no run counts twice.

    `partial`: draw conclusions even from arms that have open or missing episodes.
    """
    folders = {found.resolve(): found for path in paths for found in run_folders(path)}
    grouped: dict[str, list[LoadedRun]] = {}
    for run in (loaded(found, use_index) for found in folders.values()):
        grouped.setdefault(tree_digest(settings_of(run)), []).append(run)
    arms = [Arm("", group, settings_of(group[0]), allowed=partial) for group in grouped.values()]
    for arm, name in zip(arms, names(arms), strict=True):
        arm.plain, arm.name = name, arm.marked(name)
        refuse_copies(arm)
    return arms


def refuse_copies(arm: Arm) -> None:
    """Raise an error if an episode occurs in two folders: counting it twice would overstate certainty."""
    if len(arm.runs) == 1:
        return
    seen: dict[tuple[str, str], list[LoadedRun]] = {}
    for run in arm.runs:
        for episode in run.episodes:
            others = seen.setdefault((episode.name, episode.spec_digest), [])
            for path, other in ((each.journal(episode.name) for each in (run, that)) for that in others):
                if journal.read_bytes(path) == journal.read_bytes(other):
                    raise RunFolderError(f"{path}: is a copy of {other}; pass only one of the two runs")
            others.append(run)


def run_folders(path: Path) -> list[Path]:
    """Return the run folder itself, or the run folders in a folder; a run in shards counts as one."""
    if (path / "config.json").exists() or is_sharded(path):
        return [path]
    inside = sorted(path.iterdir()) if path.is_dir() else []
    found = [folder for folder in inside if (folder / "config.json").exists() or is_sharded(folder)]
    # a sweep's first run is its baseline
    places = {run.name: place for place, run in enumerate(sweeps.read(path).runs)}
    found.sort(key=lambda run: places.get(run.name, len(found)))
    if not found:
        raise RunFolderError(f"{path}: neither a run folder nor a folder of run folders (no config.json)")
    return found


def names(arms: Sequence[Arm]) -> list[str]:
    """Name each arm: by its run folder if it has only one, otherwise by agent, model and differences."""
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
    """Return the dotted keys in which these settings differ, with the value of each."""
    plain = [flat(each) for each in settings]
    keys = sorted({key for each in plain for key in each})
    rows = [(key, [each.get(key) for each in plain]) for key in keys]
    return [(key, values) for key, values in rows if _differ(key, plain)]


def _differ(key: str, plain: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the settings to which the key applies differ in it."""
    of_models = key != "model.name" and key.startswith(("model.", "knowledge."))
    concerned = [each for each in plain if not (of_models and each.get("model.name") == NO_MODEL)]
    return any(each.get(key) != concerned[0].get(key) for each in concerned[1:])
