"""Figures of one or two columns' width, laid out in panels, with names at the ends of curves."""

from collections.abc import Sequence
from typing import Any

from balrog_rag.results.report import style

COLUMN = 3.35
"""Width in inches of a figure in one column of a paper."""
DOUBLE = 6.9
"""Width in inches of a figure across both columns."""
DPI = 160
"""Dots per inch of a PNG."""
APART = 0.085
"""Least distance between the names of two curves, as a share of the panel's height."""
SHORT = 20
"""Characters per line of a name beside a curve."""


def panels(
    count: int, height: float, columns: int = 2, same: bool = False, width: float | None = None
) -> tuple[Any, list[Any]]:
    """Make a figure with this many panels, each `height` inches high; a single one is one column wide."""
    from matplotlib.figure import Figure

    across = min(count, columns)
    rows = -(-count // across)
    size = (width or (COLUMN if across == 1 else DOUBLE), rows * height)
    figure = Figure(figsize=size)
    grid = [axis for row in figure.subplots(rows, across, sharey=same, squeeze=False) for axis in row]
    for axis in grid[count:]:
        axis.set_axis_off()
    return figure, grid[:count]


def placed(figure: Any) -> Any:
    """Return the figure with its panels and names placed, once for all formats.

    A layout engine of the figure itself would place and draw everything a second time for each format.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure.set_dpi(DPI)  # in which texts are measured
    ConstrainedLayoutEngine().execute(figure)
    return figure


def name_curves(axis: Any, ends: Sequence[tuple[float, float, int, str]]) -> None:
    """Write each curve's name beside its end (x, y, index of the arm, name), moved apart where they collide.

    The axis' limits must be final.
    """
    low, high = axis.get_ylim()
    heights = [(y - low) / ((high - low) or 1) for _, y, _, _ in ends]
    for (x, y, place, name), at in zip(ends, lifted(spread(heights, APART), APART), strict=True):
        axis.annotate(
            style.label(name, SHORT), xy=(x, y), xytext=(1.03, at), textcoords="axes fraction", color="black",
            fontsize=7, va="center", ha="left", annotation_clip=False,
            # Dotted, or a curve that ends early would seem to go on to its name.
            arrowprops={"arrowstyle": "-", "color": style.colour(place), "linewidth": 0.5,
                        "linestyle": (0, (1, 3)), "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip


def spread(heights: Sequence[float], apart: float) -> list[float]:
    """Move heights so that neighbours are `apart` from each other, and their middle stays."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    placed: list[float] = []
    for place in order:
        placed.append(max(heights[place], placed[-1] + apart) if placed else heights[place])
    moved = sum(placed) / len(placed) - sum(heights) / len(heights) if placed else 0.0
    found = dict(zip(order, placed, strict=True))
    return [found[place] - moved for place in range(len(heights))]


def lifted(heights: Sequence[float], apart: float) -> list[float]:
    """Move heights that are below the axis up to it, and those above them out of their way."""
    found = list(heights)
    least = 0.0
    for place in sorted(range(len(found)), key=lambda place: found[place]):
        found[place] = max(found[place], least)
        least = found[place] + apart
    return found
