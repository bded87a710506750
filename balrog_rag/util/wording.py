"""Formatting of counts and amounts in messages."""

from collections.abc import Sequence


def many(count: int, things: str) -> str:
    """Format a count with its noun: `1 episode`, `2 episodes`, `1 retry`."""
    one = things.removesuffix("ies") + "y" if things.endswith("ies") else things.removesuffix("s")
    return f"{count:,} {one if count == 1 else things}"


def joined_names(names: Sequence[str]) -> str:
    """Join names: `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def short_number(value: float) -> str:
    """Format 1234567 as 1.2M."""
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}{sign}"
    return f"{value:.0f}"


def money(dollars: float, unpriced: int = 0) -> str:
    """Format dollars, with a mark if the price of some calls is unknown."""
    text = f"${dollars:,.2f}" if dollars >= 1 or not dollars else f"${dollars:.4f}"
    return text + ("+?" if unpriced else "")
