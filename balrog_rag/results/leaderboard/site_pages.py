"""The pages of a leaderboard site: rankings per environment, and a page per submission."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import quote

import msgspec

from balrog_rag import __version__
from balrog_rag.contracts.outcome import in_words
from balrog_rag.results.arms import departures, in_order
from balrog_rag.results.comparability import conditions, tasks_of
from balrog_rag.results.environment_titles import environment_title
from balrog_rag.results.episodes import NO_MODEL
from balrog_rag.results.leaderboard import harness
from balrog_rag.results.leaderboard.board_groups import conditions_in_words
from balrog_rag.results.leaderboard.board_page import AVERAGE, BoardRow, RowOrder, build
from balrog_rag.results.leaderboard.certificate import STATEMENT, STATEMENT_OF_DIFFERENCES
from balrog_rag.results.leaderboard.published import published
from balrog_rag.results.leaderboard.site_entries import (
    DIFFERS,
    NUMBERS,
    PRESENT,
    REPLAYED,
    UNKNOWN,
    SiteEntry,
)
from balrog_rag.results.leaderboard.submission import miscounted
from balrog_rag.results.recorded_provenance import origin
from balrog_rag.results.scoring import interval, overall_interval
from balrog_rag.results.summary import overall_summary
from balrog_rag.util.terminal_safe import terminal_safe

MOST_EPISODES = 2_000
"""Episodes in the table of a submission's page; its files have all of them."""
LONGEST_TEXT = 1_000
"""Characters of a text from a submission."""
HERE = Path(__file__).parent
_UNSET = "null"
"""An option without a value, as configurations write it."""


class SiteRow(msgspec.Struct):
    """One row of a table."""

    name: str
    agent: str
    model: str
    mean: float
    low: float | None
    high: float | None
    n: int | None
    rank: str = ""
    entry: SiteEntry | None = None
    error: float | None = None
    """The standard error that a quoted row reports."""
    source: str = ""

    @property
    def line(self) -> tuple[float, float] | None:
        """The ends of its interval within the scale; of quoted rows 1.96 standard errors, as in BALROG."""
        ends = (self.low, self.high)
        if self.error is not None:
            ends = (self.mean - 1.96 * self.error, self.mean + 1.96 * self.error)
        low, high = ends
        return None if low is None or high is None else (max(low, 0.0), min(high, 100.0))


class SiteTable(msgspec.Struct):
    """Rows that are ranked together."""

    title: str
    rows: list[SiteRow]


class SiteSection(msgspec.Struct):
    """An environment, or the average over environments."""

    key: str
    title: str
    tables: list[SiteTable]
    quoted: list[SiteRow]


def sections(entries: Sequence[SiteEntry]) -> list[SiteSection]:
    """Return the average, if anybody played several environments, and every environment that was played."""
    played = {env for entry in entries for env in _envs(entry)}
    several = any(len(_envs(entry)) > 1 for entry in entries)
    names = [*([AVERAGE] if several else []), *in_order(played)]
    return [_section(env, entries) for env in names]


def _envs(entry: SiteEntry) -> list[str]:
    return list(entry.numbers) if entry.arm is None else list(entry.arm.by_env())


def _section(env: str, entries: Sequence[SiteEntry]) -> SiteSection:
    ranked = {
        entry.slug: entry
        for entry in entries
        if entry.arm is not None and not entry.why_unranked and _plays(entry, env)
    }
    rows = build([entry.arm for entry in ranked.values() if entry.arm is not None], RowOrder(env))
    groups: dict[str, list[SiteRow]] = {}
    for row in rows:
        if row.own:
            groups.setdefault(row.group, []).append(_ranked_row(ranked[row.name], row, env))
    quoted = [_reported_row(entry, env) for entry in entries if entry.arm is None and _plays(entry, env)]
    quoted += [found for row in published().rows if (found := _published_row(row, env)) is not None]
    quoted.sort(key=lambda row: -row.mean)
    title = "Average over environments" if env == AVERAGE else environment_title(env)
    return SiteSection(env, title, [SiteTable(name, found) for name, found in groups.items()], quoted)


def _plays(entry: SiteEntry, env: str) -> bool:
    return len(_envs(entry)) > 1 if env == AVERAGE else env in _envs(entry)


def _ranked_row(entry: SiteEntry, row: BoardRow, env: str) -> SiteRow:
    by_env = entry.arm.by_env() if entry.arm is not None else {}
    found = overall_interval(by_env) if env == AVERAGE else interval(by_env[env])
    mean = (
        overall_summary(by_env)["average_progress"]
        if env == AVERAGE
        else fmean(episode.percent for episode in by_env[env])
    )
    low, high = (found.low, found.high) if found.known else (None, None)
    count = sum(map(len, by_env.values())) if env == AVERAGE else len(by_env[env])
    return SiteRow(entry.name, entry.agent, entry.model, mean, low, high, count, row.rank, entry)


def _reported_row(entry: SiteEntry, env: str) -> SiteRow:
    if env == AVERAGE:
        mean = fmean(value for value, _, _ in entry.numbers.values())
        return SiteRow(entry.name, entry.agent, entry.model, mean, None, None, None, entry=entry)
    mean, error, count = entry.numbers[env]
    return SiteRow(
        entry.name, entry.agent, entry.model, mean, None, None, count or None, entry=entry, error=error
    )


def _published_row(row: Any, env: str) -> SiteRow | None:
    if env == AVERAGE:
        if row.average is None:
            return None
        (mean, error), count = row.average, None
    elif env in row.scored:
        mean, error, count = row.scored[env]
    else:
        return None
    return SiteRow(row.name, row.agent, row.name, mean, None, None, count, error=error, source=row.source)


def index_page(entries: Sequence[SiteEntry], title: str, rule: str) -> str:
    """Return the page with the rankings."""
    return _rendered(
        "board_site.html.j2",
        title=title,
        rule=rule,
        sections=sections(entries),
        unranked=[entry for entry in entries if entry.why_unranked],
        entries=entries,
        states=sorted({entry.state for entry in entries}),
        sources=published().sources,
        statement=STATEMENT,
        version=__version__,
        numbers_only=NUMBERS,
    )


STATEMENTS = {
    REPLAYED: STATEMENT,
    DIFFERS: STATEMENT_OF_DIFFERENCES,
    PRESENT: "The journals were not replayed: nobody checked that scores follow from the recorded answers.",
}
"""What a submission's page says of its journals, by the submission's state."""


def submission_page(entry: SiteEntry, protocol: Mapping[str, Any], title: str) -> str:
    """Return the page of a submission with journals: its harness card, and its episodes."""
    run = entry.run
    kept = dict(protocol)
    notes = [*miscounted(run, kept), harness.words(run), *harness.by_kind(run), *harness.ALWAYS]
    began = origin(run.folder)
    return _rendered(
        "board_submission.html.j2",
        title=title,
        entry=entry,
        run=run,
        settings=harness.unlike(run, protocol),
        notes=notes,
        departures=departures([entry.arm] if entry.arm is not None else []),
        conditions={
            key: value for key, value in conditions([run], tasks_of([run])).items() if value != _UNSET
        },
        versions=began.versions,
        started=began.started,
        episodes=run.episodes[:MOST_EPISODES],
        left_out=max(0, len(run.episodes) - MOST_EPISODES),
        statement=STATEMENTS[entry.state],
    )


def data(entries: Sequence[SiteEntry]) -> list[dict[str, Any]]:
    """Return the rankings as data, one record per environment and row."""
    return [
        {
            "by": section.key,
            "group": table.title,
            "rank": row.rank,
            "name": row.name,
            "agent": row.agent,
            "model": row.model,
            "mean": row.mean,
            "low": row.low,
            "high": row.high,
            "episodes": row.n,
            "state": row.entry.state if row.entry is not None else NUMBERS,
            "submission": row.entry.slug if row.entry is not None else "",
            "certificate": row.entry.certificate if row.entry is not None else "",
            "source": row.source,
        }
        for section in sections(entries)
        for table in (*section.tables, SiteTable("not ranked: numbers only", section.quoted))
        for row in table.rows
    ]


def _rendered(template: str, **values: Any) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, finalize=_shown,
    )  # fmt: skip
    environment.filters["setting"] = lambda value: "not set" if value == _UNSET else value
    environment.filters["in_words"] = in_words
    environment.filters["dollars"] = lambda value: f"{value:.3f}" if value < 1e9 else f"{value:.3g}"
    environment.filters["address"] = lambda text: quote(text, safe="/:")
    environment.filters |= {"player": _player, "conditions": conditions_in_words}
    environment.filters["first_up"] = lambda text: text[:1].upper() + text[1:]  # keeps the rest as it is
    script, style = ((HERE / name).read_text("utf-8") for name in ("board_site.js", "board_site.css"))
    digest = b64encode(sha256(script.encode()).digest()).decode()  # the policy allows only this script
    return environment.get_template(template).render(
        script=Markup(script), style=Markup(style), digest=digest, UNKNOWN=UNKNOWN, **values
    )


def _player(row: SiteRow) -> str:
    """The agent, and its model if the row is not named after it."""
    return row.agent if row.model in (NO_MODEL, row.name) else f"{row.agent} / {row.model}"


def _shown(value: Any) -> Any:
    """Remove control characters and direction marks from names of models and folders, and bound them."""
    if type(value) is not str:
        return value
    return terminal_safe(value if len(value) <= LONGEST_TEXT else f"{value[:LONGEST_TEXT]} ...")
