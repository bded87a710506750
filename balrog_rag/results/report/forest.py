"""The forest plot: every difference from the baseline with its interval, on one scale."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from balrog_rag.results.report import style
from balrog_rag.results.report.panels import DOUBLE, placed
from balrog_rag.results.statistics.comparison import Comparison
from balrog_rag.results.statistics.sentence import NOT_TO_TELL, between, signed, tells_nothing

MOST_ROWS = 60
"""Maximum number of rows; with more, tasks are left out, then environments, then the last arms."""
LOOKS = {
    "higher": ("^", "#0072B2", "full"),
    "higher more often": ("^", "#0072B2", "none"),
    "undecided": ("o", "#777777", "none"),
    "lower more often": ("v", "#D55E00", "none"),
    "lower": ("v", "#D55E00", "full"),
}
"""Marker, colour and filling of a claim."""


class ForestRow(msgspec.Struct, frozen=True):
    """One line of the plot."""

    name: str
    made: Comparison | None
    """None for an arm's heading."""
    depth: int = 0
    """0: an arm; 1: an environment; 2: a task."""


def forest_rows(verdicts: Sequence[Comparison], parts: Sequence[dict[str, Comparison]]) -> list[ForestRow]:
    """The rows of these verdicts on arms and their parts, as detailed as fits."""
    for depth in (2, 1, 0):
        rows = [row for pair in zip(verdicts, parts, strict=True) for row in _of_arm(*pair, depth)]
        if len(rows) <= MOST_ROWS:
            return rows
    return rows[:MOST_ROWS]


def _of_arm(whole: Comparison, parts: dict[str, Comparison], deepest: int) -> Iterator[ForestRow]:
    yield ForestRow(whole.ours, whole if whole.made else None)
    for name, made in parts.items():
        depth = 2 if "/" in name else 1
        if made.made and depth <= deepest:
            yield ForestRow(name.partition("/")[2] if depth == 2 else name, made, depth)


def forest_figure(rows: Sequence[ForestRow], baseline: str) -> Any:
    """Draw the rows; None if there is no comparison."""
    if not any(row.made for row in rows):
        return None
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(style.SETTINGS):
        figure = Figure(figsize=(DOUBLE, 0.6 + 0.21 * len(rows)))
        axis = figure.subplots()
        reach = _reach(rows)
        axis.axvline(0, color="black", linewidth=0.8)
        for place, row in enumerate(rows):
            if row.made:
                _draw(axis, row.made, place, reach, row.depth)
        axis.set_yticks(range(len(rows)), [style.label(row.name, 30).replace("\n", "") for row in rows])
        for text, row in zip(axis.get_yticklabels(), rows, strict=True):
            text.set(fontweight="normal" if row.depth else "bold", fontsize=8 - row.depth / 2)
        axis.set_ylim(len(rows) - 0.4, -0.6)
        axis.set_xlim(-reach, reach)
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="y", visible=False)
        axis.set_xlabel(f"progression, points: difference from {style.label(baseline).replace(chr(10), '')}")
        return placed(figure)


def _reach(rows: Sequence[ForestRow]) -> float:
    """The plot's half width: it shows every interval that says something."""
    shown = [row.made for row in rows if row.made]
    ends = [1.0, *(abs(made.difference) for made in shown)]
    for made in shown:
        if made.interval.known and not tells_nothing(made):
            ends += [abs(made.interval.low), abs(made.interval.high)]
    return 1.08 * min(max(ends), max(made.scale for made in shown))


def _draw(axis: Any, made: Comparison, place: int, reach: float, depth: int) -> None:
    marker, colour, filling = LOOKS[made.word]
    if made.interval.known and not tells_nothing(made):
        axis.hlines(place, made.interval.low, made.interval.high, color=colour, linewidth=2.0 - 0.5 * depth)
    elif made.interval.known:
        axis.hlines(place, -reach, reach, color=colour, linewidth=0.8, linestyle=":")
    axis.plot([made.difference], [place], marker, color=colour, fillstyle=filling, markersize=6 - depth,
              markeredgewidth=1.1, zorder=5)  # fmt: skip
    axis.annotate(
        _words(made), xy=(1.02, place), xycoords=("axes fraction", "data"), fontsize=7, va="center",
        annotation_clip=False,
    )  # fmt: skip


def _words(made: Comparison) -> str:
    count = f"n = {made.paired} pairs" if made.paired else f"n = {made.our_draws} and {made.their_draws}"
    around = between(made)
    known = made.interval.known and around != NOT_TO_TELL.format(made.things)
    return f"{signed(made.difference, made)}  {f'[{around}]' if known else around}  {made.word}, {count}"
