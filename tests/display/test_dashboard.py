"""The dashboard: its content at any terminal size, and its keys on a real terminal."""

import asyncio
import os
import re
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import Decision, Passage, Reply, Request, Transition, Usage
from balrog_rag.contracts.events import (
    AlreadyEnded,
    Answered,
    Asked,
    Ended,
    Searched,
    Started,
    Stepped,
    Troubled,
)
from balrog_rag.display.dashboard_view import DashboardView, lines
from balrog_rag.display.keyboard import split
from balrog_rag.display.notebook_progress import progress_html
from balrog_rag.display.progress_log import QUIET, Lines, PlainLog
from balrog_rag.display.scoreboard import Scoreboard
from balrog_rag.run.backend import LocalBackend
from balrog_rag.run.interrupts import Interrupts
from balrog_rag.run.plan import PlannedRun, kinds_in, plan
from balrog_rag.run.run import InPlay
from balrog_rag.run.scheduler import EpisodeSlots
from balrog_rag.run.services import LiveServices, player_spec
from balrog_rag.util.terminal_safe import one_line, terminal_safe
from balrog_rag.workers.inline import InlineGames
from tests.run.terminal import Terminal, terminal
from tests.support import PATIENCE, numbers, until

EVIL = "\x1b[2J\x1b[1;1Howned\x07\r\x9b31m\u202e\x00\n"


def board_of(runs: list[PlannedRun]) -> Scoreboard:
    """A board of runs that are not played."""

    async def made() -> Scoreboard:
        gate, backend = EpisodeSlots(1), LocalBackend(runs[0].config.runner, LiveServices())
        return Scoreboard(InPlay(runs, gate, Interrupts(gate), backend))

    return asyncio.run(made())


@pytest.fixture
def board(tmp_path: Path) -> Scoreboard:
    """Six episodes: one ended, one found ended, three in play, one of them with hostile text."""
    config = compose(["model=scripted", "agent=naive", "env.episodes=6", "limits.run.dollars=5"])
    specs = plan(config, player_spec(config))
    board = board_of([PlannedRun(tmp_path / "myrun", config, specs, kinds_in(config))])
    game = asyncio.run(InlineGames().open(specs[0].game))
    first = game.start.observation
    names = [spec.episode for spec in specs]
    for name in names[:4]:
        board.see(Started(name, first))
        board.see(Asked(name, 0, Request(())))
        reply = Reply("x", usage=Usage(1000, 10), cost=0.25, attempts=3)
        board.see(Answered(name, 0, "act", reply, True))
        board.see(Searched(name, 0, EVIL, (Passage("p", EVIL, EVIL),)))
        seen = first.with_text("message", EVIL).with_text("map", EVIL * 30)
        seen = replace(seen, numbers=numbers(depth=3, experience_level=2, max_hp=9))
        board.see(Stepped(name, 0, Decision(EVIL, reasoning=EVIL * 50), EVIL, Transition(seen)))
    board.see(Ended(names[0], "died", 1))
    board.see(AlreadyEnded(names[4], "steps", 100, 0.0215))
    board.see(Troubled(names[1], "WorkerLost", EVIL, again=True))
    return board


def test_what_is_left_goes_by_the_limit_of_each_episode(tmp_path: Path) -> None:
    """An arm of three steps beside one of many."""
    words = ["model=scripted", "agent=naive", "env.episodes=1"]
    configs = [compose([*words, *limit]) for limit in (["limits.steps=3"], [])]
    specs = [plan(config, player_spec(config)) for config in configs]
    board = board_of(
        [
            PlannedRun(tmp_path / name, config, each, kinds_in(config), name)
            for name, config, each in zip(("short", "long"), configs, specs, strict=True)
        ]
    )
    game = asyncio.run(InlineGames().open(specs[0][0].game))
    short, long = (f"{name}:{specs[0][0].episode}" for name in ("short", "long"))
    board.see(AlreadyEnded(long, "died", 5000, 0.1))
    board.see(Started(short, game.start.observation))
    board.steps = 50
    left = board.seconds_left()
    assert left is not None
    assert 0 < left <= 1.01 * 3 * (time.monotonic() - board.begun) / 50  # three steps at the rate until now


def text(board: Scoreboard, width: int, height: int, opened: str | None = None) -> list[str]:
    view = DashboardView(board, EpisodeSlots(4))
    view.opened = opened
    return ["".join(segment.text for segment in line) for line in lines(view, width, height)]


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60), (40, 12), (20, 5), (10, 3), (1, 1)])
@pytest.mark.parametrize("opened", [None, "nle/NetHackChallenge-v0/02"])
def test_fills_any_terminal_and_moves_no_cursor(
    board: Scoreboard, width: int, height: int, opened: str | None
) -> None:
    from rich.cells import cell_len

    async def draw() -> list[str]:
        return text(board, width, height, opened)

    shown = asyncio.run(draw())
    assert len(shown) == height
    assert {cell_len(line) for line in shown} == {width}
    assert all(line.isprintable() for line in shown)


def test_says_how_it_stands(board: Scoreboard) -> None:
    async def draw() -> str:
        return "\n".join(text(board, 160, 30))

    shown = asyncio.run(draw())
    assert "myrun" in shown
    assert "2/6 ended   3 in play (limit 4)" in shown
    # of XL 2's 1.85, which is more than Dlvl 3's, and 2.15
    assert "progression 2.00 % of ended, 1.91 % of all so far" in shown
    assert "8 retries   1 replay   0 errors" in shown
    assert re.search(r"…?\S*Challenge-v0/02 +1 +3 +2 +0/9 +1\.85 +1\.0k", shown)


def test_more_episodes_than_lines(board: Scoreboard) -> None:
    async def draw() -> list[str]:
        return text(board, 100, 10)

    assert any("more in play" in line for line in asyncio.run(draw()))


@pytest.fixture
def sweep(tmp_path: Path) -> Scoreboard:
    """Two runs of a sweep, with an episode of each in play."""
    runs = []
    for label in ("agent=naive,run.seed=1", "agent=robust_cot,run.seed=1"):
        config = compose(["model=scripted", "agent=naive", "env.episodes=2"])
        specs = plan(config, player_spec(config))
        runs.append(PlannedRun(tmp_path / label, config, specs, kinds_in(config), label))
    board = board_of(runs)
    first = asyncio.run(InlineGames().open(runs[0].specs[0].game)).start
    for run in runs:
        name = f"{run.label}:nle/NetHackChallenge-v0/01"
        board.see(Started(name, first.observation))
        board.see(Searched(name, 0, "newt", (Passage("p", "Newt", "A newt."),)))
        decision = Decision("far southwest", "Run! <|ACTION|>far southwest<|END|>", reasoning="Away.")
        board.see(Stepped(name, 0, decision, "far southwest", first))
    board.outcomes = {"died": 3, "steps": 2, "episode_dollars": 1, "quit": 4}
    return board


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_at_any_width_actions_outcomes_and_arms_are_told_apart(sweep: Scoreboard, width: int) -> None:
    shown = text(sweep, width, 30)
    first, second = [line for line in shown if "far southwest" in line]
    assert first.partition("far")[0] != second.partition("far")[0]
    assert first.lstrip().startswith("naive,1 ")
    ends = ("died 3", "step limit 2", "episode_dollars 1", "quit 4")
    assert all(any(one in line for line in shown) for one in ends)


@pytest.mark.parametrize(("width", "height"), [(100, 30), (80, 24)])
def test_a_live_screen_shows_status_action_look_up_answer_and_reasoning(
    sweep: Scoreboard, width: int, height: int
) -> None:
    shown = "\n".join(text(sweep, width, height, next(iter(sweep.rows))))
    looked_up, answer = "looked up: newt", "answer: Run! <|ACTION|>far southwest<|END|>"
    for words in ("@", "Dlvl:1 $", "action far southwest", looked_up, answer, "reasoning: Away."):
        assert words in shown


def test_a_pause_says_what_it_holds_back(sweep: Scoreboard) -> None:
    gate = EpisodeSlots(4)
    gate.change(paused=True)
    for holds, says in (
        (True, "no model calls are sent"),
        (False, "no new episodes; those in play continue"),
    ):
        sweep.holds_calls = holds
        shown = "".join(
            segment.text for line in lines(DashboardView(sweep, gate), 120, 30) for segment in line
        )
        assert f"PAUSED: {says}" in shown


def test_what_keeps_a_model_from_answering_is_seen(
    sweep: Scoreboard, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "model m: the connection failed: no such host; asked 3 of 30 times"
    sweep.model_troubles = lambda: [said + EVIL]
    sweep.notes.append("no key for m")
    sweep.live_retries = lambda: 33
    for opened in (None, next(iter(sweep.rows))):
        assert any(
            said in line for line in text(sweep, 120, 30, opened)[:4]
        )  # at the top, for it explains the rest
    assert any("33 retries" in line for line in text(sweep, 120, 30))
    log = PlainLog(sweep, EpisodeSlots(4), Lines(sys.stderr))
    log.progress()
    log.progress()
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith(said) for line in lines] == [False, False, True, False, True]
    assert lines[0] == "note: no key for m"
    assert "\x1b" not in "".join(lines)


def test_lines_are_rare_while_nothing_moves(sweep: Scoreboard, capsys: pytest.CaptureFixture[str]) -> None:
    log = PlainLog(sweep, EpisodeSlots(4), Lines(sys.stderr))
    for _ in range(2 * QUIET):
        log.progress()
    sweep.steps += 1
    log.progress()
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_a_notebooks_bar_shows_figures_and_no_markup_of_others(board: Scoreboard) -> None:
    board.title = "<b>" + EVIL
    html = progress_html(board)
    assert f"{board.done}/{board.total} episodes ended" in html
    assert f'value="{board.done}" max="{board.total}"' in html
    assert "&lt;b&gt;" in html
    assert "\x1b" not in html
    assert len(re.findall("<", html)) == len(re.findall(r"</?(?:div|b|progress|br|ul|li)\b", html))


@pytest.mark.parametrize("holds", [True, False])
def test_a_pause_is_no_part_of_what_a_step_takes(
    board: Scoreboard, monkeypatch: pytest.MonkeyPatch, holds: bool
) -> None:
    board.holds_calls = holds
    row, hour = next(iter(board.rows.values())), 3600.0
    now = row.begun + 5
    monkeypatch.setattr(time, "monotonic", lambda: now)
    before = row.seconds_per_step, board.rate()
    board.paused(True)
    now += hour
    board.paused(False)
    assert ((row.seconds_per_step, board.rate()) == pytest.approx(before)) == holds


@pytest.mark.parametrize("evil", [EVIL, "\x1b]0;title\x07", "\x85", "a\u2028b", "\u200bx", "\ud800"])
def test_inert(evil: str) -> None:
    assert one_line(evil).isprintable()
    assert all(character.isprintable() or character == "\n" for character in terminal_safe(evil))


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        (b"q", [b"q"]),
        (b"\x1b[A\x1b[B", [b"\x1b[A", b"\x1b[B"]),
        (b"\x1b", [b"\x1b"]),
        (b"+ \x1bOA", [b"+", b" ", b"\x1bOA"]),
        (b"\x1b[", [b"\x1b["]),
    ],
)
def test_keys(typed: bytes, keys: list[bytes]) -> None:
    assert split(typed) == keys


def test_keys_on_a_real_terminal(tmp_path: Path) -> None:
    words = ["agent=robust_cot", "env.episodes=9", "model.options.latency=0.05", "runner.concurrency=4"]
    with terminal(tmp_path, *words, "run.name=r") as shown:
        before: list[Any] = termios.tcgetattr(shown.slave)
        shown.until(r"0/9 ended +4 in play \(limit 4\)")
        shown.press(b"+")
        shown.until(r"5 in play \(limit 5\)")
        shown.press(b" ")
        shown.until(r"PAUSED")
        shown.press(b" j")
        shown.press(b"\r")
        shown.until(r"esc all episodes")
        shown.press(b"\x1b")
        shown.until(r"enter open")
        shown.press(b"q")
        assert "\x1b[?1049l" in shown.until(r"run folder: results/r")  # the screen is given back first
        assert shown.process.wait(PATIENCE) == 130
        assert termios.tcgetattr(shown.slave) == before
        assert shown.process.stderr is not None
        said = shown.process.stderr.read().decode()
    assert "SIGINT" not in said
    assert re.search(r"^stopped by the key q;(.*\n)+spent: .*\nresume with: ", said, re.MULTILINE)


def ended(run: Path) -> int:
    log = run / "eval.log"
    return log.read_text().count(" ended after ") if log.exists() else 0


def wait_for_ends(run: Path, episodes: int) -> None:
    until(lambda: ended(run) >= episodes, f"{episodes} ends")


@pytest.mark.slow
def test_a_terminal_that_takes_nothing_does_not_stop_the_run(tmp_path: Path) -> None:
    """As after Ctrl-S: nobody reads what is drawn, and the terminal's own buffer is soon full."""
    words = ["agent=naive", "env.episodes=4", "limits.steps=60", "model.options.latency=0.05", "run.name=r"]
    with terminal(tmp_path, *words) as shown:
        wait_for_ends(tmp_path / "results/r", 4)
        assert ended(tmp_path / "results/r") == 4
        shown.until(r"run folder: results/r")
        assert shown.process.wait(PATIENCE) == 0


@pytest.mark.slow
def test_a_terminal_that_goes_away_does_not_stop_the_run(tmp_path: Path) -> None:
    words = ["agent=naive", "env.episodes=4", "limits.steps=60", "model.options.latency=0.05", "run.name=r"]
    shown = Terminal(tmp_path, *words)
    shown.until(r"4 in play")
    os.close(shown.slave)
    os.close(shown.master)
    _, err = shown.process.communicate(timeout=PATIENCE)
    assert (shown.process.returncode, err) == (0, b"")
    assert ended(tmp_path / "results/r") == 4


def text_of(view: DashboardView, width: int = 120, height: int = 30) -> str:
    return "\n".join("".join(part.text for part in line) for line in lines(view, width, height))


def test_the_other_pages_fit_and_are_toggled(board: Scoreboard) -> None:
    view = DashboardView(board, EpisodeSlots(4))
    assert "calls: 0 in flight, 0 waiting" in text_of(view)
    board.see(Asked(next(iter(board.rows)), 1, Request(())))
    assert "calls: 1 in flight, 0 waiting" in text_of(view)
    for page, said in {"ended": "died", "tasks": "2/6", "help": "esc   back"}.items():
        view.turn_to(page)
        assert said in text_of(view)
        for width, height in ((20, 5), (200, 60)):
            assert {len(line) > 0 for line in lines(view, width, height)} == {True}
            assert len(lines(view, width, height)) == height
        view.turn_to(page)
        assert "action" in text_of(view)


def test_sorting_keeps_the_selection(board: Scoreboard) -> None:
    view = DashboardView(board, EpisodeSlots(4))
    view.move(0)
    chosen, rows = view.selected, list(board.rows.values())
    rows[-1].step = 900
    view.sort()
    assert view.order == "steps"
    assert view.in_order()[0] is rows[-1]
    assert view.selected == chosen
    for _ in range(3):
        view.sort()
    assert [row.episode for row in view.in_order()] == list(board.rows)
