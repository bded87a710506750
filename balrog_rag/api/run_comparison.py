"""Compare two runs."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from balrog_rag.results.comparing import ArmComparison


def compare(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    measure: str = "progression",
    detect: float | None = None,
    partial: bool = False,
) -> "ArmComparison":
    """Compare two runs, or two folders with runs of one kind each; differences are `a` minus `b`.

    The verdict has `.sentence` (in words), `.whole` (in numbers), and one for each of `.environments` and
    `.tasks`. `detect` is the smallest difference to plan episodes for. Runs with open or missing episodes get
    no verdict unless `partial` is true.
    """
    from balrog_rag.results.comparing import compared

    return compared([Path(a), Path(b)], measure, detect, partial)[1]
