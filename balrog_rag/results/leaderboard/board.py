"""The board as a page: own runs ranked, published rows beside them, others' measures."""

from collections.abc import Sequence
from statistics import fmean

import msgspec

from balrog_rag.contracts.kinds import Rules, kind_of
from balrog_rag.results.arms import Arm, departures, in_order
from balrog_rag.results.comparing import comparable
from balrog_rag.results.episodes import NO_MODEL, Episode, answering, any_asked
from balrog_rag.results.leaderboard.published import Reference, published
from balrog_rag.results.leaderboard.ranks import Rank, ranks
from balrog_rag.results.leaderboard.verified import is_verified
from balrog_rag.results.provenance import origin
from balrog_rag.results.report.page import Cell, Page, Section, Table
from balrog_rag.results.scoring import bounds_by_env, interval, overall_interval, scores
from balrog_rag.results.statistics.units import Bounds, Score, independent
from balrog_rag.results.statistics.verdict import Comparison, adjust, compare
from balrog_rag.results.summary import overall_summary

AVERAGE = "average"


class Entry(msgspec.Struct, frozen=True):
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
    departures: list[str] = []
    """In what it is not the experiment that it is named after."""


def build(arms: Sequence[Arm], by: str) -> list[Entry]:
    """Own arms with ranks and the published rows, best first by environment `by` or by average."""
    played = [arm for arm in arms if _scores(arm, by)]
    rows = [_scores(arm, by) for arm in played]
    placed = ranks(rows, bounds_by_env(sorted(_envs(arms))), lambda a, b: _pair(played[a], played[b], by))
    entries = [own_entry(arm, rank, by) for arm, rank in zip(played, placed, strict=True)]
    entries += [entry for row in published().rows if (entry := reference_entry(row, by))]
    return sorted(entries, key=lambda entry: (-entry.sort, not entry.own, entry.model))


def _envs(arms: Sequence[Arm]) -> set[str]:
    return {env for arm in arms for env in arm.by_env()}


def _scores(arm: Arm, by: str) -> list[Score]:
    return _by(by, arm.episodes)


def _pair(ours: Arm, theirs: Arm, by: str) -> tuple[list[Score], list[Score]]:
    mine, yours = comparable(ours, theirs)
    return _by(by, mine), _by(by, yours)


def _by(by: str, episodes: Sequence[Episode]) -> list[Score]:
    return scores([episode for episode in episodes if by in (AVERAGE, episode.env)])


def own_entry(arm: Arm, rank: Rank, by: str) -> Entry:
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
    first, count = arm.episodes[0], len(arm.episodes)
    totals = [episode.total for episode in arm.episodes]
    unknown = any(total.unpriced for total in totals)
    return Entry(
        arm.name,
        rank.text,
        first.agent_name,
        first.model_name if any_asked(arm.episodes) else NO_MODEL,
        figures,
        mean if by == AVERAGE else overall["environments"][by]["progression_percentage"],
        f"{sum(total.dollars for total in totals) / count:,.3f}" + ("+?" if unknown else ""),
        "replayed" if all(is_verified(run.folder) for run in arm.runs) else "no",
        max(origin(run.folder).started for run in arm.runs).partition("T")[0],
        ", ".join(name for name in answering(arm.episodes) if name != first.model_name),
        departures=departures([arm]),
    )


def _figure(mean: float, low: float, high: float, count: int) -> str:
    return f"{mean:.2f} [{low:.2f}, {high:.2f}] n={count}"


def reference_entry(row: Reference, by: str) -> Entry | None:
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
    return Entry(
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
    entries: Sequence[Entry], arms: Sequence[Arm], by: str, title: str, notes: Sequence[str] = ()
) -> Page:
    """The board as a page; `notes` say who else is not on it, and why."""
    sources = published().sources
    quoted = [
        f"Published rows ({name}) are quoted, not replayed: {where}." for name, where in sources.items()
    ]
    caveats = [f"{note}." for note in notes]
    caveats += [f"{told}." for told in departures(arms)]
    sections = [
        Section(f"Ranked by {by}", caveats, [board_table(entries, by)]),
        against_section(arms, by),
        *rules_sections(arms),
    ]
    sections.append(Section("Sources", quoted))
    return Page(title, [section for section in sections if section.tables or section.sentences])


def _title(entry: Entry) -> str:
    title = f"{entry.agent} / {entry.model}"
    if not entry.own:
        return f"{title} †"
    return title if entry.name in (title, entry.agent) else f"{title} ({entry.name})"


def board_table(entries: Sequence[Entry], by: str) -> Table:
    """The rows as a table."""
    envs = [AVERAGE, *in_order({env for entry in entries for env in entry.figures} - {AVERAGE})]
    envs.sort(key=lambda env: env != by)
    rows: list[list[Cell]] = [
        [_title(entry), entry.rank, *[entry.figures.get(env, "") for env in envs],
         entry.dollars, entry.verified, entry.answered_by, entry.date]
        for entry in entries
    ]  # fmt: skip
    note = (
        "Own rows share ranks where they cannot be told apart (permutation tests, Holm over all pairs). "
        "Brackets hold 95 % intervals; ± SE is what BALROG reports. Replayed: verified on the machine that "
        "made this page. Answered by: what the models called themselves, where that is no name they were "
        "asked by. † published elsewhere, without a rank here: other games, other versions, not replayed. An "
        "average is over the environments shown, for published rows over all of BALROG's."
    )
    return Table(
        ["agent / model", "rank", *envs, "dollars an episode", "verified", "answered by", "date"],
        rows,
        note,
        [entry.own for entry in entries],
    )


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


def rules_sections(arms: Sequence[Arm]) -> list[Section]:
    """Own arms in the measures of others, beside their published figures."""
    played = in_order({env for arm in arms for env in arm.by_env()})
    return [_rules_section(arms, env, rules) for env in played
            for rules in kind_of(env).rules if rules.published]  # fmt: skip


def _rules_section(arms: Sequence[Arm], env: str, rules: Rules) -> Section:
    rows: list[list[Cell]] = [
        [arm.name, str(len(found)), *rules.figures([found])]
        for arm in arms
        if (found := arm.by_env().get(env))
    ]
    for row in published().measured.get(rules.published, ()):
        cells = [f"{mean:,.2f} ± {deviation:,.2f}" for mean, deviation in map(row.__getitem__, rules.names)]
        rows.append([f"{row['agent']} / {row['name']} †", str(row["episodes"]), *cells])
    headings = [f"{rules.title}'s measures", "n", *rules.names]
    return Section(rules.title, tables=[Table(headings, rows, rules.note)])
