"""External programs as players: real processes that walk, crash, hang, grow and cheat."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from balrog_rag.agents import Needs
from balrog_rag.bots.nethack.guests.program_folder import settled
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import leaf_items, plain
from balrog_rag.contracts.errors import BalrogError, ConfigError, PlayerFailed
from balrog_rag.episode import journal
from balrog_rag.episode.journal import End
from balrog_rag.results.run_folder import journal_path
from balrog_rag.results.tally import read_episode
from balrog_rag.run.begin import planned
from balrog_rag.run.outward import outward
from balrog_rag.run.replay import replay, verify
from balrog_rag.run.run import RunOutcome, troubles
from balrog_rag.run.scheduler import Tally
from balrog_rag.run.watchers import NullWatcher
from tests.support import command

WALKER = Path(__file__).parents[1] / "data" / "guests" / "walker"
ROUTER = WALKER.with_name("router")
BOARD = ("env.tasks=[nethackers/wiz-hum-cha-mal]", "env.seeding=list", "env.seeds=[0]")
BOT = """
import time
class Bot:
    def reset(self, observation):
        self.count = 0
    def act(self, observation):
        self.count += 1
        if self.count > 5:
            {misdeed}
        return 0
def make_agent():
    return Bot()
"""


def guest(folder: Path, misdeed: str) -> Path:
    """A program that works for five actions."""
    folder.mkdir(exist_ok=True)
    (folder / "bot.py").write_text(BOT.format(misdeed=misdeed))
    return folder


@pytest.fixture
def play(specs: Callable, player: Callable, tmp_path: Path) -> Callable[..., tuple[End, Path]]:
    def played(*words: str, steps: int | None = 60) -> tuple[End, Path]:
        (spec,) = specs("env.tasks=[nle/NetHackChallenge-v0]", *words, steps=steps)
        end = asyncio.run(player()(spec))
        return end, journal_path(tmp_path / "run", spec.episode)

    return played


def test_a_program_plays_and_its_game_is_replayed(play: Callable) -> None:
    end, path = play("agent=program", f"agent.options.path={WALKER}")
    header = journal.read(path).header
    assert end.steps == 60
    assert (
        header.spec.player.agent["options"]["digest"] == settled({"path": str(WALKER)}, "program")["digest"]
    )
    assert len({key for step in journal.read(path).steps for key in step.pressed}) > 3
    assert asyncio.run(replay(path, NullWatcher(), trusted=True)).complete


@pytest.mark.parametrize(("identity", "waits"), [("wiz-hum-cha-mal", True), ("val-dwa-law-fem", False)])
def test_a_router_of_engines_in_threads_plays_the_board(play: Callable, identity: str, waits: bool) -> None:
    """The strongest published programs have this shape: a route, an adapter, a thread, a package."""
    board = (f"env.tasks=[nethackers/{identity}]", "env.seeding=list", "env.seeds=[0]")
    end, path = play("agent=program", f"agent.options.path={ROUTER}", *board)
    pressed = {key for step in journal.read(path).steps for key in step.pressed}
    assert end.steps == 60
    assert (pressed - {24, 27} == {ord("s")}) is waits  # it may ask for the attributes first
    assert asyncio.run(verify(path)).complete


def test_a_strangers_journal_is_replayed_without_its_program(play: Callable, tmp_path: Path) -> None:
    """Its keys are pressed; the code that it names is run only where the run was made here."""
    shutil.copytree(WALKER, tmp_path / "walker")
    _, path = play("agent=program", f"agent.options.path={tmp_path / 'walker'}")
    (tmp_path / "walker" / "bot.py").write_text("raise SystemExit('run after all')")
    assert asyncio.run(verify(path)).complete
    with pytest.raises(BalrogError, match="is not the program that this run started with"):
        asyncio.run(replay(path, NullWatcher(), trusted=True))


MISDEEDS = [
    ("raise KeyError('gold')", "", "crashed", "KeyError: 'gold'", "bot.py:9 in act: "),
    (
        "return 400",
        "",
        "crashed",
        "ValueError: returned 400, expected an",
        "bot.py:6 in act: ",
    ),
    ("return 'north'", "", "crashed", "TypeError: returned 'north', expected", "bot.py:6 in act: "),
    ("import os; os._exit(3)", "", "crashed", "its process ended with code 3", "guest: "),
    ("bytearray(1 << 30)", "memory_mb=256", "crashed", "MemoryError", "bot.py:9 in act: "),
    ("while True: pass", "seconds=0.2", "timed_out", "it took more than 0.2 s for one action", "guest: "),
    ("time.sleep(60)", "seconds=0.05", "timed_out", "it took more than 0.05 s for one action", "guest: "),
]


@pytest.mark.parametrize(("misdeed", "options", "outcome", "why", "where"), MISDEEDS)
def test_what_a_program_does_wrong_is_an_error_and_not_a_score(
    play: Callable, tmp_path: Path, misdeed: str, options: str, outcome: str, why: str, where: str
) -> None:
    more = [f"agent.options.{options}"] if options else []
    folder = guest(tmp_path / "guest", misdeed)
    with pytest.raises(PlayerFailed) as failed:
        play("agent=program", f"agent.options.path={folder}", *more, steps=None)
    line = failed.value.blame
    assert line.startswith(f"{tmp_path}/guest")
    assert f"{where}{why}" in line
    (path,) = (tmp_path / "run").rglob("*.journal.jsonl")
    recording = journal.read(path)
    assert recording.end is None
    assert sum(step.count for step in recording.steps) >= 5  # what it pressed before is kept
    assert read_episode(path) is None


@pytest.mark.parametrize(("misdeed", "options", "outcome", "why", "where"), [MISDEEDS[0], MISDEEDS[6]])
def test_a_board_may_score_it_all_the_same(
    play: Callable, tmp_path: Path, misdeed: str, options: str, outcome: str, why: str, where: str
) -> None:
    """NetHackers counts such a game as 0. A time-out need not come again when it is replayed."""
    more = [f"agent.options.{options}"] if options else []
    folder = guest(tmp_path / "guest", misdeed)
    end, path = play(*BOARD, "agent=program", f"agent.options.path={folder}", *more, steps=None)
    assert end.outcome == outcome
    assert journal.read(path).steps[-1].stopped.startswith(why)
    episode = read_episode(path)
    assert (episode.outcome, episode.progression) == (outcome, 0.0)
    assert asyncio.run(verify(path)).complete
    crashed = RunOutcome(Tally(ended={"one": end}))
    assert crashed.exit_code == (outcome == "crashed")
    assert bool(troubles(crashed)) == (outcome == "crashed")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def act(seen)\n    return 1\n", "mine.py:1: SyntaxError: expected ':'"),
        ("x = 1\nimport no_such_thing\ndef act(seen):\n    return 1\n", "mine.py:2 in <module>: Module"),
        ("def act(seen):\n    return 1\nact = 3\n", "TypeError: 3 is not a function"),
    ],
)
def test_a_file_that_cannot_be_imported_is_refused_before_any_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: str
) -> None:
    (tmp_path / "mine.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as refused:
        planned(Path(), compose(["agent=mine.py:act"]))
    assert str(refused.value).startswith(line)


@pytest.mark.parametrize("written", ["../play/mine.py", "{here}/mine.py"])
def test_the_last_line_says_where_a_bot_crashed(tmp_path: Path, written: str) -> None:
    """In a process of its own, as users run it; the path is shown as it was written."""
    here = tmp_path / "play"
    here.mkdir()
    (here / "mine.py").write_text("def act(seen):\n    return {}['north']\n")
    file = written.format(here=here)
    words = [f"agent={file}:act", "env.episodes=2", "runner.workers=1", "run.name=crashed"]
    done = command("balrog_rag.eval", *words, cwd=here)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"error: {file}:2 in act: KeyError: 'north'"
    assert "2 of 2 episodes failed in the agent's code and have no score" in done.stderr
    log = (here / "results/crashed/eval.log").read_text()
    assert log.count("    Traceback (most recent call last):") == 2
    assert log.count("    KeyError: 'north'") == 2
    summary = json.loads((here / "results/crashed/summary.json").read_text())
    assert "0.00" not in done.stdout.replace("$0.00", "")
    assert json.dumps(summary).count('"episodes": 2') == 0


def test_a_program_that_was_changed_is_not_the_one_of_the_spec(tmp_path: Path) -> None:
    folder = guest(tmp_path / "guest", "pass")
    held = settled({"path": str(folder)}, "program")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert settled(held, "program") == held
    guest(folder, "return 1")
    with pytest.raises(ConfigError, match="is not the program that this run started with"):
        settled(held, "program")


def test_a_function_of_a_file_plays(play: Callable, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def act(seen):\n    return int(seen['blstats'][20]) % 8\n")
    end, path = play(f"agent={file}:act")
    assert end.steps == 60
    assert asyncio.run(verify(path)).complete
    with pytest.raises(ConfigError, match="the file defines no function or class of that name"):
        planned(Path(), compose([f"agent={file}:nothing"]))


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    for words, line in (
        (["agent=program"], "agent.options.path: agent=program plays a folder with a bot.py"),
        (["agent=program", f"agent.options.path={tmp_path}"], "has no bot.py that defines make_agent"),
        (["agent=program", f"agent.options.path={WALKER}", "agent.options.speed=3"], "unknown field `speed`"),
        (
            ["agent=delver", "env=babyai"],
            "plays nle, nethackers and decisions only, not babyai",
        ),
        ([f"agent={tmp_path}/none.py:act"], "no such file"),
    ):
        with pytest.raises(ConfigError, match=line):
            planned(Path(), compose(words))


def test_a_strangers_folder_does_not_choose_a_program() -> None:
    """What a run folder names is shown, and asked for once."""
    settings = dict(leaf_items(plain(compose(["agent=program", f"agent.options.path={WALKER}"]))))
    assert outward(Needs(model=False, knowledge=False), settings)["agent.options.path"] == str(WALKER)


@pytest.mark.parametrize("agent", ["folder", "function"])
def test_a_program_plays_minihack(play: Callable, tmp_path: Path, agent: str) -> None:
    """The task's own keys count as steps, and nothing is pressed before the program decides."""
    (tmp_path / "mine.py").write_text("def act(seen):\n    return int(seen['misc'].any())\n")
    words = {
        "folder": ["agent=program", f"agent.options.path={WALKER}"],
        "function": [f"agent={tmp_path}/mine.py:act"],
    }
    end, path = play("env.tasks=[minihack/MiniHack-MazeWalk-9x9-v0]", *words[agent], steps=None)
    assert end.outcome in ("steps", "solved")
    assert sum(step.count for step in journal.read(path).steps) <= 100
    assert asyncio.run(verify(path)).complete
