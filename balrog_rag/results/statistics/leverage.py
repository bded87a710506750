"""Scores that dominate a mean: when they prevent a claim about means, and when they only cause a warning.

A claim about means is withheld
- if an arm never varies (unless scores are solved-or-not): it does not show what else it may score;
- if the larger arm has scores beyond the smaller one's range that the smaller could easily have missed (with
  a probability above 5 %), and the claim fails when these are clipped to that range.

It is made with a warning if the highest twentieth of the higher arm's scores, clipped to the next lower one,
account for half the difference or more.
"""

from math import ceil

import numpy as np

from balrog_rag.results.statistics.units import ALPHA, Floats, constant

TOP = 0.05
"""The share of an arm's scores that counts as few."""
HALF = 0.5
CONSTANT = "an arm that never varies decides nothing about means"


def withheld(ours: Floats, theirs: Floats) -> str:
    """Why the difference of means may not be claimed; empty if it may."""
    if constant(ours) or constant(theirs):
        return CONSTANT
    smaller, larger = sorted((ours, theirs), key=len)
    if len(smaller) == len(larger):
        return ""
    low, high = float(smaller.min()), float(smaller.max())
    beyond = int(((larger < low) | (larger > high)).sum())
    missed = (1 - beyond / len(larger)) ** len(smaller)
    if not beyond or missed <= ALPHA or _differ(smaller, np.clip(larger, low, high)):
        return ""
    return (
        f"the larger arm has {beyond} scores beyond the smaller one's that {len(smaller)} draws miss in "
        f"{missed:.0%} of cases, and the difference rests on them"
    )


def _differ(ours: Floats, theirs: Floats) -> bool:
    """Whether Welch's t test distinguishes these means."""
    from scipy.special import stdtr

    parts = [float(arm.var(ddof=1)) / len(arm) for arm in (ours, theirs)]
    variance = sum(parts)
    if variance == 0 or min(len(ours), len(theirs)) < 2:
        return False
    freedom = variance**2 / sum(
        part**2 / (len(arm) - 1) for part, arm in zip(parts, (ours, theirs), strict=True)
    )
    return bool(2 * stdtr(freedom, -abs(ours.mean() - theirs.mean()) / np.sqrt(variance)) <= ALPHA)


def dominated(ours: Floats, theirs: Floats) -> str:
    """A warning if a few scores account for the difference; otherwise empty."""
    higher, lower = (ours, theirs) if ours.mean() > theirs.mean() else (theirs, ours)
    count = max(1, ceil(TOP * len(higher)))
    if count >= len(higher):
        return ""
    ranked = np.sort(higher)
    cut = np.minimum(ranked, ranked[-count - 1])
    whole, left = float(higher.mean() - lower.mean()), float(cut.mean() - lower.mean())
    if whole <= 0 or left > HALF * whole:
        return ""
    few = "the highest score carries" if count == 1 else f"the {count} highest scores carry"
    return f"{few} {min(1.0, 1 - left / whole):.0%} of the difference"
