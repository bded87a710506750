"""Statistics of games of NetHack: the tables of the NetHack Learning Dataset's paper, for any games."""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import Any

import msgspec

from balrog_rag.dataset.database import Row
from balrog_rag.dataset.selecting import bits
from balrog_rag.envs.nethack.game_end import CONDUCTS
from balrog_rag.envs.nethack.held_progression import ACHIEVEMENTS
from balrog_rag.results.leaderboard.published import published
from balrog_rag.results.report.document import Cell, Section, Table

BRANCHES = (
    "the Dungeons of Doom",
    "Gehennom",
    "the Gnomish Mines",
    "the Quest",
    "Sokoban",
    "Fort Ludios",
    "Vlad's Tower",
    "the Elemental Planes",
)
"""By the log's `deathdnum`, in the order of NetHack's dungeon.def; the paper omits Vlad's Tower."""
FIGURES = {"box_plots_of_score": "points", "box_plots_of_turns": "turns", "box_plots_of_depth": "maxlvl"}
BY_ROLE = "box_plots_by_role"
COMMON = 15
"""Number of causes of death that are shown."""


class StatisticsColumn(msgspec.Struct, frozen=True):
    """Published statistics of games that are not available here."""

    name: str
    source: str
    numbers: dict[str, str]
    """By the row titles of `numbers_table`."""
    achievements: tuple[float, ...]
    conducts: tuple[float, ...]
    """Percent of episodes, by bit of the log."""


def papers_columns() -> list[StatisticsColumn]:
    """Return NLD's Tables 1 and 5, from eval/published.yaml."""
    return msgspec.convert(published().measured["nld_games"], list[StatisticsColumn])


class Games(msgspec.Struct):
    """A set of games to count, played by anybody."""

    name: str
    rows: Sequence[Row]
    """By field name of the xlogfile; an unknown field is missing, or -1."""
    size: int = 0
    """Size of their recordings in bytes; 0 if there are none."""
    lengths: Sequence[int] = ()
    """Number of frames of each game, if they were counted."""


def sections(sets: Sequence[Games]) -> list[Section]:
    """Build all tables of these sets, side by side, with the paper's columns."""
    paper = papers_columns()
    return [
        Section("Games in numbers", tables=[numbers_table(sets, paper)], figures=list(FIGURES)),
        Section("Roles", tables=[roles_table(sets)], figures=[BY_ROLE] if roles_of(sets) else []),
        Section("Achievements and conducts", tables=[bits_table(sets, paper)]),
        Section("Deaths", tables=[causes_table(sets), places_table(sets)]),
    ]


def known(games: Games, field: str) -> list[Any]:
    """The values of a field in the games for which it is known."""
    values = (row.get(field, -1) for row in games.rows)
    return [value for value in values if value not in (-1, "-1", None)]


def _figure(values: Sequence[float], how: Callable[[Sequence[float]], float]) -> str:
    return f"{how(values):,.0f}" if values else "–"


def numbers_table(sets: Sequence[Games], paper: Sequence[StatisticsColumn] = ()) -> Table:
    """Build the paper's Table 1."""
    rows: list[list[Cell]] = [["episodes", *[f"{len(games.rows):,}" for games in sets]]]
    rows.append(["players", *[f"{len(set(known(games, 'name'))):,}" for games in sets]])
    for title, field in (("score", "points"), ("game turns", "turns"), ("deepest level", "maxlvl")):
        for word, how in (("mean", fmean), ("median", median)):
            cells: list[Cell] = [_figure(known(games, field), how) for games in sets]
            rows.append([f"{word} {title}", *cells])
    rows.append(["bytes of recordings", *[f"{games.size:,}" if games.size else "–" for games in sets]])
    frames = [sum(games.lengths) * _FRAME for games in sets]
    rows.append(["transitions", *[_figure(games.lengths, sum) for games in sets]])
    rows.append(["median transitions of an episode", *[_figure(games.lengths, median) for games in sets]])
    rows.append(["bytes of all frames", *[f"{size:,}" if size else "–" for size in frames]])
    rows.append(["compression", *[_ratio(games) for games in sets]])
    for row in rows:
        row += [column.numbers.get(str(row[0]), "–") for column in paper]
    return Table(_headings("", sets, paper), rows, " ".join([NUMBERS_NOTE, *_told_by(paper)]))


NUMBERS_NOTE = (
    "Transitions are shown if frames were counted (`balrog-rag dataset stats --frames`). Compression: bytes "
    "of all frames' characters and colours (24 x 80 x 2 each) by bytes of recordings."
)


def _headings(first: str, sets: Sequence[Games], paper: Sequence[StatisticsColumn]) -> list[str]:
    return [first, *[games.name for games in sets], *[column.name for column in paper]]


def _told_by(paper: Sequence[StatisticsColumn]) -> list[str]:
    sources = published().sources
    return [f"(paper): {source}." for source in dict.fromkeys(sources[each.source] for each in paper)]


_FRAME = 24 * 80 * 2


def _ratio(games: Games) -> str:
    return f"{sum(games.lengths) * _FRAME / games.size:,.0f}" if games.size and games.lengths else "–"


def roles_of(sets: Sequence[Games]) -> list[str]:
    """Every role that was played."""
    return sorted({role for games in sets for role in known(games, "role")})


def of_role(games: Games, role: str) -> Games:
    """The games of a set that were played with this role."""
    return Games(games.name, [row for row in games.rows if row.get("role") == role])


def roles_table(sets: Sequence[Games]) -> Table:
    """Build the table of games, scores and turns by role."""
    rows = [[role, *[_in_numbers(of_role(games, role)) for games in sets]] for role in roles_of(sets)]
    note = "Games: mean score, median score, mean turns, deepest level that any of them reached."
    return Table(_headings("role", sets, ()), list(map(list, rows)), note)


def _in_numbers(mine: Games) -> Cell:
    if not mine.rows:
        return "–"
    scores, deepest = known(mine, "points"), known(mine, "maxlvl")
    return (
        f"{len(mine.rows):,}: {_figure(scores, fmean)}, {_figure(scores, median)}, "
        f"{_figure(known(mine, 'turns'), fmean)}, {max(deepest, default='–')}"
    )


def bits_table(sets: Sequence[Games], paper: Sequence[StatisticsColumn] = ()) -> Table:
    """Build the paper's Table 5: the share of games with each achievement, and with each conduct kept."""
    rows: list[list[Cell]] = []
    for field, names, told in (
        ("achieve", ACHIEVEMENTS, [column.achievements for column in paper]),
        ("conduct", CONDUCTS, [column.conducts for column in paper]),
    ):
        for place, name in enumerate(names):
            ours = [_share(games, field, place) for games in sets]
            rows.append([name, *ours, *[f"{shares[place]:.2f}" for shares in told]])
    return Table(_headings("percent of episodes", sets, paper), rows, " ".join(_told_by(paper)))


def _share(games: Games, field: str, place: int) -> str:
    values = [bits(value) >> place & 1 for value in known(games, field)]
    return f"{100 * fmean(values):.2f}" if values else "–"


def causes_table(sets: Sequence[Games]) -> Table:
    """Build the table of causes of death, the commonest first."""
    counted = [Counter(map(_cause, known(games, "death"))) for games in sets]
    every = sum(counted, Counter[str]())
    rows: list[list[Cell]] = [
        [cause, *[_part(count[cause], count.total()) for count in counted]]
        for cause, _ in every.most_common(COMMON)
    ]
    return Table(["ended by", *[games.name for games in sets]], rows)


def _cause(death: str) -> str:
    """A cause of death without the activity of the dead and without proper names of killers."""
    return str(death).partition(", while ")[0].partition(" while ")[0].partition(" called ")[0]


def places_table(sets: Sequence[Games]) -> Table:
    """Build the table of where games ended: by branch, and in the Dungeons of Doom by depth."""
    counted = [Counter(map(_place, games.rows)) for games in sets]
    every = sum(counted, Counter[tuple[int, int, str]]())
    rows: list[list[Cell]] = [
        [place[2], *[_part(count[place], count.total()) for count in counted]] for place in sorted(every)
    ]
    return Table(["ended in", *[games.name for games in sets]], rows)


def _place(row: Row) -> tuple[int, int, str]:
    branch, level = int(row.get("deathdnum", -1)), int(row.get("deathlev", -1))
    if not 0 <= branch < len(BRANCHES):
        return len(BRANCHES), 0, "not known"
    if branch:
        return branch, 0, BRANCHES[branch]
    low = 5 * ((level - 1) // 5) + 1
    return 0, low, f"{BRANCHES[0]}, levels {low} to {low + 4}"


def _part(count: int, total: int) -> str:
    return f"{count:,} ({count / total:.0%})" if total else "–"
