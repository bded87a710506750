"""The board as a page: own runs ranked, published rows beside them, others' measures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import msgspec

from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.registry import environments
from balrog_rag.results.arms import Arm, departures, in_order
from balrog_rag.results.comparing import all_comparable
from balrog_rag.results.episodes import NO_MODEL, Episode, answering, any_asked
from balrog_rag.results.leaderboard.board_groups import groups
from balrog_rag.results.leaderboard.others import rules_sections
from balrog_rag.results.leaderboard.published import Reference, published
from balrog_rag.results.leaderboard.ranks import Rank, ranks
from balrog_rag.results.leaderboard.verified import is_verified
from balrog_rag.results.recorded_provenance import origin
from balrog_rag.results.report.document import Cell, Link, ReportPage, Section, Table
from balrog_rag.results.report.origins import page_of
from balrog_rag.results.scoring import (
    PROGRESSION,
    Scale,
    interval,
    measures_of,
    overall_interval,
    scores,
    untold,
)
from balrog_rag.results.statistics.units import Bounds, Score, independent
from balrog_rag.results.statistics.verdict import Comparison, adjust, compare
from balrog_rag.results.summary import overall_summary

AVERAGE = "average"


class RowOrder(msgspec.Struct, frozen=True):
    """What a board is ranked by: progression in an environment or on average, or a measure of one kind."""

    env: str
    measure: Scale = PROGRESSION

    @property
    def name(self) -> str:
        """As --by says it."""
        return self.env if self.measure is PROGRESSION else self.measure.name

    @property
    def title(self) -> str:
        """As a heading says it."""
        return self.env if self.measure is PROGRESSION else f"{self.measure.title} ({self.env})"


def orders(arms: Sequence[Arm]) -> dict[str, RowOrder]:
    """Everything that these arms can be ranked by, by name; of a name that two kinds have the first's."""
    envs = in_order(_envs(arms))
    found = {each.env: each for each in map(RowOrder, [*envs, AVERAGE])}
    for env in envs:
        for measure in own_measures(env):
            found.setdefault(measure.name, RowOrder(env, measure))
    return found


def own_measures(env: str) -> list[Scale]:
    """What a kind counts besides progression."""
    return [measure for measure in measures_of([env]) if measure.kind]


class BoardRow(msgspec.Struct, frozen=True):
    """One row of the board."""

    name: str
    rank: str
    agent: str
    model: str
    figures: dict[str, str]
    """By environment, and for the average: mean, interval, episodes."""
    sort: float
    dollars: str
    verified: str
    date: str
    answered_by: str = ""
    """What the models that answered called themselves, where that is not the name they were asked by."""
    own: bool = True
    group: str = ""
    """Among whom it is ranked, where there are several groups: their tasks and conditions."""
    departures: list[str] = []
    """In what it is not the experiment that it is named after."""


def build(arms: Sequence[Arm], by: RowOrder) -> list[BoardRow]:
    """Own rows, ranked and sorted group by group, then the published rows, best first."""
    played = [arm for arm in arms if _scores(arm, by) and not lacking(arm, by)]
    entries = []
    for group in groups(played, "" if by.env == AVERAGE else by.env):
        placed = ranks([_by(by, episodes) for episodes in all_comparable(group.arms)])
        rows = [own_entry(arm, rank, by, group.title) for arm, rank in zip(group.arms, placed, strict=True)]
        entries += sorted(rows, key=_best_first)
    if by.measure is not PROGRESSION:
        return entries
    quoted = [entry for row in published().rows if (entry := reference_entry(row, by.env))]
    return entries + sorted(quoted, key=_best_first)


def _best_first(entry: BoardRow) -> tuple[float, str]:
    return -entry.sort, entry.model


def _envs(arms: Sequence[Arm]) -> set[str]:
    return {env for arm in arms for env in arm.by_env()}


def lacking(arm: Arm, by: RowOrder) -> int:
    """How many of an arm's journals do not tell what is ranked by."""
    return untold(arm.by_env().get(by.env, []), by.measure)


def _scores(arm: Arm, by: RowOrder) -> list[Score]:
    return _by(by, arm.episodes)


def _by(by: RowOrder, episodes: Sequence[Episode]) -> list[Score]:
    return scores([episode for episode in episodes if by.env in (AVERAGE, episode.env)], by.measure)


def own_entry(arm: Arm, rank: Rank, by: RowOrder, group: str = "") -> BoardRow:
    """An arm's row."""
    by_env = arm.by_env()
    overall, whole = overall_summary(by_env), overall_interval(by_env)
    figures = {
        env: _figure(fmean(episode.percent for episode in episodes), found.low, found.high, len(episodes))
        for env, episodes in by_env.items()
        for found in [interval(episodes)]
    }
    mean = overall["average_progress"]
    figures[AVERAGE] = f"{mean:.2f} [{whole.low:.2f}, {whole.high:.2f}]"
    sort = mean if by.env == AVERAGE else fmean(score.value for score in _scores(arm, by))
    if by.measure is not PROGRESSION:
        found = interval(by_env[by.env], by.measure)
        figures[by.name] = _figure(sort, found.low, found.high, len(by_env[by.env]))
    first, count = arm.episodes[0], len(arm.episodes)
    totals = [episode.total for episode in arm.episodes]
    unknown = any(total.unpriced for total in totals)
    return BoardRow(
        arm.name,
        rank.text,
        first.agent_name,
        first.model_name if any_asked(arm.episodes) else NO_MODEL,
        figures,
        sort,
        f"{sum(total.dollars for total in totals) / count:,.3f}" + ("+?" if unknown else ""),
        "replayed" if all(is_verified(run.folder) for run in arm.runs) else "no",
        max(origin(run.folder).started for run in arm.runs).partition("T")[0],
        ", ".join(name for name in answering(arm.episodes) if name != first.model_name),
        group=group,
        departures=departures([arm]),
    )


def _figure(mean: float, low: float, high: float, count: int) -> str:
    return f"{mean:.2f} [{low:.2f}, {high:.2f}] n={count}"


def reference_entry(row: Reference, by: str) -> BoardRow | None:
    """A published row; None where it says nothing of what the board is sorted by."""
    figures = {env: _published_figure(*known) for env, known in row.scored.items()}
    if row.average:
        figures[AVERAGE] = f"{row.average[0]:.2f} ± {row.average[1]:.2f} SE"
    by_value = (
        row.average[0] if by == AVERAGE and row.average else row.scored[by][0] if by in row.scored else None
    )
    if by_value is None:
        return None
    note = f" ({row.note})" if row.note else ""
    return BoardRow(
        row.folder,
        "",
        row.agent,
        row.name,
        figures,
        by_value,
        "",
        f"published: {row.source}{note}",
        row.date,
        own=False,
    )


def _published_figure(mean: float, error: float, count: int) -> str:
    return f"{mean:.2f} ± {error:.2f} SE n={count}"


def page(
    entries: Sequence[BoardRow],
    arms: Sequence[Arm],
    by: RowOrder,
    title: str,
    at: Path,
    notes: Sequence[str] = (),
) -> ReportPage:
    """The board as a page in the folder `at`; `notes` say who else is not on it, and why."""
    sources = published().sources
    quoted = [
        f"Published rows ({name}) are quoted, not replayed: {where}." for name, where in sources.items()
    ]
    caveats = [f"{note}." for note in notes]
    caveats += [f"{told}." for told in departures(arms)]
    sections = [
        *ranked_sections(entries, arms, by, at, caveats),
        published_section(entries, by),
        against_section(arms, by.env) if by.measure is PROGRESSION else Section(""),
        measures_section(arms),
        *rules_sections(arms),
    ]
    sections.append(Section("Sources", quoted))
    return ReportPage(title, [section for section in sections if section.tables or section.sentences])


def _title(entry: BoardRow) -> str:
    title = f"{entry.agent} / {entry.model}"
    if not entry.own:
        return f"{title} †"
    return title if entry.name in (title, entry.agent) else f"{title} ({entry.name})"


def _named(entry: BoardRow, pages: Mapping[str, str]) -> Cell:
    way = pages.get(entry.name) if entry.own else None
    return Link(_title(entry), way) if way else _title(entry)


def ways(arms: Sequence[Arm], at: Path) -> dict[str, str]:
    """By arm the way to the page of its run; of several runs to the first that has one."""
    found = {arm.name: next(filter(None, (page_of(run.folder, at) for run in arm.runs)), "") for arm in arms}
    return {name: way for name, way in found.items() if way}


def ranked_sections(
    entries: Sequence[BoardRow], arms: Sequence[Arm], by: RowOrder, at: Path, caveats: list[str]
) -> list[Section]:
    """A table of own rows for each group; the first carries the caveats."""
    names = list(dict.fromkeys(entry.group for entry in entries if entry.own))
    if len(names) > 1:
        caveats = [APART, *caveats]
    pages = ways(arms, at)
    sections: list[Section] = []
    for name in names or [""]:
        own = [entry for entry in entries if entry.own and entry.group == name]
        title = f"Ranked by {by.title}" + (f": {name}" if name else "")
        note = "" if sections else OWN_NOTE
        sections.append(Section(title, [] if sections else caveats, [board_table(own, by.name, pages, note)]))
    return sections


APART = (
    "Rows are ranked only among rows that played the same tasks under the same conditions (limits, "
    "characters and other options of the games); each group has a table of its own."
)
OWN_NOTE = (
    "Rank 2 to 4: behind one row that is surely better, before all that are surely worse. Rows that cannot "
    "be told apart share ranks (permutation tests with Holm's correction over all pairs, and a bootstrap of "
    "the greatest t of all pairs). Brackets hold 95 % intervals. Replayed: verified on the machine that made "
    "this page. Answered by: what the models called themselves, where that differs from the name they were "
    "asked by. An average is over the environments shown. Names lead to the page that `balrog-rag view RUN "
    "--out RUN/view.html` has written; of several runs to the first that has one."
)


def published_section(entries: Sequence[BoardRow], by: RowOrder) -> Section:
    """The published rows, best first, without ranks."""
    quoted = [entry for entry in entries if not entry.own]
    if not quoted:
        return Section("")
    return Section(f"Published elsewhere, by {by.title}", tables=[board_table(quoted, by.name, {}, QUOTED)])


QUOTED = (
    "† published elsewhere: other games, other versions, not replayed, so without a rank here. ± SE is what "
    "BALROG reports. An average is over all of BALROG's environments."
)


def board_table(entries: Sequence[BoardRow], by: str, pages: Mapping[str, str], note: str) -> Table:
    """The rows as a table; own ones lead to their pages."""
    named = {env for entry in entries for env in entry.figures}
    envs = [AVERAGE, *in_order(named & set(environments.names())), *named - {AVERAGE, *environments.names()}]
    envs.sort(key=lambda env: env != by)
    rows: list[list[Cell]] = [
        [_named(entry, pages), entry.rank, *[entry.figures.get(env, "") for env in envs],
         entry.dollars, entry.verified, entry.answered_by, entry.date]
        for entry in entries
    ]  # fmt: skip
    return Table(
        ["agent / model", "rank", *envs, "dollars an episode", "verified", "answered by", "date"],
        rows,
        note,
        [entry.own for entry in entries],
    )


def measures_section(arms: Sequence[Arm]) -> Section:
    """What the kinds of game count besides progression, each with its interval."""
    tables = []
    for env in in_order(_envs(arms)):
        counted = own_measures(env)
        played = [arm for arm in arms if env in arm.by_env()]
        rows: list[list[Cell]] = [
            [arm.name, *[measured(arm.by_env()[env], measure) for measure in counted]] for arm in played
        ]
        if counted and rows:
            headings = [env, *[f"{measure.title} (--by {measure.name})" for measure in counted]]
            tables.append(Table(headings, rows, MEASURES_NOTE))
    return Section("Other measures", tables=tables)


MEASURES_NOTE = (
    "Means with 95 % intervals. BALROG's progression pays for a level at once, even if the player dies of "
    "it; what else is counted need not, and may rank players in another order."
)


def measured(episodes: Sequence[Episode], measure: Scale) -> str:
    """A measure's mean and interval, or that journals do not tell it."""
    if count := untold(episodes, measure):
        return f"unknown for {count:,} of {len(episodes):,}"
    found, mean = interval(episodes, measure), fmean(measure.of(episode) for episode in episodes)
    return f"{mean:,.2f} [{found.low:,.2f}, {found.high:,.2f}]" if found.known else f"{mean:,.2f}"


def against_section(arms: Sequence[Arm], env: str) -> Section:
    """Own arms against those published rows whose episodes of an environment are known."""
    rows: list[list[Cell]] = [
        [made.ours, made.theirs, made.sentence] for made in against_published(arms, env)
    ]
    if not rows:
        return Section("")
    headings = [f"{kind_of(env).title}: own arm", "published episodes of", "verdict"]
    return Section("Against published episodes", tables=[Table(headings, rows)])


def against_published(arms: Sequence[Arm], env: str) -> list[Comparison]:
    """Each own arm that is no part of a run against each of those rows, as one family."""
    known = [row for row in published().rows if row.episodes.get(env)]
    own = [arm for arm in arms if env in arm.by_env() and not arm.partial]
    pairs = [(arm, row) for arm in own for row in known]
    return adjust([_against(arm, row, env, len(pairs)) for arm, row in pairs])


def _against(arm: Arm, row: Reference, env: str, family: int) -> Comparison:
    names = (arm.name, f"{row.agent} / {row.name} †")
    return compare(_anonymous(arm, env), row.scores(env), names, bounds={env: Bounds()}, family=family)


def _anonymous(arm: Arm, env: str) -> list[Score]:
    """Scores without their task, whose name published episodes lack; games count once each."""
    return [Score(score.value, env) for score in independent(scores(arm.by_env()[env]))]
