"""Layout of the dashboard: the text and colours of every line."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from textwrap import wrap
from typing import Any

from rich.cells import set_cell_size
from rich.segment import Segment
from rich.style import Style

from balrog_rag.contracts.errors import PluginError
from balrog_rag.contracts.outcome import in_words
from balrog_rag.display.dashboard_pages import ORDERS, page_lines, sorted_rows
from balrog_rag.display.scoreboard import EpisodeRow, Scoreboard
from balrog_rag.display.short_numbers import clock, progression, spending
from balrog_rag.run.scheduler import EpisodeSlots
from balrog_rag.util.terminal_safe import one_line, terminal_safe
from balrog_rag.util.wording import many, money, short_number

Line = list[Segment]

PLAIN, DIM, BOLD = Style(), Style(dim=True), Style(bold=True)
GOOD, WARN, BAD = Style(color="green"), Style(color="yellow"), Style(color="red", bold=True)
ACCENT, CHOSEN = Style(color="cyan"), Style(reverse=True)
TROUBLES = 3
"""Number of recent errors shown."""


class DashboardView:
    """The view's state: which episode is selected, and whether it is open."""

    def __init__(self, board: Scoreboard, gate: EpisodeSlots) -> None:
        self.board, self.gate = board, gate
        self.selected: str | None = None
        self.opened: str | None = None
        self.top = 0
        self.page = ""
        """The page shown instead of the episodes in play; empty: none."""
        self.order = next(iter(ORDERS))

    def turn_to(self, page: str) -> None:
        """Show a page, or the episodes in play again if it is shown."""
        self.page, self.opened = "" if self.page == page else page, None

    def sort(self) -> None:
        """Use the next order of the episodes in play."""
        orders = list(ORDERS)
        self.order = orders[(orders.index(self.order) + 1) % len(orders)]

    def in_order(self) -> list[EpisodeRow]:
        """The episodes in play as they are listed."""
        return sorted_rows(list(self.board.rows.values()), self.order)

    def move(self, by: int) -> None:
        """Select another episode; if one is open, open that one instead."""
        names = [row.episode for row in self.in_order()]
        if not names:
            return
        at = names.index(self.selected) + by if self.selected in self.board.rows else 0
        self.selected = names[at % len(names)]
        if self.opened is not None:
            self.opened = self.selected


def lines(view: DashboardView, width: int, height: int) -> list[Line]:
    """Return exactly `height` lines, each exactly `width` cells wide."""
    opened = view.board.rows.get(view.opened or "")
    head = [*_head(view, width, opened is not None)]
    foot = _foot(view, opened is not None, width)
    room = max(0, height - len(head) - len(foot))
    if opened is not None:
        body = _screen(opened, width, room)
    elif view.page:
        body = [[Segment(f" {line}")] for line in page_lines(view.page, view.board, room)]
    else:
        body = _table(view, width, room)
    padded = chain(body[:room], repeat([Segment("")], room - len(body[:room])))
    return [_fitted(line, width) for line in [*head, *padded, *foot]][:height]


def _fitted(line: Line, width: int) -> Line:
    return Segment.adjust_line_length(line, width)


def _head(view: DashboardView, width: int, opened: bool) -> Iterator[Line]:
    """Status of the run; shortened to its first lines while an episode's screen is open."""
    board, gate = view.board, view.gate
    elapsed, left = clock(board.elapsed), clock(board.seconds_left())
    yield [
        Segment(" balrog_rag ", Style(color="black", bgcolor="cyan", bold=True)),
        Segment(f" {one_line(board.title)}", BOLD),
        Segment(f"   {elapsed} so far, {left} left", DIM),
    ]
    if not opened:
        yield _bar(board, width)
    yield from _flowed(_state(board, gate), width)
    for trouble in board.model_troubles():
        yield from _texts(trouble, WARN, width)
    if limit := board.limited_by():
        yield from _texts(f"limited by {limit}", WARN, width)
    if opened:
        return
    yield from _flowed(_progress(view), width)
    yield from _flowed(
        [
            Segment(" spent ", DIM), Segment(spending(board), _spend_style(board)),
            Segment(f"   {many(board.retries, 'retries')}", WARN if board.retries else DIM),
            Segment(f"   {many(board.replays, 'replays')}", WARN if board.replays else DIM),
            Segment(f"   {many(board.errors, 'errors')}", BAD if board.errors else DIM),
        ],
        width,
    )  # fmt: skip
    yield [Segment("")]


def _state(board: Scoreboard, gate: EpisodeSlots) -> list[Segment]:
    in_flight, waiting = board.calls()
    held = "no model calls are sent" if board.holds_calls else "no new episodes; those in play continue"
    return [
        Segment(f" {board.done}/{board.total} ended", BOLD),
        Segment(f"   {len(board.rows)} in play (limit {gate.width})"),
        Segment(f"   calls: {in_flight} in flight, {waiting} waiting", DIM),
        *([Segment(f"   PAUSED: {held}", WARN)] if gate.paused else []),
        *([Segment("   STOPPING after the calls in flight; Ctrl-C: now", BAD)] if gate.stopping else []),
    ]


def _progress(view: DashboardView) -> list[Segment]:
    board = view.board
    outcomes = [f"{in_words(name)} {count}" for name, count in board.outcomes.items()]
    return [
        Segment(" progression ", DIM), Segment(progression(board), GOOD),
        Segment(f"   {board.rate():.1f} steps/s", ACCENT),
        *(Segment(f"{', ' if number else '   '}{one}", DIM) for number, one in enumerate(outcomes)),
    ]  # fmt: skip


def _flowed(parts: Sequence[Segment], width: int) -> list[Line]:
    """Distribute the parts over as many lines as needed, without cutting a part that fits on a line."""
    found: list[Line] = [[]]
    for part in parts:
        if found[-1] and sum(one.cell_length for one in found[-1]) + part.cell_length > width:
            found.append([])
            part = Segment(f"   {part.text.lstrip(', ')}", part.style)
        found[-1].append(part)
    return found


def _bar(board: Scoreboard, width: int) -> Line:
    """Ended, running and waiting episodes as shares of the line."""
    room, total = max(1, width - 2), max(1, board.total)
    done = room * board.done // total
    playing = min(room - done, -(-room * len(board.rows) // total))
    return [
        Segment(" " + "━" * done, GOOD),
        Segment("━" * playing, ACCENT),
        Segment("━" * (room - done - playing), DIM),
    ]


def _spend_style(board: Scoreboard) -> Style:
    cap = board.dollar_cap
    return WARN if cap and board.spent().dollars > 0.8 * cap else PLAIN


Column = tuple[str, int, Callable[[EpisodeRow], str]]


def _pace(row: EpisodeRow) -> str:
    seconds = row.seconds_per_step
    return "–" if seconds is None else f"{seconds:.2f}"


COLUMNS: Sequence[Column] = (
    ("step", 6, lambda row: str(row.step)),
    ("prog %", 6, lambda row: f"{100 * row.progress.value:.2f}"),
    ("tokens", 7, lambda row: short_number(row.input + row.output)),
    ("dollars", 8, lambda row: money(row.dollars, row.unpriced)),
    ("s/step", 6, _pace),
)
LEFT_OUT_FIRST = ("s/step", "tokens", "dollars")
LEFT_OUT_LAST = ("prog %", "step")
ACTION = 18
"""Cells that an action needs to be recognizable; columns are dropped to keep them."""


def _columns(rows: Sequence[EpisodeRow], room: int) -> list[Column]:
    """The columns that leave room for the action; those of a kind of game follow the step."""
    counted = {column.title: column.width for row in rows for column in row.kind.display.columns}
    own: list[Column] = [(title, width, _counted(title)) for title, width in counted.items()]
    columns = [COLUMNS[0], *own, *COLUMNS[1:]]
    narrow_first = sorted(counted, key=lambda title: counted[title])
    for name in (*LEFT_OUT_FIRST, *narrow_first, *LEFT_OUT_LAST):
        if sum(size + 1 for _, size, _ in columns) + ACTION <= room:
            break
        columns = [column for column in columns if column[0] != name]
    return columns


def _counted(title: str) -> Callable[[EpisodeRow], str]:
    """A cell of a kind's own column; empty for games of kinds without this column."""

    def cell(row: EpisodeRow) -> str:
        found = next((column for column in row.kind.display.columns if column.title == title), None)
        try:
            return found.text(row.observation.numbers) if found else ""
        except PluginError:
            return "!"  # a cell has no room for the reason, which the opened episode shows

    return cell


def _of_kind(show: Callable[[Any], str], given: object) -> str:
    """What a kind of game says; its error if it fails, because a display must not end a run."""
    try:
        return show(given)
    except PluginError as error:
        return str(error)


def _in_danger(row: EpisodeRow) -> bool:
    try:
        return row.kind.display.danger(row.observation.numbers)
    except PluginError:
        return True


def _table(view: DashboardView, width: int, room: int) -> list[Line]:
    rows = view.in_order()
    name_width = min(34, max(12, width // 4)) if not view.board.sweep else min(44, max(12, width // 3))
    columns = _columns(rows, width - name_width - 1)
    titles = "".join(f" {title:>{size}}" for title, size, _ in columns)
    found = [[Segment(f" {'episode':<{name_width}}{titles}  action", DIM)]]
    shown = max(1, room - 1)
    shown -= shown < len(rows)  # the last line shows how many are hidden
    _scroll(view, rows, shown)
    for row in rows[view.top : view.top + shown]:
        cells = "".join(f" {value(row):>{size}}" for _, size, value in columns)
        found.append(_row(row, name_width, cells, width, row.episode == view.selected))
    hidden = len(rows) - len(rows[view.top : view.top + shown])
    if hidden:
        found.append([Segment(f" … {hidden} more in play", DIM)])
    return found


def _scroll(view: DashboardView, rows: Sequence[EpisodeRow], shown: int) -> None:
    """Keep the selected row visible."""
    names = [row.episode for row in rows]
    at = names.index(view.selected) if view.selected in names else 0
    view.top = min(max(view.top, at - max(1, shown) + 1), at)
    view.top = max(0, min(view.top, len(rows) - shown))


def _row(row: EpisodeRow, name_width: int, cells: str, width: int, selected: bool) -> Line:
    name = set_cell_size(_short(row.episode, name_width), name_width)
    action = one_line(row.action) + (f"   ? {one_line(row.query[:200])}" if row.query else "")
    waiting = f"   … {row.waiting}" if row.waiting and row.waiting != "act" else ""
    style = CHOSEN if selected else PLAIN
    rest = set_cell_size(f"  {action}{waiting}", max(0, width - name_width - len(cells) - 1))
    return [
        Segment(f" {name}", style + ACCENT),
        Segment(cells, style + BAD if _in_danger(row) else style),
        Segment(rest, style),
    ]


def _short(episode: str, most: int = 200) -> str:
    """The episode's name without its environment, which the task implies, cut from the left.

    In a sweep the name starts with the run's values, which are never cut: many runs share the same task.
    """
    label, _, name = episode.rpartition(":")
    task = one_line(name.partition("/")[2] or name)
    if not label:
        return _cut(task, most)
    run = one_line(re.sub(r"[\w.@/+]+=", "", label))
    if len(run) + 1 + len(task) > most:
        task = _cut(task, max(LEAST_TASK, most - len(run) - 1))
        run = _cut(run, max(1, most - len(task) - 1))
    return f"{run} {task}"


LEAST_TASK = 8
"""Cells for the end of a task's name and the episode's number."""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"…{text[1 - most :]}" if most > 1 else "…"


def _screen(row: EpisodeRow, width: int, room: int) -> list[Line]:
    """An episode's live screen: observation, reasoning and look-ups."""
    seen = row.observation
    facts = [
        f" {_short(row.episode)}", f"   step {row.step}",
        f"   {one_line(_of_kind(row.kind.display.headline, seen.numbers))}",
        f"   {money(row.dollars, row.unpriced)}", f"   {_pace(row)} s/step",
    ]  # fmt: skip
    above = [
        *_flowed([Segment(fact, BOLD) for fact in facts], width),
        *_texts(_of_kind(row.kind.hints.signals.message, seen), PLAIN, width),
    ]
    below: list[Line] = [[Segment(" action ", DIM), Segment(one_line(row.action), GOOD)]]
    if row.query:
        titles = ", ".join(passage.title for passage in row.passages)
        below += _texts(f"looked up: {row.query}  →  {titles}", ACCENT, width)
    if row.answer.strip() not in ("", row.action):
        below += _texts(f"answer: {row.answer}", DIM, width)
    if row.reasoning:
        below += _texts(f"reasoning: {row.reasoning}", DIM, width)
    shown = terminal_safe(seen.text("map") or seen.screen).expandtabs(8).splitlines()
    picture = _picture(shown, room - len(above), len(below))
    return [*above, *([Segment(f" {line}")] for line in picture), *below][:room]


WORDS = 4
"""Minimum lines for the last action, its look-up and its answer, if they are that long."""


def _picture(rows: Sequence[str], room: int, below: int) -> list[str]:
    """The game's screen; if room is short, drop blank rows first, then rows far from the status line."""
    if len(rows) + WORDS > room:  # a fixed reserve, so that the screen does not jump from step to step
        rows = [row for row in rows if row.strip()]
    most = max(0, room - min(below, WORDS))
    return list(rows[max(0, len(rows) - most) :])


def _texts(text: str, style: Style, width: int) -> list[Line]:
    return [[Segment(f" {line}", style)] for line in wrap(one_line(text[:4000]), max(10, width - 2))]


def _foot(view: DashboardView, opened: bool, width: int) -> list[Line]:
    """Recent errors, and the available keys."""
    troubles = list(view.board.troubles)[-TROUBLES:]
    keys = (
        (" ↑↓ other episode", "   esc all episodes", "   q stop")
        if opened
        else (
            " ↑↓ select",
            "   enter open",
            "   s sort",
            "   e ended",
            "   t tasks",
            "   space pause",
            "   + −",
            "   q stop",
            "   ? help",
        )
    )
    return [
        *([Segment(one_line(f" {note}"), WARN)] for note in view.board.notes),
        *([Segment(one_line(f" {trouble.episode}: {trouble.text}"), BAD)] for trouble in troubles),
        *_flowed([Segment(key, DIM) for key in keys], width),
    ]
