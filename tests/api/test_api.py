"""`import balrog_rag`: what the commands do, from Python."""

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import balrog_rag
from balrog_rag.contracts.data import (
    Decision,
    GameSpec,
    Observation,
    Part,
    Reply,
    Request,
    TaskView,
    Transition,
)
from balrog_rag.contracts.errors import ConfigError, ModelUnavailable, ReplayError, RunFolderError
from balrog_rag.contracts.events import Started
from balrog_rag.contracts.kinds import EnvironmentKind
from balrog_rag.contracts.programs import Begin, Program, ProgramKind
from tests.support import edit_journal

CORRIDOR = "minihack/MiniHack-Corridor-R3-v0"
SHORT = (
    "model=scripted",
    "agent=naive",
    "env=corridor",
    "env.episodes=2",
    "runner.workers=1",
    "limits.steps=6",
    "runner.log=none",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> balrog_rag.Run:
    """A short run played from Python."""
    return balrog_rag.evaluate(*SHORT, folder=tmp_path_factory.mktemp("api") / "run")


LOADED_AT_ONCE = (
    *("builtins", "contracts", "contracts.registry", "contracts.errors"),
    *("util", "util.interpreter"),
)
"""Modules that are loaded at once: the names of built-in plug-ins, and the interpreter check."""


def test_importing_costs_nothing() -> None:
    """Nothing else of ours is imported before it is used, and nothing slow of other packages."""
    code = "import balrog_rag, sys; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    ours = {name.removeprefix("balrog_rag.") for name in loaded if name.startswith("balrog_rag.")}
    assert (ours, done.stderr) == ({*LOADED_AT_ONCE}, "")
    assert not loaded & {"numpy", "pandas", "nle", "msgspec", "importlib.metadata"}


def test_every_name_offered_is_there() -> None:
    assert [name for name in balrog_rag.__all__ if not callable(getattr(balrog_rag, name))] == ["register"]
    assert set(balrog_rag.__all__) <= set(dir(balrog_rag))
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = balrog_rag.nothing_such  # type: ignore[attr-defined]


def test_a_game_is_played_by_hand() -> None:
    with balrog_rag.make(CORRIDOR, seed=1, layout="language", max_steps=3) as game:
        before = game.observation
        done = game.step("east")
        assert done is game.last
        assert done.observation != before
        assert (game.steps, game.ended, game.progression) == (1, "", 0.0)
        assert "@" in str(game)
        with pytest.raises(ConfigError, match=r"unknown action 'esat'; did you mean"):
            game.step("esat")
        while not game.ended:
            game.step("west")
        with pytest.raises(ConfigError, match="the game is over"):
            game.step("west")


def test_a_game_by_hand_is_the_game_of_a_run(tmp_path: Path) -> None:
    words = ("env.seeding=fixed", "env.seeds=[7]", "env.episodes=1", "limits.steps=1")
    first = next(balrog_rag.evaluate(*SHORT, *words, folder=tmp_path / "run").events())
    with balrog_rag.make(CORRIDOR, seed=7) as game, balrog_rag.make(CORRIDOR, seed=8) as other:
        assert isinstance(first, Started)
        assert game.observation.digest == first.observation.digest != other.observation.digest


@pytest.mark.parametrize(
    ("task", "options", "said"),
    [
        ("minihack", {}, "expected env/task"),
        ("minihack/MiniHack-Corridor-R9-v0", {}, "unknown task"),
        (CORRIDOR, {"layuot": "x"}, "no such option of minihack; did you mean layout"),
    ],
)
def test_a_game_that_cannot_be_is_refused(task: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        balrog_rag.make(task, **options)


def test_a_run_shows_its_figures(run: balrog_rag.Run) -> None:
    assert run.complete
    assert run.troubles == []
    assert run.summary["environments"]["minihack"]["episodes_played"] == 2
    assert list(run.episodes["steps"]) == [6, 6]
    assert len(run.steps(1)) == 6
    assert (run.folder / "summary.json").is_file()
    assert balrog_rag.load(run, run.folder).shape[0] == 4
    assert "2 episodes ended" in repr(run)


def test_an_episode_is_walked_event_by_event(run: balrog_rag.Run) -> None:
    kinds = Counter(type(event).__name__ for event in run.events(f"{CORRIDOR}/01"))
    assert kinds == {"Started": 1, "Asked": 6, "Answered": 6, "Stepped": 6, "Ended": 1}


def test_who_stops_reading_stops_the_replay(run: balrog_rag.Run) -> None:
    walk = run.events()
    next(walk)
    walk.close()
    assert list(walk) == []


def test_a_difference_is_raised_where_events_are_read(run: balrog_rag.Run, tmp_path: Path) -> None:
    journal = tmp_path / "copy.journal.jsonl"
    journal.write_bytes(run.journal().read_bytes())
    edit_journal(journal, "step", lambda entry: entry.update(obs="0" * 32), at=3)
    walk = balrog_rag.events(journal)
    with pytest.raises(ReplayError, match="step 3"):
        list(walk)


def test_an_episode_that_is_not_there_is_named(run: balrog_rag.Run, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown episode"):
        run.events(f"{CORRIDOR}/07")
    with pytest.raises(ConfigError, match="2 finished episodes, counted"):
        run.steps(2)
    with pytest.raises(RunFolderError, match="not a run folder"):
        balrog_rag.Run(tmp_path)


def test_in_a_running_loop_a_run_is_awaited(tmp_path: Path) -> None:
    async def notebook() -> balrog_rag.Run:
        with pytest.raises(ConfigError, match=r"await balrog_rag\.aevaluate"):
            balrog_rag.evaluate(*SHORT)
        made = await balrog_rag.aevaluate(*SHORT, "env.episodes=1", folder=tmp_path / "run")
        assert len(list(made.events())) == 20  # a replay beside the loop that runs
        return made

    assert asyncio.run(notebook()).complete


class Silent:
    """A model defined in a notebook, which answers eight times and then fails until it is repaired."""

    name, left = "silent", 8

    def __init__(self, config: Any) -> None:
        pass

    async def complete(self, request: Request) -> Reply:
        """North, while it lasts."""
        if not Silent.left:
            raise ModelUnavailable("no answer")
        Silent.left -= 1
        return Reply("north")

    async def close(self) -> None:
        """Do nothing."""


def test_a_run_that_was_cut_is_gone_on_with(tmp_path: Path) -> None:
    balrog_rag.register.model("silent")(Silent)
    words = [*SHORT, "model.backend=silent"]
    with pytest.warns(UserWarning, match="no answer"):
        cut = balrog_rag.evaluate(*words, folder=tmp_path / "run")
    assert not cut.complete
    assert any("not finished" in line or "no answer" in line for line in cut.troubles)
    Silent.left = 4
    assert cut.resume().complete
    assert Silent.left == 0  # nothing was asked twice


@pytest.mark.parametrize("words", [("-m", "agent=naive,cot"), ("agent=niave",), ("model.api_key=sk-1",)])
def test_what_cannot_begin_is_raised_and_leaves_no_folder(words: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        balrog_rag.evaluate(*words, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_two_runs_are_compared(run: balrog_rag.Run) -> None:
    found = balrog_rag.compare(run, run)
    assert found.sentence.startswith("undecided: ")
    assert list(found.environments) == ["minihack"]
    with pytest.raises(ConfigError, match="unknown measure"):
        balrog_rag.compare(run, run, measure="progresion")


def test_plain_numbers_are_judged() -> None:
    low, high = [1.0, 2, 3, 4, 5, 6], [13.0, 14, 15, 16, 17, 19]
    assert balrog_rag.verdict(low, high).clear
    assert balrog_rag.verdict(low, high, paired=True).paired == 6
    assert not balrog_rag.verdict(low, low).clear


def test_the_knowledge_base_is_searched() -> None:
    found = balrog_rag.search("floating eye", 3, "knowledge.index=bm25")
    assert len(found) == 3
    assert any("floating eye" in passage.title.lower() for passage in found)


class North:
    """An agent defined in a notebook, which asks no model."""

    asks_model = False

    def __init__(self, *_: Any) -> None:
        pass

    async def act(self, observation: Observation) -> Decision:
        """Go north."""
        return Decision("north")

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Remember nothing."""


def to_the_end(begin: Begin) -> Program:
    """Count to the end."""
    while True:
        yield "count"


class Counting:
    """A game defined in a notebook: ends at three."""

    def __init__(self, spec: GameSpec, ttyrec: str | None) -> None:
        self.view = TaskView(
            spec.env, spec.task, "count", {"count": "one more"}, frozenset(["count"]), "count"
        )
        self.count = 0

    def reset(self) -> Transition:
        """Begin at nothing."""
        text = str(self.count)
        seen = Observation((Part("count", text),), {"count": self.count}, f"{self.count:032}")
        return Transition(seen, ended="solved" if self.count == 3 else "")

    def step(self, action: str) -> Transition:
        """One more."""
        self.count += 1
        return self.reset()

    def close(self) -> None:
        """Do nothing."""


class Thirds:
    """Progression by the count."""

    value, reached = 0.0, ""

    def __init__(self, spec: GameSpec) -> None:
        pass

    def milestones(self) -> Mapping[str, list[str]]:
        """None."""
        return {}

    def see(self, numbers: Mapping[str, int], reward: float, ended: str) -> None:
        """A third each."""
        self.value = numbers["count"] / 3


def counting(name: str) -> EnvironmentKind:
    """The kind of that game."""
    return EnvironmentKind(
        name=name,
        title="Count",
        tasks=lambda: ["three"],
        make=Counting,
        progress=Thirds,
    )


def test_what_a_notebook_defines_is_played_and_replayed(tmp_path: Path) -> None:
    balrog_rag.register.agent("north")(North)
    balrog_rag.register.program(ProgramKind(name="counter", make=to_the_end, plays=True))
    balrog_rag.register.environment(counting("count"))
    balrog_rag.register.environment(counting("count"))  # the cell is run again
    north = balrog_rag.evaluate(*SHORT, "agent=north", folder=tmp_path / "north")
    assert set(north.steps()["taken"]) == {"north"}
    words = ("runner.log=none", "env.tasks=[count/three]", "env.episodes=1")
    counted = balrog_rag.evaluate("agent=counter", *words, folder=tmp_path / "counted")
    assert counted.summary["average_progress"] == 100.0
    assert [type(event).__name__ for event in counted.events()][-1] == "Ended"


def test_what_is_built_in_is_not_replaced() -> None:
    with pytest.raises(ConfigError, match="'naive' already exists"):
        balrog_rag.register.agent("naive")(SimpleNamespace)
    with pytest.raises(ConfigError, match="'nle' already exists"):
        balrog_rag.register.environment(counting("nle"))
