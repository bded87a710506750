"""Scores of every arm: one row per arm, one column per measure."""

from collections.abc import Sequence
from math import isnan

from balrog_rag.contracts.statistics import Statistic
from balrog_rag.results.arms import Arm, in_order
from balrog_rag.results.episodes import Episode
from balrog_rag.results.report.document import Cell, FigureCell, Section, Table
from balrog_rag.results.scoring import (
    COMMON,
    PROGRESSION,
    Scale,
    count_lacking,
    interval_of,
    measures_of,
    scores,
)
from balrog_rag.results.statistics.estimate import NOTHING
from balrog_rag.results.statistics.units import values
from balrog_rag.results.summary import mean_and_error
from balrog_rag.results.user_statistics import across_episodes, of_episodes
from balrog_rag.util.wording import joined_names

SCORES = "Means with 95 % intervals; n episodes. SE: standard error as BALROG computes it, in points."
PLAY = "Means per episode with 95 % intervals."
ALIKE = (
    "A value without an interval is the same in all episodes: they do not show how much others may differ."
)
TASKS = "Progression in percent ± standard error."


def scores_section(arms: Sequence[Arm], figures: list[str]) -> Section:
    """Every measure of every arm with its interval."""
    envs = in_order(env for arm in arms for env in arm.by_env())
    return Section(
        "Scores", tables=[table for env in envs for table in _score_tables(arms, env)], figures=figures
    )


def _score_tables(arms: Sequence[Arm], env: str) -> list[Table]:
    """Progression and the kind's measures; costs and the user's statistics; tasks, if there are several."""
    those = [arm for arm in arms if env in arm.by_env()]
    common = {measure.name for measure in COMMON}
    measures = [measure for measure in measures_of([env]) if measure is not PROGRESSION]
    own = [measure for measure in measures if measure.name not in common and not measure.of_user]
    others = [measure for measure in measures if measure not in own]
    tables = [_scores_table(those, env, own), _play_table(those, env, others)]
    tasks = sorted({episode.task for arm in those for episode in arm.by_env()[env]})
    return [*tables, _task_table(those, env, tasks)] if len(tasks) > 1 else tables


def _scores_table(arms: Sequence[Arm], env: str, measures: Sequence[Scale]) -> Table:
    known, note = _known(arms, env, measures)
    rows: list[list[Cell]] = [
        [
            arm.name,
            f"{len(arm.by_env()[env]):,}",
            _mean_and_interval(arm, env, PROGRESSION),
            _error(arm, env),
            *[_mean_and_interval(arm, env, measure) for measure in known],
        ]
        for arm in arms
    ]
    headings = [env, "n", "progression, %", "SE", *[measure.title for measure in known]]
    return Table(headings, rows, _noted(note, rows), caption=f"{env}: scores. {SCORES}")


def _play_table(arms: Sequence[Arm], env: str, measures: Sequence[Scale]) -> Table:
    known, note = _known(arms, env, measures)
    statistics = across_episodes([env])
    rows: list[list[Cell]] = [
        [
            arm.name,
            *[_mean_and_interval(arm, env, measure) for measure in known],
            *[_across(arm, env, one) for one in statistics],
        ]
        for arm in arms
    ]
    headings = [env, *[measure.title for measure in known], *[one.title or one.name for one in statistics]]
    return Table(headings, rows, _noted(note, rows), caption=f"{env}: play and costs. {PLAY}")


def _known(arms: Sequence[Arm], env: str, measures: Sequence[Scale]) -> tuple[list[Scale], str]:
    """The measures that some arm has, and a note on the others."""
    known = [
        measure
        for measure in measures
        if any(count_lacking(arm.by_env()[env], measure) < len(arm.by_env()[env]) for arm in arms)
    ]
    absent = [measure.title for measure in measures if measure not in known]
    return known, f"Unknown for all episodes: {joined_names(absent)}." if absent else ""


def _noted(note: str, rows: Sequence[Sequence[Cell]]) -> str:
    """Explain missing intervals only if there are any."""
    cells = [cell for row in rows for cell in row if isinstance(cell, FigureCell)]
    return " ".join(filter(None, [note, ALIKE if any(cell.around == "all alike" for cell in cells) else ""]))


def _error(arm: Arm, env: str) -> str:
    error = mean_and_error([episode.progression for episode in arm.by_env()[env]])[1]
    return "–" if arm.withheld else f"{100 * error:.2f}"


def _mean_and_interval(arm: Arm, env: str, measure: Scale) -> FigureCell:
    episodes = arm.by_env()[env]
    if lacking := count_lacking(episodes, measure):
        return FigureCell("unknown", f"for {lacking:,} of {len(episodes):,}")
    return _estimated(arm, episodes, measure)


def _estimated(arm: Arm, episodes: Sequence[Episode], measure: Scale) -> FigureCell:
    made = scores(episodes, measure)
    found = NOTHING if arm.withheld else interval_of(made, episodes[0].env, measure)
    mean = float(values(made).mean())
    digits = 3 if measure.name == "dollars" and mean < 10 else 2 if mean < 1000 else 0
    text = f"{mean:,.{digits}f}"
    if arm.withheld:
        return FigureCell(text, "of ended episodes")
    if not found.known:
        return FigureCell(text, "all alike" if len(episodes) > 1 else "")
    return FigureCell(text, f"[{found.low:,.{digits}f}, {found.high:,.{digits}f}]")


def _across(arm: Arm, env: str, statistic: Statistic) -> str:
    """One figure of all the arm's episodes; not for an incomplete arm, whose episodes are not a sample."""
    if arm.withheld or isnan(figure := of_episodes(statistic, arm.by_env()[env])):
        return "–" if arm.withheld else "unknown"
    return f"{figure:,.{2 if abs(figure) < 1000 else 0}f}"


def _task_table(arms: Sequence[Arm], env: str, tasks: Sequence[str]) -> Table:
    rows: list[list[Cell]] = []
    for arm in arms:
        cells: list[Cell] = [arm.name]
        for task in tasks:
            mine = [episode for episode in arm.by_env()[env] if episode.task == task]
            mean, error = mean_and_error([episode.progression for episode in mine])
            around = "" if arm.withheld else f"± {100 * error:.1f}, "
            cells.append(FigureCell(f"{100 * mean:.1f}", f"{around}n = {len(mine)}") if mine else "none")
        rows.append(cells)
    return Table([env, *tasks], rows, caption=f"{env}: tasks. {TASKS}")
