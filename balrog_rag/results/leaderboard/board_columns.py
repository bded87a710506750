"""The columns of a board: one score per row, each column with a ranking of its own."""

from collections.abc import Mapping, Sequence
from math import isfinite, sqrt
from statistics import fmean, median

import msgspec

from balrog_rag.results.arms import Arm
from balrog_rag.results.comparing import all_comparable
from balrog_rag.results.environment_titles import environment_title
from balrog_rag.results.leaderboard.board_groups import groups
from balrog_rag.results.leaderboard.published import Reference
from balrog_rag.results.leaderboard.ranks import Rank, ranks
from balrog_rag.results.report.document import FigureCell
from balrog_rag.results.scoring import interval, overall_interval, scores
from balrog_rag.results.statistics import permutation
from balrog_rag.results.statistics.units import ALPHA

SIX = "average of BALROG's six"
"""The column of averages that BALROG's board publishes."""
AVERAGE_OF = "average of "
SCALE = 100.0
KnownRanks = Mapping[str, Mapping[frozenset[str], Mapping[str, str]]]


class ColumnScore(msgspec.Struct, frozen=True):
    """A row's score in one column."""

    mean: float
    low: float
    high: float
    """The ends of a 95 % interval; for published rows mean ± 1.96 standard errors."""
    count: int = 0
    """Episodes; 0: not stated."""
    error: float | None = None
    """The published standard error."""
    rank: str = ""
    """The range of ranks among the rows that can be ranked with it in this column, as in `2 to 4 of 9`."""

    def cell(self) -> FigureCell:
        """The score with its interval, rank and bar."""
        around = f"± {self.error:.2f} SE" if self.error is not None else ""
        if not around and isfinite(self.low):
            around = f"[{self.low:.2f}, {self.high:.2f}]"
        rank = f"rank {self.rank}".replace(" to ", "–")
        below = [f"n = {self.count}" if self.count else "", rank if self.rank else ""]
        ends = (
            self.low if isfinite(self.low) else self.mean,
            self.high if isfinite(self.high) else self.mean,
        )
        low, middle, high = (min(max(end, 0.0), SCALE) / SCALE for end in (ends[0], self.mean, ends[1]))
        said = ", ".join(filter(None, below))
        return FigureCell(f"{self.mean:.2f}", around, said, bar=(low, middle, high))


def average_column(envs: Sequence[str]) -> str:
    """The heading of averages over these environments: only equal sets share a column."""
    return f"{AVERAGE_OF}{', '.join(envs)}"


def heading_of(column: str) -> str:
    """A column's heading for people: environments by their titles, and many of them by their number."""
    envs = column.removeprefix(AVERAGE_OF).split(", ")
    if column == SIX:
        return column
    if len(envs) > MOST_NAMED:
        return f"{AVERAGE_OF}{len(envs)} environments"
    return (AVERAGE_OF if column.startswith(AVERAGE_OF) else "") + ", ".join(map(environment_title, envs))


MOST_NAMED = 2
"""Environments of an average that its heading names."""


def own_columns(arms: Sequence[Arm], known: KnownRanks | None = None) -> dict[str, dict[str, ColumnScore]]:
    """Each arm's scores by column, with ranks among the arms with the same tasks and conditions.

    `known`: ranks that need not be computed, by column and names of the ranked rows.
    """
    known = known or {}
    found: dict[str, dict[str, ColumnScore]] = {arm.name: {} for arm in arms}
    for env in dict.fromkeys(env for arm in arms for env in arm.by_env()):
        played = [arm for arm in arms if env in arm.by_env()]
        for group in groups(played, env):
            for arm, rank in _ranked(group.arms, env, known.get(env, {})):
                episodes = arm.by_env()[env]
                seen = interval(episodes)
                mean = fmean(episode.percent for episode in episodes)
                found[arm.name][env] = ColumnScore(mean, seen.low, seen.high, len(episodes), rank=rank)
    several = [arm for arm in arms if len(arm.by_env()) > 1]
    for group in groups(several):
        ready = known.get(average_column(list(group.arms[0].by_env())), {})
        for arm, rank in _ranked(group.arms, "", ready):
            by_env, whole = arm.by_env(), overall_interval(arm.by_env())
            mean = fmean(fmean(each.percent for each in episodes) for episodes in by_env.values())
            column = average_column(list(by_env))
            found[arm.name][column] = ColumnScore(mean, whole.low, whole.high, len(arm.episodes), rank=rank)
    return found


def _ranked(
    arms: Sequence[Arm], env: str, known: Mapping[frozenset[str], Mapping[str, str]]
) -> list[tuple[Arm, str]]:
    """The arms of a group with their ranks in an environment, or on average; a single arm has none."""
    if len(arms) < 2:
        return [(arm, "") for arm in arms]
    if ready := known.get(frozenset(arm.name for arm in arms)):
        return [(arm, f"{ready[arm.name]} of {len(arms)}") for arm in arms]
    played = [[each for each in own if env in ("", each.env)] for own in all_comparable(arms)]
    found = ranks([scores(episodes) for episodes in played])
    return [(arm, f"{rank.text} of {len(arms)}") for arm, rank in zip(arms, found, strict=True)]


def quoted_columns(rows: Sequence[Reference]) -> list[dict[str, ColumnScore]]:
    """The published scores by column, ranked among each other in every column."""
    names = dict.fromkeys([SIX, *(env for row in rows for env in row.scored)])
    found: list[dict[str, ColumnScore]] = [{} for _ in rows]
    for name in names:
        known = {place: score for place, row in enumerate(rows) if (score := _quoted(row, name))}
        placed = quoted_ranks([(score.mean, score.error or 0.0, score.count) for score in known.values()])
        for (place, score), rank in zip(known.items(), placed, strict=True):
            found[place][name] = msgspec.structs.replace(score, rank=f"{rank.text} of {len(known)}")
    return found


def _quoted(row: Reference, column: str) -> ColumnScore | None:
    known = (*row.average, 0) if column == SIX and row.average else row.scored.get(column)
    if known is None:
        return None
    mean, error, count = known
    return ColumnScore(mean, mean - 1.96 * error, mean + 1.96 * error, count, error)


def quoted_ranks(known: Sequence[tuple[float, float, int]]) -> list[Rank]:
    """Rank rows of which only mean, standard error and episodes are published.

    By Welch's t with Holm's correction over all pairs. A standard error of zero says that the few episodes
    are equal, not that others would be: such a row gets the column's median error.
    """
    from scipy.special import stdtr

    usual = median([error for _, error, _ in known if error > 0] or [1.0])
    rows = [(mean, error or usual, max(count - 1, 1) if count else MANY) for mean, error, count in known]
    pairs = [(a, b) for a in range(len(rows)) for b in range(a)]
    found = []
    for a, b in pairs:
        (mean, error, free), (other, others, freedom) = rows[a], rows[b]
        spread = error**2 + others**2
        degrees = spread**2 / (error**4 / free + others**4 / freedom)
        found.append(2 * float(stdtr(degrees, -abs(mean - other) / sqrt(spread))))
    better, worse = [0] * len(rows), [0] * len(rows)
    for (a, b), p in zip(pairs, permutation.holm(found), strict=True):
        if p <= ALPHA:
            winner, loser = (a, b) if rows[a][0] > rows[b][0] else (b, a)
            better[loser] += 1
            worse[winner] += 1
    return [Rank(1 + up, len(rows) - down) for up, down in zip(better, worse, strict=True)]


MANY = 100
"""Degrees of freedom of an average, whose episodes are many."""


def columns_of(rows: Sequence[Mapping[str, ColumnScore]], first: str, order: Sequence[str]) -> list[str]:
    """The columns of a table: the one that sorts it, averages, environments in order, others."""
    named = list(dict.fromkeys(name for row in rows for name in row))
    averages = [name for name in named if name.startswith("average")]
    known = [name for name in order if name in named]
    return sorted(
        [*averages, *known, *(n for n in named if n not in (*averages, *known))], key=lambda n: n != first
    )
