"""Numbers of a run in play as short texts, for every display."""

import asyncio

from balrog_rag.display.scoreboard import Scoreboard
from balrog_rag.results.statistics.estimate import Interval
from balrog_rag.results.statistics.interval import mean_interval
from balrog_rag.results.statistics.units import Bounds, Score
from balrog_rag.results.tables import short_number

GROWTH = 1.1
"""How much more episodes must have ended before the interval is made again."""


def clock(seconds: float | None) -> str:
    """75 as 1:15; an hour as 1:00:00; unknown as a dash."""
    if seconds is None:
        return "–"
    minutes, second = divmod(int(seconds), 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02d}:{second:02d}" if hour else f"{minute}:{second:02d}"


def money(dollars: float, unpriced: int = 0) -> str:
    """Dollars, with a mark where some calls have no known price."""
    text = f"${dollars:,.2f}" if dollars >= 1 or not dollars else f"${dollars:.4f}"
    return text + ("+?" if unpriced else "")


def spending(board: Scoreboard) -> str:
    """What was spent, against the cap where there is one."""
    spent = board.spent()
    cap = f" of {money(board.dollar_cap)}" if board.dollar_cap is not None else ""
    tokens = f"{short_number(spent.input)} tokens in, {short_number(spent.output)} out"
    return f"{money(spent.dollars, spent.unpriced)}{cap} for {spent.calls:,} calls, {tokens}"


class Interim:
    """The mean progression so far and its interval, made beside the loop and only when much has changed."""

    def __init__(self, board: Scoreboard) -> None:
        self._board = board
        self._made_for = 0
        self._interval: Interval | None = None
        self._task: asyncio.Task[None] | None = None

    def text(self) -> str:
        """In percent; a dash while no episode has ended."""
        ended = self._board.progressions
        if not ended:
            return "–"
        self._renew(len(ended))
        mean = 100 * sum(ended) / len(ended)
        known = self._interval
        return f"{mean:.2f} %" + (f" ({known.low:.2f} to {known.high:.2f})" if known else "")

    def _renew(self, count: int) -> None:
        if count >= max(2, self._made_for * GROWTH) and count != self._made_for and self._task is None:
            self._made_for = count
            self._task = asyncio.ensure_future(
                self._make([100 * value for value in self._board.progressions])
            )

    async def _make(self, percents: list[float]) -> None:
        bounds = Bounds(binary=self._board.solved_or_not)
        scores = [Score(percent) for percent in percents]
        try:
            self._interval = await asyncio.to_thread(mean_interval, scores, bounds, method="smooth")
        finally:
            self._task = None
