"""Box plots of games: scores, turns and depths of whole sets, and by role."""

from collections.abc import Sequence
from typing import Any

from balrog_rag.dataset.recorded_statistics import BY_ROLE, FIGURES, Games, known, of_role, roles_of
from balrog_rag.results.report import style

_TITLES = {"points": "score", "turns": "game turns", "maxlvl": "deepest level"}
_ROW = 0.8
"""Share of a role's row that the boxes of all sets use."""


def figures(sets: Sequence[Games]) -> dict[str, Any]:
    """Return every figure by name, as matplotlib figures."""
    from matplotlib import rc_context

    with rc_context(style.SETTINGS):
        made = {name: _of_sets(sets, field) for name, field in FIGURES.items()}
        return made | ({BY_ROLE: _by_role(sets)} if roles_of(sets) else {})


def _of_sets(sets: Sequence[Games], field: str) -> Any:
    """Draw one box per set."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 0.7 + 0.5 * len(sets)), layout="constrained")
    axes = figure.subplots()
    _scale(axes, field)
    for place, games in enumerate(sets):
        _box(axes, known(games, field), place, 0.6, place)
    _rows(axes, field, [style.label(games.name) for games in sets])
    return figure


def _by_role(sets: Sequence[Games]) -> Any:
    """Draw one box per set for each role: scores, turns, depths."""
    from matplotlib.figure import Figure

    roles, high = roles_of(sets), _ROW / len(sets)
    size = (9.6, 1.2 + len(roles) * (0.22 + 0.16 * len(sets)))
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, len(_TITLES), sharey=True)
    for axes, field in zip(panels, _TITLES, strict=True):
        _scale(axes, field)
        for number, games in enumerate(sets):
            for place, role in enumerate(roles):
                middle = place + high * (number - (len(sets) - 1) / 2)
                _box(axes, known(of_role(games, role), field), middle, 0.8 * high, number)
        _rows(axes, field, [_counted(sets, role) for role in roles])
    _legend(figure, sets)
    return figure


def _counted(sets: Sequence[Games], role: str) -> str:
    counts = [f"{len(of_role(games, role).rows):,}" for games in sets]
    return f"{role} ({', '.join(counts)})"


def _box(axes: Any, values: Sequence[float], at: float, high: float, place: int) -> None:
    """Draw the box in the colour of its set; nothing without known values."""
    if not values:
        return
    drawn = axes.boxplot(
        [values], positions=[at], widths=high, orientation="horizontal", manage_ticks=False,
        patch_artist=True, flierprops={"marker": style.mark(place), "markersize": 3},
        medianprops={"color": "black", "linewidth": 1.6},
    )  # fmt: skip
    for patch in drawn["boxes"]:
        patch.set(facecolor=style.colour(place), alpha=0.75)


def _scale(axes: Any, field: str) -> None:
    """Set the scale before anything is drawn: the space beside the largest figure depends on it."""
    if field != "maxlvl":
        style.wide_scale(axes)


def _rows(axes: Any, field: str, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(_TITLES[field])


def _legend(figure: Any, sets: Sequence[Games]) -> None:
    from matplotlib.patches import Patch

    keys = [Patch(facecolor=style.colour(place), alpha=0.75, edgecolor="black", label=style.label(games.name))
            for place, games in enumerate(sets)]  # fmt: skip
    figure.legend(handles=keys, loc="outside upper left", frameon=False, ncols=4)
