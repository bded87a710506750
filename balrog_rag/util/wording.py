"""Small words that messages are made of."""


def many(count: int, things: str) -> str:
    """`1 episode`, `2 episodes`, `1 retry`."""
    one = things.removesuffix("ies") + "y" if things.endswith("ies") else things.removesuffix("s")
    return f"{count:,} {one if count == 1 else things}"


def short_number(value: float) -> str:
    """1234567 as 1.2M."""
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}{sign}"
    return f"{value:.0f}"


def money(dollars: float, unpriced: int = 0) -> str:
    """Dollars, with a mark where some calls have no known price."""
    text = f"${dollars:,.2f}" if dollars >= 1 or not dollars else f"${dollars:.4f}"
    return text + ("+?" if unpriced else "")
