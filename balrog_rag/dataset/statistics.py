"""What games of NetHack add up to: the tables of the NetHack Learning Dataset's paper, for any games."""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import Any

import msgspec

from balrog_rag.dataset.database import Row
from balrog_rag.dataset.selecting import bits
from balrog_rag.envs.nethack.ending import CONDUCTS
from balrog_rag.envs.nethack.held import ACHIEVEMENTS
from balrog_rag.results.report.page import Cell, Section, Table

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
"""By the log's `deathdnum`, in the order of NetHack's dungeon.def; the paper leaves Vlad's Tower out."""
COMMON = 15
"""Causes of death that are shown."""


class Games(msgspec.Struct):
    """Games to be counted, whoever played them."""

    name: str
    rows: Sequence[Row]
    """By the names of the xlogfile's fields; a field that is not known is missing, or -1."""
    size: int = 0
    """Bytes of their recordings; 0 where there are none."""
    lengths: Sequence[int] = ()
    """Frames of each game, where they were counted."""


def sections(sets: Sequence[Games]) -> list[Section]:
    """All tables of these sets, side by side."""
    return [
        Section("Games in numbers", tables=[numbers_table(sets)], figures=list(FIGURES)),
        Section("Roles", tables=[roles_table(sets)]),
        Section("Achievements and conducts", tables=[bits_table(sets)]),
        Section("Deaths", tables=[causes_table(sets), places_table(sets)]),
    ]


def known(games: Games, field: str) -> list[Any]:
    """A field's values, of the games where it is known."""
    values = (row.get(field, -1) for row in games.rows)
    return [value for value in values if value not in (-1, "-1", None)]


def _figure(values: Sequence[float], how: Callable[[Sequence[float]], float]) -> str:
    return f"{how(values):,.0f}" if values else "–"


def numbers_table(sets: Sequence[Games]) -> Table:
    """The paper's Table 1."""
    rows: list[list[Cell]] = [["episodes", *[f"{len(games.rows):,}" for games in sets]]]
    rows.append(["players", *[f"{len(set(known(games, 'name'))):,}" for games in sets]])
    for title, field in (("score", "points"), ("game turns", "turns"), ("deepest level", "maxlvl")):
        for word, how in (("mean", fmean), ("median", median)):
            cells: list[Cell] = [_figure(known(games, field), how) for games in sets]
            rows.append([f"{word} {title}", *cells])
    rows.append(["bytes of recordings", *[f"{games.size:,}" if games.size else "–" for games in sets]])
    if any(games.lengths for games in sets):
        rows.append(["transitions", *[_figure(games.lengths, sum) for games in sets]])
        rows.append(["median transitions of an episode", *[_figure(games.lengths, median) for games in sets]])
        rows.append(["compression", *[_ratio(games) for games in sets]])
    note = (
        "Compression: bytes of all frames' characters and colours (24 x 80 x 2 each) by bytes of recordings."
    )
    return Table(["", *[games.name for games in sets]], rows, note if len(rows) > 9 else "")


_FRAME = 24 * 80 * 2


def _ratio(games: Games) -> str:
    return f"{sum(games.lengths) * _FRAME / games.size:,.0f}" if games.size and games.lengths else "–"


def roles_table(sets: Sequence[Games]) -> Table:
    """Games, scores and turns by role."""
    roles = sorted({role for games in sets for role in known(games, "role")})
    rows = [[role, *[_of_role(games, role) for games in sets]] for role in roles]
    note = "Games: mean score, median score, mean turns, deepest level that any of them reached."
    return Table(["role", *[games.name for games in sets]], list(map(list, rows)), note)


def _of_role(games: Games, role: str) -> Cell:
    mine = Games(role, [row for row in games.rows if row.get("role") == role])
    if not mine.rows:
        return "–"
    scores, deepest = known(mine, "points"), known(mine, "maxlvl")
    return (
        f"{len(mine.rows):,}: {_figure(scores, fmean)}, {_figure(scores, median)}, "
        f"{_figure(known(mine, 'turns'), fmean)}, {max(deepest, default='–')}"
    )


def bits_table(sets: Sequence[Games]) -> Table:
    """The paper's Table 5: the share of games with each achievement, and with each conduct kept."""
    rows: list[list[Cell]] = []
    for field, names in (("achieve", ACHIEVEMENTS), ("conduct", CONDUCTS)):
        for place, name in enumerate(names):
            rows.append([name, *[_share(games, field, place) for games in sets]])
    return Table(["percent of episodes", *[games.name for games in sets]], rows)


def _share(games: Games, field: str, place: int) -> str:
    values = [bits(value) >> place & 1 for value in known(games, field)]
    return f"{100 * fmean(values):.2f}" if values else "–"


def causes_table(sets: Sequence[Games]) -> Table:
    """What games ended by, the commonest first."""
    counted = [Counter(map(_cause, known(games, "death"))) for games in sets]
    every = sum(counted, Counter[str]())
    rows: list[list[Cell]] = [
        [cause, *[_part(count[cause], count.total()) for count in counted]]
        for cause, _ in every.most_common(COMMON)
    ]
    return Table(["ended by", *[games.name for games in sets]], rows)


def _cause(death: str) -> str:
    """A death without what the dead was doing, and without the names of the killers."""
    return str(death).partition(", while ")[0].partition(" while ")[0].partition(" called ")[0]


def places_table(sets: Sequence[Games]) -> Table:
    """Where games ended: by branch, and in the Dungeons of Doom by depth."""
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


FIGURES = {"box_plots_of_score": "points", "box_plots_of_turns": "turns", "box_plots_of_depth": "maxlvl"}
_TITLES = {"points": "score", "turns": "game turns", "maxlvl": "deepest level"}


def figures(sets: Sequence[Games]) -> dict[str, Any]:
    """Box plots of score, turns and deepest level, a box a set; each is a matplotlib figure."""
    from matplotlib import rc_context

    from balrog_rag.results.report import style

    with rc_context(style.SETTINGS):
        return {name: _boxes(sets, field) for name, field in FIGURES.items()}


def _boxes(sets: Sequence[Games], field: str) -> Any:
    from matplotlib.figure import Figure

    from balrog_rag.results.report import style

    figure = Figure(figsize=(6.0, 0.7 + 0.5 * len(sets)), layout="constrained")
    axes = figure.subplots()
    values = [known(games, field) or [float("nan")] for games in sets]
    axes.boxplot(values, orientation="horizontal", tick_labels=[style.label(games.name) for games in sets])
    if field != "maxlvl":
        style.wide_scale(axes)
    axes.invert_yaxis()
    axes.set_xlabel(_TITLES[field])
    return figure
