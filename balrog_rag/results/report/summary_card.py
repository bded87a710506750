"""The summary on top of a report: what was played, how much, when, and what came out."""

from collections import Counter
from collections.abc import Sequence

from balrog_rag.results.arms import Arm, in_order
from balrog_rag.results.coded_values import summed
from balrog_rag.results.episodes import NO_MODEL, any_asked
from balrog_rag.results.recorded_provenance import origin
from balrog_rag.results.statistics.comparison import Comparison
from balrog_rag.results.stored_sequence import together
from balrog_rag.results.terminal_tables import costs
from balrog_rag.util.wording import joined_names, many

MOST_NAMES = 6
"""Maximum number of names in a fact; the others are counted."""


def summary_card(arms: Sequence[Arm], baseline: Arm, verdicts: Sequence[Comparison]) -> list[tuple[str, str]]:
    """The facts, with labels."""
    episodes = together([arm.episodes for arm in arms])
    _, tokens, dollars = costs(episodes)
    found = {
        "Result": _results(verdicts),
        "Arms": f"{_names([arm.name for arm in arms])}; baseline: {baseline.name}"
        if verdicts
        else arms[0].name,
        "Model": _names(_models(arms)),
        "Games": _names(_games(arms)),
        "Episodes": f"{len(episodes):,}, with {summed(episodes.arrays.numbers('steps')):,} steps",
        "Cost": f"${dollars}, {tokens} tokens" if any_asked(episodes) else "no model was asked",
        "Played": _dates(arms),
    }
    return [(label, fact) for label, fact in found.items() if fact]


def _results(verdicts: Sequence[Comparison]) -> str:
    if len(verdicts) == 1:
        return f"{verdicts[0].ours} is {verdicts[0].word} against {verdicts[0].theirs}"
    if len(verdicts) <= MOST_NAMES:
        return ", ".join(f"{made.ours}: {made.word}" for made in verdicts)
    counts = Counter(made.word for made in verdicts)
    return ", ".join(f"{word}: {count} of {many(len(verdicts), 'arms')}" for word, count in counts.items())


def _models(arms: Sequence[Arm]) -> list[str]:
    asked = [model for arm in arms for model, _ in arm.episodes.arrays.asked_model.counted() if model]
    return list(dict.fromkeys(str(model.get("name", "?")) for model in asked)) or [NO_MODEL]


def _games(arms: Sequence[Arm]) -> list[str]:
    tasks: dict[str, set[str]] = {}
    for arm in arms:
        for env, episodes in arm.by_env().items():
            tasks.setdefault(env, set()).update(task for task, _ in episodes.arrays.task.counted())
    return [f"{env} ({many(len(tasks[env]), 'tasks')})" for env in in_order(tasks)]


def _dates(arms: Sequence[Arm]) -> str:
    """The first and the last day on which a run was started, if known."""
    started = [origin(folder).started for arm in arms for run in arm.runs for folder in run.folders]
    days = sorted({each.partition("T")[0] for each in started if each != "unknown"})
    return "" if not days else days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _names(names: Sequence[str]) -> str:
    shown = [*names[:MOST_NAMES]]
    more = len(names) - len(shown)
    return joined_names([*shown, many(more, "others")] if more else shown) if shown else ""
