"""Own arms in the measures of other benchmarks, beside their published figures."""

from collections.abc import Sequence

from balrog_rag.contracts.kinds import Rules, kind_of
from balrog_rag.results.arms import Arm, in_order
from balrog_rag.results.episodes import Episode
from balrog_rag.results.leaderboard.published import published
from balrog_rag.results.report.document import Cell, Section, Table


def rules_sections(arms: Sequence[Arm]) -> list[Section]:
    """One section per benchmark: own arms in its measures, beside its published figures."""
    played = in_order({env for arm in arms for env in arm.by_env()})
    return [
        Section(rules.title, tables=[rules_table(arms, env, rules)])
        for env in played
        for rules in kind_of(env).scoring.rules
        if rules.published
    ]


def sources_of(rules: Rules) -> list[str]:
    """Distinct sources of the published figures."""
    known = published()
    named = dict.fromkeys(row["source"] for row in known.measured.get(rules.published, ()))
    return [known.sources[name] for name in named]


def _published_cell(value: list[float] | float | str) -> str:
    """Format a mean with its stated deviation or alone; texts unchanged."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        mean, deviation = value
        return f"{mean:,.2f} ± {deviation:,.2f}"
    return f"{value:,.2f}"


def rules_table(arms: Sequence[Arm], env: str, rules: Rules) -> Table:
    """One table: each arm that plays the environment, then the published rows."""
    rows: list[list[Cell]] = [
        [name, str(len(found)), *rules.figures([found])]
        for arm in arms
        if (played := arm.by_env().get(env))
        for name, found in _rows_of(arm.name, played, rules)
    ]
    for row in published().measured.get(rules.published, ()):
        cells = [_published_cell(row[name]) for name in rules.names]
        rows.append([f"{row['agent']} / {row['name']} †", str(row["episodes"]), *cells])
    return Table([f"by the measure of {rules.title}", "n", *rules.names], rows, rules.note)


def _rows_of(name: str, played: Sequence[Episode], rules: Rules) -> list[tuple[str, Sequence[Episode]]]:
    """All episodes of an arm and, if the rules separate tasks, those of each task."""
    tasks = list(dict.fromkeys(episode.task for episode in played))
    apart = sorted(tasks) if rules.apart and len(tasks) > 1 else []
    each = [(f"{name}, {task}", [episode for episode in played if episode.task == task]) for task in apart]
    return [(name, played), *each]
