"""Is one better than the other? Of runs, and of plain numbers."""

import os
from collections.abc import Sequence
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING

from balrog_rag.contracts.errors import ConfigError

if TYPE_CHECKING:
    from balrog_rag.results.comparing import Duel
    from balrog_rag.results.statistics.verdict import Comparison


def compare(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    measure: str = "progression",
    detect: float | None = None,
) -> "Duel":
    """Compare two runs, or two folders of runs of one kind; differences are a's less b's.

    The verdict's `.sentence` says it in words, `.whole` in numbers; `.environments` and `.tasks` have a
    verdict for each. `detect` is the difference that episodes are planned for.
    """
    from balrog_rag.results.comparing import compared

    return compared([Path(a), Path(b)], measure, detect)[1]


def verdict(
    a: Sequence[float],
    b: Sequence[float],
    paired: bool = False,
    names: tuple[str, str] = ("A", "B"),
    least: float = 0.0,
    most: float = 100.0,
) -> "Comparison":
    """Compare two lists of scores from anywhere; `.sentence` says what they show.

    `paired`: the numbers stand in pairs, each pair of one game. `least` and `most` are what a score can be;
    a count or a sum may have no most: `math.inf`.
    """
    from balrog_rag.results.statistics.units import Bounds, Score
    from balrog_rag.results.statistics.verdict import compare as judged

    if not a or not b:
        raise ConfigError("a verdict needs numbers on both sides")
    if paired and len(a) != len(b):
        raise ConfigError(f"paired numbers must be as many on both sides, but are {len(a)} and {len(b)}")
    if outside := [value for value in (*a, *b) if not least <= value <= most]:
        raise ConfigError(f"{outside[0]} does not lie from {least:g} to {most:g}; name `least` and `most`")
    ours, theirs = (
        [Score(float(value), game=f"{place}" if paired else "") for place, value in enumerate(values)]
        for values in (a, b)
    )
    return judged(ours, theirs, names, "score", "points", {"": Bounds(least, most, counted=isinf(most))})
