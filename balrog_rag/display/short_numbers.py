"""Numbers of a run in play as short texts, for every display."""

from collections.abc import Sequence

from balrog_rag.display.scoreboard import Scoreboard


def clock(seconds: float | None) -> str:
    """75 as 1:15; an hour as 1:00:00; unknown as a dash."""
    if seconds is None:
        return "–"
    minutes, second = divmod(int(seconds), 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02d}:{second:02d}" if hour else f"{minute}:{second:02d}"


def spending(board: Scoreboard) -> str:
    """What was spent, against the cap where there is one."""
    return board.spent().in_words(board.dollar_cap)


def progression(board: Scoreboard) -> str:
    """Of those ended, and of all begun; a dash while none has begun.

    Those that have ended are no random sample of the run (solved games end early, and so do dead players), so
    there is no interval, and the mean of all begun stands beside theirs.
    """
    ended, begun = board.progressions, board.best_so_far()
    if not begun:
        return "–"
    said = f"{mean_percent(ended)} of those ended, " if ended else ""
    return f"{said}{mean_percent(begun)} of all so far"


def mean_percent(shares: Sequence[float]) -> str:
    """The mean of some shares of 1."""
    return f"{100 * sum(shares) / len(shares):.2f} %"
