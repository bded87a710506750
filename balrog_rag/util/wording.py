"""Small words that messages are made of."""


def many(count: int, things: str) -> str:
    """`1 episode`, `2 episodes`, `1 retry`."""
    one = things.removesuffix("ies") + "y" if things.endswith("ies") else things.removesuffix("s")
    return f"{count:,} {one if count == 1 else things}"
