"""The dashboard's other pages: episodes that ended, tasks, and the keys; each as plain lines of text."""

from collections.abc import Callable, Mapping, Sequence

from balrog_rag.contracts.outcome import in_words
from balrog_rag.display.scoreboard import EndedEpisode, EpisodeRow, Scoreboard
from balrog_rag.util.terminal_safe import one_line
from balrog_rag.util.wording import money

ORDERS: Mapping[str, Callable[[EpisodeRow], float]] = {
    "begun": lambda row: row.begun,
    "steps": lambda row: -row.step,
    "progression": lambda row: -row.progress.value,
    "dollars": lambda row: -row.dollars,
}
"""Orders of the episodes in play, by the keys of `s`."""
HELP = (
    "↑ ↓   select an episode          enter, →   open it: its screen, last answer and reasoning",
    "e     episodes that ended        t          tasks: ended, in play, mean progression",
    "s     sort by begun, steps, progression or dollars",
    "space pause: no model calls are sent, no new episodes begin",
    "+ −   more or fewer episodes at once",
    "q     stop after the calls in flight; Ctrl-C again: at once",
    "esc   back to the episodes in play; balrog-rag watch RUN shows a run from another terminal",
)


def sorted_rows(rows: Sequence[EpisodeRow], order: str) -> list[EpisodeRow]:
    """The episodes in play in this order."""
    return sorted(rows, key=ORDERS[order])


def page_lines(page: str, board: Scoreboard, room: int) -> list[str]:
    """The lines of a page, at most `room`."""
    return {"ended": _ended, "tasks": _tasks, "help": lambda *_: list(HELP)}[page](board, room)[:room]


def _ended(board: Scoreboard, room: int) -> list[str]:
    """The episodes that ended last, the newest first."""
    latest = list(board.recent)[::-1][: max(0, room - 1)]
    return ["prog %   steps  dollars  episode and end", *map(_one_ended, latest)]


def _one_ended(one: EndedEpisode) -> str:
    how = f" ({one_line(one.how[:200])})" if one.how else ""
    return (
        f"{100 * one.progression:6.2f} {one.steps:>7,} {money(one.dollars):>8}  "
        f"{one_line(one.episode)}: {in_words(one.outcome)}{how}"
    )


def _tasks(board: Scoreboard, room: int) -> list[str]:
    """One line per task; in a sweep per run and task."""
    found = ["ended     in play  mean %  task"]
    for task, planned in board.planned_by_task.items():
        ended = board.ended_by_task.get(task, [])
        playing = sum(name.rpartition("/")[0] == task for name in board.rows)
        mean = f"{100 * sum(ended) / len(ended):.2f}" if ended else "–"
        found.append(f"{f'{len(ended)}/{planned}':<9} {playing:>7}  {mean:>6}  {one_line(task)}")
    if len(found) > room:
        found = [*found[: max(1, room - 1)], f"… {len(found) - max(1, room - 1)} more tasks"]
    return found
