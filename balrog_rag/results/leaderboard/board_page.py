"""The leaderboard page: own runs ranked, published rows beside them, measures of other benchmarks."""

from collections.abc import Mapping, Sequence
from statistics import fmean

import msgspec

from balrog_rag.contracts.registry import environments
from balrog_rag.results.arms import Arm, departures, in_order
from balrog_rag.results.comparing import all_comparable
from balrog_rag.results.episodes import NO_MODEL, Episode, answering, any_asked
from balrog_rag.results.leaderboard.against_published import against_section
from balrog_rag.results.leaderboard.board_columns import (
    SIX,
    ColumnScore,
    average_column,
    columns_of,
    heading_of,
    own_columns,
    quoted_columns,
)
from balrog_rag.results.leaderboard.board_groups import apart, groups
from balrog_rag.results.leaderboard.others import rules_sections
from balrog_rag.results.leaderboard.published import Reference, published
from balrog_rag.results.leaderboard.ranks import ranks
from balrog_rag.results.leaderboard.verified import is_verified
from balrog_rag.results.recorded_provenance import origin
from balrog_rag.results.report.document import Cell, Link, ReportPage, Section, Table
from balrog_rag.results.report.episode_pages import EpisodePages
from balrog_rag.results.report.origins import episodes_section
from balrog_rag.results.scoring import (
    PROGRESSION,
    Scale,
    count_lacking,
    figures_of,
    interval,
    measures_of,
    overall_interval,
    scores,
)
from balrog_rag.results.statistics.units import Score
from balrog_rag.results.summary import overall_summary

AVERAGE = "average"


class RowOrder(msgspec.Struct, frozen=True):
    """The sort criterion: progression in an environment or on average, or a measure of one kind."""

    env: str
    measure: Scale = PROGRESSION

    @property
    def name(self) -> str:
        """Its name as a value of --by."""
        return self.env if self.measure is PROGRESSION else self.measure.name

    @property
    def title(self) -> str:
        """Its name for a heading."""
        return self.env if self.measure is PROGRESSION else f"{self.measure.title} ({self.env})"


def orders(arms: Sequence[Arm]) -> dict[str, RowOrder]:
    """All criteria for these arms by name; if two kinds share a name, the first one's."""
    envs = in_order(_envs(arms))
    found = {each.env: each for each in map(RowOrder, [*envs, AVERAGE])}
    for env in envs:
        for measure in own_measures(env):
            found.setdefault(measure.name, RowOrder(env, measure))
    return found


def own_measures(env: str) -> list[Scale]:
    """Measures of a kind besides progression."""
    return [measure for measure in measures_of([env]) if measure.kind]


class BoardRow(msgspec.Struct, frozen=True):
    """One row of the leaderboard."""

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
    """Names that the answering models reported, if different from the configured name."""
    own: bool = True
    group: str = ""
    """The ranking group (tasks and conditions), if there are several."""
    departures: list[str] = []
    """How it departs from the experiment it is named after."""
    columns: dict[str, ColumnScore] = {}
    """Its scores by column, each with its rank there."""
    first: str = ""
    """The column that sorts its table."""
    measure: str = ""
    """The measure that sorts it, if that is not progression."""


def build(arms: Sequence[Arm], by: RowOrder) -> list[BoardRow]:
    """Own rows, ranked and sorted by group, then the published rows, best first."""
    played = [arm for arm in arms if _scores(arm, by) and not lacking(arm, by)]
    entries = []
    for group in groups(played, "" if by.env == AVERAGE else by.env):
        placed = ranks([_by(by, episodes) for episodes in all_comparable(group.arms)])
        rows = [
            own_entry(arm, rank.text, by, group.title) for arm, rank in zip(group.arms, placed, strict=True)
        ]
        entries += sorted(rows, key=_best_first)
    if by.measure is not PROGRESSION:
        return entries
    references = published().rows
    quoted = [
        entry
        for row, scores in zip(references, quoted_columns(references), strict=True)
        if (entry := reference_entry(row, by.env, scores))
    ]
    return entries + sorted(quoted, key=_best_first)


def with_columns(entries: Sequence[BoardRow], arms: Sequence[Arm], by: RowOrder) -> list[BoardRow]:
    """The rows with their scores in every column; ranks that the rows have already are not computed again."""
    firsts = {arm.name: column_of(by, arm) for arm in arms}
    known: dict[str, dict[frozenset[str], dict[str, str]]] = {}
    own = [entry for entry in entries if entry.own]
    for entry in own if by.measure is PROGRESSION else ():
        group = {each.name: each.rank for each in own if each.group == entry.group}
        known.setdefault(firsts[entry.name], {})[frozenset(group)] = group
    columns, measure = own_columns(arms, known), "" if by.measure is PROGRESSION else by.name
    return [
        msgspec.structs.replace(entry, columns=columns[entry.name], first=firsts[entry.name], measure=measure)
        if entry.own
        else entry
        for entry in entries
    ]


def column_of(by: RowOrder, arm: Arm) -> str:
    """The column that sorts an arm's table."""
    if by.measure is not PROGRESSION:
        return by.title
    envs = list(arm.by_env())
    return by.env if by.env != AVERAGE else envs[0] if len(envs) == 1 else average_column(envs)


def _best_first(entry: BoardRow) -> tuple[float, str]:
    return -entry.sort, entry.model


def _envs(arms: Sequence[Arm]) -> set[str]:
    return {env for arm in arms for env in arm.by_env()}


def lacking(arm: Arm, by: RowOrder) -> int:
    """Number of an arm's journals that lack the measure."""
    return count_lacking(arm.by_env().get(by.env, []), by.measure)


def _scores(arm: Arm, by: RowOrder) -> Sequence[Score]:
    return _by(by, arm.episodes)


def _by(by: RowOrder, episodes: Sequence[Episode]) -> Sequence[Score]:
    return scores([episode for episode in episodes if by.env in (AVERAGE, episode.env)], by.measure)


def own_entry(arm: Arm, rank: str, by: RowOrder, group: str = "") -> BoardRow:
    """The row of an arm."""
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
        rank,
        first.agent_name,
        first.model_name if any_asked(arm.episodes) else NO_MODEL,
        figures,
        sort,
        f"{sum(total.dollars for total in totals) / count:,.3f}" + ("+?" if unknown else ""),
        "replayed" if all(is_verified(folder) for run in arm.runs for folder in run.folders) else "no",
        max(origin(folder).started for run in arm.runs for folder in run.folders).partition("T")[0],
        ", ".join(name for name in answering(arm.episodes) if name != first.model_name),
        group=group,
        departures=departures([arm]),
    )


def _figure(mean: float, low: float, high: float, count: int) -> str:
    return f"{mean:.2f} [{low:.2f}, {high:.2f}] n={count}"


def reference_entry(row: Reference, by: str, columns: Mapping[str, ColumnScore]) -> BoardRow | None:
    """A published row with its scores; None if it has no value for the sort criterion."""
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
        columns[SIX if by == AVERAGE else by].rank.partition(" of ")[0],
        row.agent,
        row.name,
        figures,
        by_value,
        "",
        f"published: {row.source}{note}",
        row.date,
        own=False,
        columns=dict(columns),
        first=SIX if by == AVERAGE else by,
    )


def _published_figure(mean: float, error: float, count: int) -> str:
    return f"{mean:.2f} ± {error:.2f} SE n={count}"


def page(
    entries: Sequence[BoardRow],
    arms: Sequence[Arm],
    by: RowOrder,
    title: str,
    pages: EpisodePages,
    notes: Sequence[str] = (),
) -> ReportPage:
    """Build the page, whose rows link to `pages`; `notes` explain which arms are missing."""
    sources = published().sources
    quoted = [
        f"Published rows ({name}) are quoted, not replayed: {where}." for name, where in sources.items()
    ]
    caveats = [f"{note}." for note in notes]
    caveats += [f"{departed}." for departed in departures(arms)]
    sections = [
        *ranked_sections(entries, arms, by, pages, caveats),
        published_section(entries, by),
        against_section(arms, by.env) if by.measure is PROGRESSION else Section(""),
        measures_section(arms),
        *rules_sections(arms),
        episodes_section(arms, pages),
    ]
    sections.append(Section("Sources", quoted))
    return ReportPage(title, [section for section in sections if not section.empty])


def _title(entry: BoardRow) -> str:
    title = entry.agent if entry.model == NO_MODEL else f"{entry.agent} / {entry.model}"
    if not entry.own:
        return f"{title} †"
    return title if entry.name in (title, entry.agent, entry.model) else f"{title} ({entry.name})"


def _named(entry: BoardRow, pages: Mapping[str, str]) -> Cell:
    way = pages.get(entry.name) if entry.own else None
    return Link(_title(entry), way) if way else _title(entry)


def ways(arms: Sequence[Arm], pages: EpisodePages) -> dict[str, str]:
    """Links from arms to the pages of their runs; of several runs, the first that has a page."""
    found = {arm.name: next(filter(None, (pages.of(run.folder) for run in arm.runs)), "") for arm in arms}
    return {name: way for name, way in found.items() if way}


def ranked_sections(
    entries: Sequence[BoardRow], arms: Sequence[Arm], by: RowOrder, pages: EpisodePages, caveats: list[str]
) -> list[Section]:
    """One table of own rows per group; the first one carries the notes."""
    names = list(dict.fromkeys(entry.group for entry in entries if entry.own))
    if len(names) > 1:
        caveats = [APART, *caveats]
    links = ways(arms, pages)
    sections: list[Section] = []
    for name in names or [""]:
        own = [entry for entry in entries if entry.own and entry.group == name]
        first = own[0].first if own else by.title
        conditions, tasks = apart(name)
        title = ", ".join(filter(None, (f"Ranked by {heading_of(first)}", conditions)))
        said = [f"Tasks: {tasks}."] if tasks else []
        note = "" if sections else OWN_NOTE
        table = board_table(own, first, links, note)
        sections.append(Section(title, said if sections else [*caveats, *said], [table]))
    return sections


APART = (
    "Rows are ranked only among rows that played the same tasks under the same conditions (limits, "
    "characters and other options of the games); each group has its own table."
)
OWN_NOTE = (
    "Every column has a ranking of its own, among the rows that played its tasks under the same conditions. "
    "Rank 2 to 4: one row is significantly better, and all rows ranked lower are worse. Rows that cannot be "
    "distinguished share ranks (permutation tests with Holm's correction over all pairs, and bootstrap of "
    "the greatest t of all pairs). Bars: means on a scale of 0 to 100 %, with their 95 % intervals. "
    "Replayed: verified on the machine that created this page. Answered by: the name that the model "
    "reported, if it differs from the configured one."
)


def published_section(entries: Sequence[BoardRow], by: RowOrder) -> Section:
    """The published rows, best first, ranked among each other."""
    quoted = [entry for entry in entries if not entry.own]
    if not quoted:
        return Section("")
    first = quoted[0].first
    return Section(
        f"Published elsewhere, by {heading_of(first)}", tables=[board_table(quoted, first, {}, QUOTED)]
    )


QUOTED = (
    "† published elsewhere: different games and versions, not replayed, therefore ranked apart from own "
    "rows: by Welch's t from the published means and standard errors, with Holm's correction over all pairs "
    "in a column. Bars: ± 1.96 standard errors, as BALROG reports them. An average is over all of BALROG's "
    "environments."
)


def board_table(entries: Sequence[BoardRow], first: str, links: Mapping[str, str], note: str) -> Table:
    """The rows as a table; own rows and their scores link to their pages."""
    columns = columns_of([entry.columns for entry in entries], first, in_order(environments.names()))
    measure = [first] if first not in columns and entries else []
    rows: list[list[Cell]] = [
        [
            _named(entry, links),
            entry.rank,
            *[entry.figures.get(entry.measure, "") for _ in measure],
            *[_score(entry, column, links) for column in columns],
            *(entry.dollars, entry.verified, entry.answered_by, entry.date),
        ]
        for entry in entries
    ]
    # Two averages may both be of five environments: then each names its own.
    shown = [heading_of(column) for column in columns]
    shown = [head if shown.count(head) == 1 else column for head, column in zip(shown, columns, strict=True)]
    headings = ["agent / model", "rank", *measure, *shown]
    return Table([*headings, "dollars per episode", "verified", "answered by", "date"], rows, note)


def _score(entry: BoardRow, column: str, links: Mapping[str, str]) -> Cell:
    """A score with its bar and its rank in this column."""
    score = entry.columns.get(column)
    if score is None:
        return ""
    return msgspec.structs.replace(score.cell(), href=links.get(entry.name, "") if entry.own else "")


def measures_section(arms: Sequence[Arm]) -> Section:
    """Measures of the kinds of game besides progression, with intervals."""
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
    "Means with 95 % intervals. BALROG's progression rewards a level immediately, even if the player dies as "
    "a result; other measures may not, and may rank players differently."
)


def measured(episodes: Sequence[Episode], measure: Scale) -> str:
    """Format a measure's mean and interval, or how many journals lack it."""
    if count := count_lacking(episodes, measure):
        return f"unknown for {count:,} of {len(episodes):,}"
    found, mean = interval(episodes, measure), fmean(figures_of(episodes, measure).tolist())
    return f"{mean:,.2f} [{found.low:,.2f}, {found.high:,.2f}]" if found.known else f"{mean:,.2f}"
