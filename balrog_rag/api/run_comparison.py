"""Is one run better than the other?"""

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
    """Compare two runs, or two folders of runs of one kind; differences are a's less b's.

    The verdict's `.sentence` says it in words, `.whole` in numbers; `.environments` and `.tasks` have a
    verdict for each. `detect` is the difference that episodes are planned for.
    Runs with open or missing episodes get no verdict unless `partial` is said.
    """
    from balrog_rag.results.comparing import compared

    return compared([Path(a), Path(b)], measure, detect, partial)[1]
