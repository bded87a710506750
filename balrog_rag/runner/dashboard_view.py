"""The dashboard's lines: what stands where, in words and colours."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from textwrap import wrap

from rich.cells import set_cell_size
from rich.segment import Segment
from rich.style import Style

from balrog_rag.inert import inert, one_line
from balrog_rag.results.tables import short_number
from balrog_rag.runner.figures import Interim, clock, money, spending
from balrog_rag.runner.scheduler import Gate
from balrog_rag.runner.scoreboard import Row, Scoreboard

Line = list[Segment]

PLAIN, DIM, BOLD = Style(), Style(dim=True), Style(bold=True)
GOOD, WARN, BAD = Style(color="green"), Style(color="yellow"), Style(color="red", bold=True)
ACCENT, CHOSEN = Style(color="cyan"), Style(reverse=True)
TROUBLES = 3
"""Newest troubles shown."""


class View:
    """What is shown of the board: which episode is selected, and which is open."""

    def __init__(self, board: Scoreboard, gate: Gate) -> None:
        self.board, self.gate = board, gate
        self.interim = Interim(board)
        self.selected: str | None = None
        self.opened: str | None = None
        self.top = 0

    def move(self, by: int) -> None:
        """Select another episode; an open one gives way to it."""
        names = list(self.board.rows)
        if not names:
            return
        at = names.index(self.selected) + by if self.selected in self.board.rows else 0
        self.selected = names[at % len(names)]
        if self.opened is not None:
            self.opened = self.selected


def lines(view: View, width: int, height: int) -> list[Line]:
    """Exactly `height` lines, each exactly `width` cells."""
    opened = view.board.rows.get(view.opened or "")
    head = [*_head(view, width)]
    foot = _foot(view, opened is not None)
    room = max(0, height - len(head) - len(foot))
    body = _screen(opened, width, room) if opened is not None else _table(view, width, room)
    padded = chain(body[:room], repeat([Segment("")], room - len(body[:room])))
    return [_fitted(line, width) for line in [*head, *padded, *foot]][:height]


def _fitted(line: Line, width: int) -> Line:
    return Segment.adjust_line_length(line, width)


def _head(view: View, width: int) -> Iterator[Line]:
    board, gate = view.board, view.gate
    elapsed, left = clock(board.elapsed), clock(board.seconds_left())
    yield [
        Segment(" balrog_rag ", Style(color="black", bgcolor="cyan", bold=True)),
        Segment(f" {one_line(board.title)}", BOLD),
        Segment(f"   {elapsed} so far, {left} left", DIM),
    ]
    yield _bar(board, width)
    state = f"{len(board.rows)} in play of {gate.width} at once"
    yield [
        Segment(f" {board.done}/{board.total} ended", BOLD),
        Segment(f"   {state}"),
        *([Segment("   PAUSED: no call goes out", WARN)] if gate.paused else []),
        *([Segment("   STOPPING after the calls in flight; Ctrl-C: now", BAD)] if gate.stopping else []),
    ]
    yield [
        Segment(" progression ", DIM), Segment(view.interim.text(), GOOD),
        Segment(f"   {board.rate():.1f} steps/s", ACCENT),
        Segment("   " + ", ".join(f"{name} {count}" for name, count in board.outcomes.items()), DIM),
    ]  # fmt: skip
    yield [
        Segment(" spent ", DIM), Segment(spending(board), _spend_style(board)),
        Segment(f"   {board.retries} retries", WARN if board.retries else DIM),
        Segment(f"   {board.replays} replays", WARN if board.replays else DIM),
        Segment(f"   {board.errors} errors", BAD if board.errors else DIM),
    ]  # fmt: skip
    yield [Segment("")]


def _bar(board: Scoreboard, width: int) -> Line:
    """Ended, in play and waiting, as shares of the line."""
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


Column = tuple[str, int, Callable[[Row], str]]


def _hp(row: Row) -> str:
    stats = row.observation.stats
    return f"{stats.hp}/{stats.max_hp}"


def _pace(row: Row) -> str:
    seconds = row.seconds_per_step
    return "–" if seconds is None else f"{seconds:.2f}"


COLUMNS: Sequence[Column] = (
    ("step", 6, lambda row: str(row.step)),
    ("Dlvl", 4, lambda row: str(row.observation.stats.depth)),
    ("XL", 3, lambda row: str(row.observation.stats.experience_level)),
    ("HP", 8, _hp),
    ("prog %", 6, lambda row: f"{100 * row.progress.value:.2f}"),
    ("tokens", 7, lambda row: short_number(row.input + row.output)),
    ("dollars", 8, lambda row: money(row.dollars, row.unpriced)),
    ("s/step", 6, _pace),
)


def _table(view: View, width: int, room: int) -> list[Line]:
    rows = list(view.board.rows.values())
    name_width = min(34, max(12, width // 4))
    titles = "".join(f" {title:>{size}}" for title, size, _ in COLUMNS)
    found = [[Segment(f" {'episode':<{name_width}}{titles}  action", DIM)]]
    shown = max(0, room - 1)
    _scroll(view, rows, shown)
    for row in rows[view.top : view.top + shown]:
        found.append(_row(row, name_width, width, row.episode == view.selected))
    hidden = len(rows) - len(rows[view.top : view.top + shown])
    if hidden and shown:
        found[-1] = [Segment(f" … {hidden + 1} more in play", DIM)]
    return found


def _scroll(view: View, rows: Sequence[Row], shown: int) -> None:
    """Keep the selected row in sight."""
    names = [row.episode for row in rows]
    at = names.index(view.selected) if view.selected in names else 0
    last = max(1, shown - 1)
    view.top = min(max(view.top, at - last + 1), at)
    view.top = max(0, min(view.top, len(rows) - shown))


def _row(row: Row, name_width: int, width: int, selected: bool) -> Line:
    stats = row.observation.stats
    cells = "".join(f" {value(row):>{size}}" for _, size, value in COLUMNS)
    name = set_cell_size(_short(row.episode, name_width), name_width)
    action = one_line(row.action) + (f"   ? {one_line(row.query[:200])}" if row.query else "")
    waiting = f"   … {row.waiting}" if row.waiting and row.waiting != "act" else ""
    style = CHOSEN if selected else PLAIN
    in_danger = stats.max_hp and stats.hp * 3 <= stats.max_hp
    rest = set_cell_size(f"  {action}{waiting}", max(0, width - name_width - len(cells) - 1))
    return [
        Segment(f" {name}", style + ACCENT),
        Segment(cells, style + BAD if in_danger else style),
        Segment(rest, style),
    ]


def _short(episode: str, most: int = 200) -> str:
    """The episode's name without its environment, which the task implies; its end tells most."""
    label, _, name = episode.rpartition(":")
    task = name.partition("/")[2] or name
    text = one_line(f"{label} {task}" if label else task)
    return text if len(text) <= most else f"…{text[1 - most :]}"


def _screen(row: Row, width: int, room: int) -> list[Line]:
    """An episode's live screen: what the agent sees, what it thought, what it looked up."""
    seen, stats = row.observation, row.observation.stats
    title = (
        f" {_short(row.episode)}   step {row.step}   Dlvl {stats.depth}  XL {stats.experience_level}  "
        f"HP {_hp(row)}  T {stats.turn}   {money(row.dollars, row.unpriced)}   {_pace(row)} s/step"
    )
    found: list[Line] = [[Segment(title, BOLD)], [Segment("")]]
    found += _texts(seen.message, PLAIN, width)
    found += [[Segment(f" {line}")] for line in inert(seen.map).expandtabs(8).splitlines()]
    found += [[Segment("")], [Segment(" action ", DIM), Segment(one_line(row.action), GOOD)]]
    if row.query:
        titles = ", ".join(passage.title for passage in row.passages)
        found += _texts(f"looked up: {row.query}  →  {titles}", ACCENT, width)
    found += _texts(row.reasoning, DIM, width)
    return found[:room]


def _texts(text: str, style: Style, width: int) -> list[Line]:
    return [[Segment(f" {line}", style)] for line in wrap(one_line(text[:4000]), max(10, width - 2))]


def _foot(view: View, opened: bool) -> list[Line]:
    """The newest troubles, and what the keys do."""
    troubles = list(view.board.troubles)[-TROUBLES:]
    keys = (
        " ↑↓ other episode   esc back to all   q stop"
        if opened
        else " ↑↓ choose   enter look at it   space pause   + − how many at once   q stop"
    )
    return [
        *([Segment(one_line(f" {note}"), WARN)] for note in view.board.notes),
        *([Segment(one_line(f" {trouble.episode}: {trouble.text}"), BAD)] for trouble in troubles),
        [Segment(keys, DIM)],
    ]
