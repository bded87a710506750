"""The figures of a report, which can be saved as PNG, SVG or PDF."""

import io
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.outcome import in_words
from balrog_rag.results.arms import Arm, in_order
from balrog_rag.results.breakdown import RetrievalShare, calls_by_purpose, outcome_counts, retrieval_share
from balrog_rag.results.episodes import EpisodeList
from balrog_rag.results.report import style
from balrog_rag.results.report.against_dollars import dollars_figure
from balrog_rag.results.report.curves import height_curve, mean_curve, survival_curve
from balrog_rag.results.report.panels import DPI, SHORT, name_curves, panels, placed
from balrog_rag.results.scoring import (
    PROGRESSION,
    Scale,
    count_lacking,
    figures_of,
    interval,
    measures_of,
)
from balrog_rag.results.statistics.estimate import NOTHING
from balrog_rag.results.stored_sequence import together

POINTS = 200
"""Maximum number of episodes drawn as points; with more, every n-th is drawn."""
Curve = Sequence[tuple[float, float]]
FORMATS = ("png", "svg", "pdf")


def draw_all(arms: Sequence[Arm]) -> dict[str, Any]:
    """Return every figure that these arms have data for, by name, as matplotlib figures."""
    from matplotlib import rc_context

    makers: dict[str, Callable[[Sequence[Arm]], Any]] = {
        "scores": scores_figure,
        "progress_over_steps": lambda arms: progress_figure(arms, "step", "agent steps"),
        "progress_over_dollars": lambda arms: progress_figure(arms, "dollars", "dollars"),
        "scores_over_dollars": dollars_figure,
        "survival": survival_figure,
        "outcomes": outcomes_figure,
        "retrieval": retrieval_figure,
    }
    played = [arm for arm in arms if arm.episodes]
    with rc_context(style.SETTINGS):
        drawn = {name: make(played) for name, make in makers.items()} if played else {}
        return {name: placed(figure) for name, figure in drawn.items() if figure is not None}


def drawn_against_dollars(arms: Sequence[Arm]) -> dict[str, Any]:
    """The figure of a leaderboard; empty if no price is known."""
    from matplotlib import rc_context

    with rc_context(style.SETTINGS):
        figure = dollars_figure(arms)
        return {} if figure is None else {"scores_over_dollars": placed(figure)}


def saved(figure: Any, kind: str) -> bytes:
    """Encode a figure reproducibly."""
    from matplotlib import rc_context

    dates = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    out = io.BytesIO()
    with rc_context(style.SETTINGS):
        figure.savefig(out, format=kind, metadata=dates, dpi=DPI)
    return out.getvalue()


def scores_figure(arms: Sequence[Arm]) -> Any:
    """Bars with intervals and every episode as a point: progression, and the levels reached."""
    found: list[tuple[str, Scale]] = []
    for env in in_order(env for arm in arms for env in arm.by_env()):
        found += [(env, measure) for measure in measures_of([env]) if measure is PROGRESSION or measure.drawn]
    figure, axes = panels(len(found), 0.55 + 0.3 * len(arms), columns=3, same=True)
    for axis, (env, measure) in zip(axes, found, strict=True):
        _bars(axis, arms, env, measure)
        _name_arms(axis, arms)
    return figure


def _bars(axis: Any, arms: Sequence[Arm], env: str, measure: Scale) -> None:
    for place, arm in enumerate(arms):
        episodes = arm.by_env().get(env, EpisodeList())
        if not episodes:
            axis.text(
                0.02, place, "not played", transform=axis.get_yaxis_transform(), fontsize=7, va="center"
            )
        if not episodes or count_lacking(episodes, measure):
            continue
        values = figures_of(episodes, measure).tolist()
        mean, found = fmean(values), NOTHING if arm.withheld else interval(episodes, measure)
        axis.barh(place, mean, 0.62, color=style.colour(place), hatch=style.hatch(place), edgecolor="black",
                  linewidth=0.6, alpha=0.75)  # fmt: skip
        axis.hlines(place, found.low, found.high, color="black", linewidth=1.2, zorder=4)
        axis.vlines([found.low, found.high], place - 0.1, place + 0.1, color="black", linewidth=1.2, zorder=4)
        shown = values[:: -(-len(values) // POINTS)]
        heights = [place - 0.24 + 0.48 * ((n * 0.618034) % 1) for n in range(len(shown))]
        axis.plot(shown, heights, style.mark(place), color="white", markeredgecolor="black", markersize=3.2,
                  markeredgewidth=0.6, linestyle="none", zorder=5)  # fmt: skip
    unit = "progression, %" if measure is PROGRESSION else measure.title
    axis.set_xlabel(f"{env}: {unit}")
    axis.set_xlim(left=0)
    axis.grid(axis="y", visible=False)


def _name_arms(axis: Any, arms: Sequence[Arm]) -> None:
    axis.set_yticks(range(len(arms)), [style.label(arm.name, SHORT) for arm in arms])
    axis.set_ylim(len(arms) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)


def progress_figure(arms: Sequence[Arm], against: str, title: str) -> Any:
    """Mean progression of an arm's episodes over steps or dollars; ended episodes keep their last value."""
    envs = in_order(env for arm in arms for env in arm.by_env())
    curves = {
        (env, place): mean_curve(arm.by_env().get(env, EpisodeList()), against)
        for env in envs
        for place, arm in enumerate(arms)
    }
    envs = [env for env in envs if any(curves[env, place] and curves[env, place][-1][0] > 0
                                       for place in range(len(arms)))]  # fmt: skip
    if not envs:
        return None
    figure, axes = panels(len(envs), 2.2)
    for axis, env in zip(axes, envs, strict=True):
        _curves(axis, arms, [curves[env, place] for place in range(len(arms))])
        axis.set_xlabel(f"{env}: {title} of an episode")
        axis.set_ylabel("mean progression, %")
    return figure


def _curves(axis: Any, arms: Sequence[Arm], curves: Sequence[Curve]) -> None:
    """Draw the arms' curves from zero, each named at its end."""
    for place, curve in enumerate(curves):
        if curve:
            axis.step(
                *zip(*curve, strict=True), where="post", color=style.colour(place),
                linestyle=style.line(place), linewidth=1.3, marker=style.mark(place), markevery=0.12,
                markersize=3.6, fillstyle=style.filling(place),
            )  # fmt: skip
    axis.set_xlim(left=0)
    axis.set_ylim(0, None if any(curve[-1][1] or curve[0][1] for curve in curves if curve) else 1)
    known = [(place, curve) for place, curve in enumerate(curves) if curve]
    name_curves(axis, [(*curve[-1], place, arms[place].name) for place, curve in known])


def survival_figure(arms: Sequence[Arm]) -> Any:
    """Survival and mean height over game time."""
    envs = [
        env for env in in_order(env for arm in arms for env in arm.by_env()) if kind_of(env).display.timeline
    ]
    if not envs:
        return None
    columns = 1 if len(envs) == 1 else 2
    figure, axes = panels(2 * len(envs), 1.9, columns=columns)
    for place, env in enumerate(envs):
        _survival(axes[2 * place : 2 * place + 2], arms, env)
    return figure


def _survival(axes: Sequence[Any], arms: Sequence[Arm], env: str) -> None:
    timeline = kind_of(env).display.timeline
    assert timeline is not None
    played = [arm.by_env().get(env, EpisodeList()) for arm in arms]
    curves = ([survival_curve(episodes, timeline) for episodes in played], list(map(height_curve, played)))
    titles = ("alive, % of games", f"mean {timeline.height_title}")
    for axis, found, title in zip(axes, curves, titles, strict=True):
        style.wide_scale(axis)
        _curves(axis, arms, found)
        axis.set_xlabel(f"{env}: {timeline.clock_title}")
        axis.set_ylabel(title)


def outcomes_figure(arms: Sequence[Arm]) -> Any:
    """Outcomes of the episodes of each arm, as shares."""
    kinds = [kind for kind, _ in outcome_counts(together([arm.episodes for arm in arms]))]
    figure, (axis,) = panels(1, 0.85 + 0.3 * len(arms) + 0.13 * -(-len(kinds) // 3))
    _stack(axis, arms, kinds, lambda arm: dict(outcome_counts(arm.episodes)), in_words)
    axis.set_xlabel("share of episodes, %")
    return figure


def retrieval_figure(arms: Sequence[Arm]) -> Any:
    """Token shares by purpose, and how often retrieval was used."""
    shares = [retrieval_share(arm.episodes) for arm in arms]
    if not any(shares):
        return None
    figure, axes = panels(2, 1.2 + 0.34 * len(arms))
    purposes = sorted({purpose for arm in arms for purpose in calls_by_purpose(arm.episodes)})
    _stack(axes[0], arms, purposes, _tokens_by_purpose)
    axes[0].set_xlabel("share of tokens by purpose of the call, %")
    _shares(axes[1], shares)
    axes[1].set_xlabel("share, %")
    axes[1].set_xlim(0, 100)
    axes[1].grid(axis="y", visible=False)
    axes[1].legend(frameon=False, fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    _name_arms(axes[1], arms)
    return figure


SHARES = {
    "asked": "steps with a search",
    "used": "steps with reference text",
    "hit": "searches with results",
    "different": "searches with a new query",
}


def _shares(axis: Any, shares: Sequence[RetrievalShare | None]) -> None:
    for place, share in enumerate(shares):
        for number, (part, title) in enumerate(SHARES.items()):
            value = 100 * getattr(share, part) if share else 0.0
            axis.barh(place - 0.27 + 0.18 * number, value, 0.17, color=style.colour(number),
                      hatch=style.hatch(number), edgecolor="black", linewidth=0.5,
                      label=None if place else title)  # fmt: skip


def _tokens_by_purpose(arm: Arm) -> dict[str, float]:
    return {purpose: calls.input + calls.output for purpose, calls in calls_by_purpose(arm.episodes).items()}


def _stack(
    axis: Any, arms: Sequence[Arm], kinds: Sequence[str], counts: Callable[[Arm], dict[str, Any]],
    worded: Callable[[str], str] = str,
) -> None:  # fmt: skip
    """Stacked bars of shares, one part per kind."""
    for place, arm in enumerate(arms):
        found = counts(arm)
        whole, left = sum(found.values()) or 1, 0.0
        for number, kind in enumerate(kinds):
            width = 100 * found.get(kind, 0) / whole
            axis.barh(place, width, 0.62, left=left, color=style.colour(number), hatch=style.hatch(number),
                      edgecolor="black", linewidth=0.6,
                      label=style.label(worded(kind)) if place == 0 else None)  # fmt: skip
            left += width
    axis.set_xlim(0, 100)
    axis.grid(axis="y", visible=False)
    axis.legend(frameon=False, fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    _name_arms(axis, arms)
