"""Scatter plot of score against cost."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from balrog_rag.results.arms import Arm
from balrog_rag.results.report import style
from balrog_rag.results.report.panels import name_curves, panels
from balrog_rag.results.scoring import overall_interval


def dollars_figure(arms: Sequence[Arm]) -> Any:
    """Plot each arm's progression with its interval over dollars per episode; None if no price is known.

    Arms with calls of unknown price, and arms whose conclusions are withheld, are left out.
    """
    known = [(place, arm) for place, arm in enumerate(arms) if not arm.withheld and _priced(arm)]
    if not any(_dollars(arm) for _, arm in known):
        return None
    figure, (axis,) = panels(1, 2.4)
    ends = []
    for place, arm in known:
        by_env = arm.by_env()
        mean = fmean(fmean(episodes.arrays.percent.tolist()) for episodes in by_env.values())
        found, dollars = overall_interval(by_env), _dollars(arm)
        axis.vlines(dollars, found.low, found.high, color=style.colour(place), linewidth=1.4)
        axis.plot(
            [dollars],
            [mean],
            style.mark(place),
            color=style.colour(place),
            markersize=5,
            linestyle="none",
            fillstyle=style.filling(place),
            label=style.label(arm.name),
        )
        ends.append((dollars, mean, place, arm.name))
    axis.set_xlabel("dollars per episode")
    axis.set_ylabel("progression, %")
    axis.set_xlim(left=0)
    axis.set_ylim(bottom=0)
    name_curves(axis, ends)
    return figure


def _priced(arm: Arm) -> bool:
    return bool(arm.episodes) and not arm.episodes.arrays.total("unpriced").any()


def _dollars(arm: Arm) -> float:
    return fmean(arm.episodes.arrays.total("dollars").tolist())
