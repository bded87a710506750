"""The content of a report: verdicts first, then scores and details."""

from collections.abc import Sequence
from math import isnan
from pathlib import Path

import msgspec

from balrog_rag.contracts.statistics import Statistic
from balrog_rag.results.arms import Arm, departures, in_order
from balrog_rag.results.comparing import against_baseline, duel
from balrog_rag.results.report.details import (
    cost_section,
    ends_section,
    protocol_section,
    retrieval_section,
)
from balrog_rag.results.report.document import Cell, ReportPage, Section, Table
from balrog_rag.results.report.floors import floors_section
from balrog_rag.results.report.origins import episodes_section, provenance_section, settings_section
from balrog_rag.results.scoring import Scale, count_lacking, interval, measures_of, outlook, scores
from balrog_rag.results.served import served_difference
from balrog_rag.results.statistics.comparison import Comparison
from balrog_rag.results.statistics.estimate import NOTHING
from balrog_rag.results.statistics.sentence import between, p_text, signed
from balrog_rag.results.statistics.units import values
from balrog_rag.results.summary import mean_and_error
from balrog_rag.results.user_statistics import across_episodes, of_episodes
from balrog_rag.util.wording import many

VERDICTS = (
    "on",
    "difference",
    "95 % interval",
    "p",
    "p (Holm)",
    "test",
    "p (more often)",
    "effect g",
    "P(beats baseline)",
)
WITH_SCORES = ("scores", "progress", "survival")
"""Prefixes of the names of the figures shown beside the scores."""
VERDICT_NOTE = (
    "Differences are in points of progression. Only the first row of each arm is corrected for the number "
    "of arms; rows by environment are for orientation."
)


SCORES_NOTE = (
    "Means with 95 % intervals of the mean. If all episodes have the same value there is no interval: "
    "the data do not show how much others may differ."
)


class Findings(msgspec.Struct):
    """The arms, the baseline, and the verdicts on the others."""

    arms: list[Arm]
    baseline: Arm
    verdicts: list[Comparison]


def judge(arms: list[Arm], baseline: Arm, wanted: float | None = None) -> Findings:
    """Compare every arm with the baseline."""
    return Findings(arms, baseline, against_baseline(arms, baseline, wanted))


def page(found: Findings, title: str, at: Path, figures: Sequence[str]) -> ReportPage:
    """Build the whole report for a page in the folder `at`."""
    sections = [
        floors_section(found.arms),
        verdict_section(found),
        scores_section(found.arms, [name for name in figures if name.startswith(WITH_SCORES)]),
        protocol_section(found.arms),
        cost_section(found.arms),
        ends_section(found.arms, found.baseline, [name for name in figures if name == "outcomes"]),
        retrieval_section(found.arms, [name for name in figures if name == "retrieval"]),
        settings_section(found.arms),
        provenance_section(found.arms),
        episodes_section(found.arms, at),
    ]
    return ReportPage(title, [section for section in sections if section.sentences or section.tables])


def verdict_section(found: Findings) -> Section:
    """Can the arms be distinguished, and could this design have done so?"""
    section = Section("Verdicts", [f"{departed}." for departed in departures(found.arms)])
    if served := served_difference(found.arms):
        section.sentences.append(f"{served[0].upper()}{served[1:]}.")
    for verdict in found.verdicts:
        section.sentences.append(f"{verdict.ours} against {verdict.theirs}: {verdict.sentence}")
    notes = {note: [verdict.ours for verdict in found.verdicts if note in verdict.notes]
             for verdict in found.verdicts for note in verdict.notes}  # fmt: skip
    for note, names in notes.items():
        who = "all of these" if len(names) == len(found.verdicts) else ", ".join(names)
        section.sentences.append(f"Note on {who}: {note}.")
    if any(verdict.made for verdict in found.verdicts):
        section.tables.append(verdict_table(found))
    rows: list[list[Cell]] = [
        [arm.name, env, outlook(played, arm.partial if arm.withheld else "")]
        for arm in found.arms
        for env, played in arm.by_env().items()
    ]
    rows += [[arm.name, "", "no finished episode, no verdict."] for arm in found.arms if not arm.episodes]
    section.tables.append(Table(["arm", "on", "summary of this arm"], rows))
    return section


def verdict_table(found: Findings) -> Table:
    """Each arm against the baseline: on average, and by environment if there are several."""
    rows: list[list[Cell]] = []
    others = [arm for arm in found.arms if arm is not found.baseline]
    for arm, verdict in zip(others, found.verdicts, strict=True):
        if not verdict.made:
            continue
        rows.append(_verdict_row(verdict, "average" if len(arm.by_env()) > 1 else "progression"))
        if len(arm.by_env()) > 1:
            by_env = duel(arm, found.baseline).environments
            rows += [_verdict_row(each, env) for env, each in by_env.items()]
    return Table([f"against {found.baseline.name}", *VERDICTS], rows, VERDICT_NOTE)


def _verdict_row(made: Comparison, on: str) -> list[Cell]:
    return [
        made.ours,
        on,
        signed(made.difference, made),
        between(made),
        p_text(made.test.p).removeprefix("p = ").removeprefix("p "),
        "" if made.adjusted is None else p_text(made.adjusted).removeprefix("p = ").removeprefix("p "),
        made.test.method,
        p_text(made.order_p).removeprefix("p = ").removeprefix("p "),
        "" if made.effect is None else f"{made.effect:+.2f}",
        f"{made.superiority:.0%}",
    ]


def scores_section(arms: Sequence[Arm], figures: list[str]) -> Section:
    """Every measure of every arm with its interval."""
    envs = in_order(env for arm in arms for env in arm.by_env())
    return Section(
        "Scores", tables=[table for env in envs for table in _score_tables(arms, env)], figures=figures
    )


def _score_tables(arms: Sequence[Arm], env: str) -> list[Table]:
    those = [arm for arm in arms if env in arm.by_env()]
    played = [(arm.name, arm.by_env()[env]) for arm in those]
    measures = measures_of([env])
    rows: list[list[Cell]] = [["episodes", *[f"{len(episodes):,}" for _, episodes in played]]]
    for measure in measures:
        rows.append([measure.title, *[_mean_and_interval(arm, env, measure) for arm in those]])
    for one in across_episodes([env]):
        rows.append([one.title or one.name, *[_across(arm, env, one) for arm in those]])
    rows.insert(2, ["standard error, as computed by BALROG", *[_error(arm, env) for arm in those]])
    table = Table([f"{env}", *[name for name, _ in played]], rows, SCORES_NOTE)
    tasks = sorted({episode.task for _, episodes in played for episode in episodes})
    return [table, _task_table(those, env, tasks)] if len(tasks) > 1 else [table]


def _error(arm: Arm, env: str) -> str:
    error = mean_and_error([episode.progression for episode in arm.by_env()[env]])[1]
    return "–" if arm.withheld else f"{100 * error:.2f}"


def _mean_and_interval(arm: Arm, env: str, measure: Scale) -> str:
    episodes = arm.by_env()[env]
    if lacking := count_lacking(episodes, measure):
        return f"unknown for {lacking:,} of {many(len(episodes), 'journals')}"
    found = NOTHING if arm.withheld else interval(episodes, measure)
    mean = float(values(scores(episodes, measure)).mean())
    digits = 3 if measure.name == "dollars" and mean < 10 else 2 if mean < 1000 else 0
    if arm.withheld:
        return f"{mean:,.{digits}f} of ended episodes"
    if not found.known:
        return f"{mean:,.{digits}f}" + (" (all alike)" if len(episodes) > 1 else "")
    return f"{mean:,.{digits}f} [{found.low:,.{digits}f}, {found.high:,.{digits}f}]"


def _across(arm: Arm, env: str, statistic: Statistic) -> str:
    """One figure of all the arm's episodes; not for an incomplete arm, whose episodes are not a sample."""
    if arm.withheld or isnan(figure := of_episodes(statistic, arm.by_env()[env])):
        return "–" if arm.withheld else "unknown"
    return f"{figure:,.{2 if abs(figure) < 1000 else 0}f}"


def _task_table(arms: Sequence[Arm], env: str, tasks: Sequence[str]) -> Table:
    rows: list[list[Cell]] = []
    for task in tasks:
        cells: list[Cell] = [task]
        for arm in arms:
            mine = [episode for episode in arm.by_env()[env] if episode.task == task]
            mean, error = mean_and_error([episode.progression for episode in mine])
            around = "" if arm.withheld else f" ± {100 * error:.1f}"
            cells.append(f"{100 * mean:.1f}{around} (n = {len(mine)})" if mine else "none")
        rows.append(cells)
    return Table([f"{env}: task", *[arm.name for arm in arms]], rows, "Progression in percent ± SE.")
