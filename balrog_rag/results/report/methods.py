"""The methods paragraph of a report, from the frozen configurations: to be pasted into a paper."""

from collections.abc import Mapping, Sequence
from typing import Any

from balrog_rag.results.arms import Arm, in_order
from balrog_rag.results.comparability import flat, short
from balrog_rag.results.episodes import answering, any_asked
from balrog_rag.results.recorded_provenance import origin, packages
from balrog_rag.results.report.document import Section
from balrog_rag.results.statistics.comparison import Comparison
from balrog_rag.results.statistics.order import TOO_FEW
from balrog_rag.util.wording import joined_names, many

SAMPLING = ("temperature", "top_p", "max_tokens", "reasoning_effort")
"""Settings of a model that a paper reports."""
NAMED = ("balrog_rag", "python")
"""Packages named before the others."""


def methods_section(arms: Sequence[Arm], verdicts: Sequence[Comparison]) -> Section:
    """The paragraph as one section; nothing if nothing was played."""
    played = [arm for arm in arms if arm.episodes]
    if not played:
        return Section("Methods")
    said = [_games(played), _models(played), _seeds(played), _versions(played), _tests(verdicts)]
    return Section("Methods", [" ".join(filter(None, said))])


def _games(arms: Sequence[Arm]) -> str:
    """Who played what, how often, and up to which limits."""
    tasks = {(env, task) for arm in arms for env, task, _ in arm.episodes.arrays.games.values}
    by_env = [
        f"{env} ({many(sum(own == env for own, _ in tasks), 'tasks')})"
        for env in in_order({env for env, _ in tasks})
    ]
    counts = sorted({len(arm.episodes) for arm in arms})
    count = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    limits = _shared(arms, "limits")
    ended = f" Episodes were limited by {', '.join(limits)}." if limits else ""
    ended += "".join(f" {line}." for line in _apart(arms, "limits"))
    return (
        f"{many(len(arms), 'arms')} ({joined_names([arm.name for arm in arms])}) played "
        f"{joined_names(by_env)}, {count} episodes each.{ended}"
    )


def _models(arms: Sequence[Arm]) -> str:
    """Models with their sampling settings, and the names that answered."""
    found: dict[str, None] = {}
    for arm in arms:
        if any_asked(arm.episodes):
            model = arm.runs[0].config.get("model") or {}
            settings = [f"{key} {short(model[key])}" for key in SAMPLING if model.get(key) is not None]
            names = [name for name in answering(arm.episodes) if name != model.get("name")]
            told = f", which answered as {joined_names(names)}" if names else ""
            around = f" ({', '.join(settings)})" if settings else ""
            found[f"{model.get('name')}{around}{told}"] = None
    return f"Models: {'; '.join(found)}." if found else "No model was asked."


def _seeds(arms: Sequence[Arm]) -> str:
    seeds = sorted({int((run.config.get("run") or {}).get("seed") or 0) for arm in arms for run in arm.runs})
    ways = {str((run.config.get("env") or {}).get("seeding") or "spread") for arm in arms for run in arm.runs}
    games = {game for arm in arms for game in arm.episodes.arrays.games.values}
    return (
        f"Game seeds were derived from run seed {joined_names([str(seed) for seed in seeds])} "
        f"(seeding: {joined_names(sorted(ways))}), which gave {many(len(games), 'different games')}."
    )


def _versions(arms: Sequence[Arm]) -> str:
    """When, and with which versions."""
    folders = [folder for arm in arms for run in arm.runs for folder in run.folders]
    days = sorted(
        {day for folder in folders if (day := origin(folder).started.partition("T")[0]) != "unknown"}
    )
    known: dict[str, set[str]] = {}
    for folder in folders:
        for name, numbers in packages(folder).items():
            known.setdefault(name, set()).update(numbers)
    order = sorted(known, key=lambda name: (name not in NAMED, name))
    versions = ", ".join(f"{name} {' and '.join(sorted(known[name]))}" for name in order)
    span = f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}" if days else ""
    said = [f"Runs were started {span}." if span else "", f"Versions: {versions}." if versions else ""]
    return " ".join(filter(None, said))


def _tests(verdicts: Sequence[Comparison]) -> str:
    made = [verdict for verdict in verdicts if verdict.made]
    if not made:
        return ""
    tests = joined_names(list(dict.fromkeys(verdict.test.method for verdict in made)))
    tested = [verdict.order.method for verdict in made if verdict.order.method != TOO_FEW]
    orders = [*dict.fromkeys(tested)]
    often = f", and which arm scores higher more often by {joined_names(orders)}" if orders else ""
    intervals = joined_names([name for name in dict.fromkeys(v.interval.method for v in made) if name])
    pairs = sorted({verdict.paired for verdict in made if verdict.paired})
    paired = " Arms were compared game by game." if pairs else ""
    family = made[0].family
    holm = f" p values were corrected by Holm's method over {family} comparisons." if family > 1 else ""
    return (
        f"Mean progression was compared with {made[0].theirs} by {tests}{often}; intervals are 95 % "
        f"({intervals}).{paired}{holm}"
    )


def _shared(arms: Sequence[Arm], section: str) -> list[str]:
    """The set limits that all runs share, as `steps 100`."""
    trees: list[Mapping[str, Any]] = [flat(run.config.get(section) or {}) for arm in arms for run in arm.runs]
    first = trees[0]
    return [
        f"{key.replace('.', ' ')} {short(value)}"
        for key, value in first.items()
        if value not in (None, {}, "plan") and all(tree.get(key) == value for tree in trees)
    ]


def _apart(arms: Sequence[Arm], section: str) -> list[str]:
    """The limits in which arms differ, as `steps were limited to 100 in a and 50 in b; c had none`."""
    trees = {arm.name: flat(arm.runs[0].config.get(section) or {}) for arm in arms}
    keys = dict.fromkeys(key for tree in trees.values() for key in tree)
    said = []
    for key in keys:
        named: dict[str, list[str]] = {}
        for name, tree in trees.items():
            value = tree.get(key)
            named.setdefault("no limit" if value in (None, {}, "plan") else short(value), []).append(name)
        if len(named) > 1:
            each = [f"{value} in {joined_names(names)}" for value, names in named.items()]
            said.append(f"Limits of {key.replace('.', ' ')} differed: {'; '.join(each)}")
    return said
