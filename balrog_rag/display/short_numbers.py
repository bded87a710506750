"""Numbers of a running run as short texts, for every display."""

from collections.abc import Sequence

from balrog_rag.display.scoreboard import Scoreboard


def clock(seconds: float | None) -> str:
    """Format 75 as 1:15, an hour as 1:00:00, unknown as a dash."""
    if seconds is None:
        return "–"
    minutes, second = divmod(int(seconds), 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02d}:{second:02d}" if hour else f"{minute}:{second:02d}"


def spending(board: Scoreboard) -> str:
    """Format the amount spent, with the cap if there is one."""
    return board.spent().in_words(board.dollar_cap)


def progression(board: Scoreboard) -> str:
    """Format the mean progression of ended and of all started episodes; a dash before the first starts.

    Ended episodes are not a random sample of the run (solved games end early, and so do dead players), so no
    interval is shown, and the mean of all started episodes is shown as well.
    """
    ended, begun = board.progressions, board.best_so_far()
    if not begun:
        return "–"
    said = f"{mean_percent(ended)} of ended, " if ended else ""
    return f"{said}{mean_percent(begun)} of all so far"


def mean_percent(shares: Sequence[float]) -> str:
    """Format the mean of values between 0 and 1 as a percentage."""
    return f"{100 * sum(shares) / len(shares):.2f} %"
