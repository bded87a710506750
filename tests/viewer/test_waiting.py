"""A page that waits for a long episode: what it is sent, and the first look at the step that it asked for."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import balrog_rag
from balrog_rag.contracts.data import GameSpec, Observation, Part, TaskView, Transition
from balrog_rag.contracts.kinds import EnvironmentKind
from balrog_rag.contracts.programs import Begin, Program, ProgramKind
from balrog_rag.results.run_folder import journals as journals_of
from balrog_rag.viewer import first_look, watching
from balrog_rag.viewer.episode_library import Library
from balrog_rag.viewer.packing import unpacked
from balrog_rag.viewer.rebuilding import RebuiltEpisode
from balrog_rag.viewer.server import listen
from tests.support import PATIENCE
from tests.viewer.support import Browser
from tests.viewer.test_accessible import RUN, axe  # noqa: F401 - a fixture
from tests.viewer.test_server import TOKEN, served

STEPS, HELD, WANTED = 200, 100, 150
BATCH = 64
"""Recorded steps that a game plays ahead of a replay: one that is held at step 100 shows 64."""


class Gate:
    """Holds games of the counting kind at a step, until it is opened."""

    def __init__(self) -> None:
        self.free = 0
        """Games that pass before one is held."""
        self.shift = 0
        """A game that counts otherwise than the recorded one did."""
        self.open = threading.Event()
        self.open.set()

    def close(self, free: int = 0) -> None:
        """Hold the game after the next `free` ones."""
        self.free = free
        self.open.clear()

    def passes(self) -> bool:
        """Whether a game that starts now is not held."""
        self.free -= 1
        return self.free >= 0


GATE = Gate()


class Counting:
    """A game that counts its steps."""

    def __init__(self, spec: GameSpec, recording: str | None) -> None:
        words = {"count": "one more"}
        self.view = TaskView(spec.env, spec.task, "count", words, frozenset(words), "count")
        self.count, self.passes = GATE.shift, GATE.passes()

    def reset(self) -> Transition:
        text = f"The count is {self.count}."
        return Transition(Observation((Part("count", text),), {"count": self.count}, f"{self.count:032}"))

    def step(self, action: str) -> Transition:
        self.count += 1
        if self.count == HELD and not self.passes:
            GATE.open.wait(PATIENCE)
        return self.reset()

    def close(self) -> None:
        pass


class Fifties:
    """Progression by fifties of the count."""

    value, reached = 0.0, ""

    def milestones(self) -> Mapping[str, list[str]]:
        return {}

    def see(self, numbers: Mapping[str, int], reward: float, ended: str) -> None:
        self.value = numbers["count"] // 50 / 100  # a burst of presses ends where it rises


def pressing(begin: Begin) -> Program:
    """A program that plays on."""
    while True:
        yield "count"


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Runs of an agent with a model, and of a program whose presses are recorded in bursts."""
    balrog_rag.register.environment(
        EnvironmentKind(
            name="gated",
            title="Count",
            tasks=lambda: ["far"],
            make=Counting,
            progress=lambda spec: Fifties(),
        )
    )
    balrog_rag.register.program(ProgramKind(name="presser", make=pressing, plays=True))
    top = tmp_path_factory.mktemp("counted")
    words = ("runner.log=none", "env.tasks=[gated/far]", "env.episodes=1", f"limits.steps={STEPS}")
    model = ("model=scripted", "model.options.answers=[count]")
    for agent, more in (("naive", model), ("presser", ())):
        balrog_rag.evaluate(f"agent={agent}", *more, *words, folder=top / agent)
    return {agent: top / agent for agent in ("naive", "presser")}


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """The gate; short episodes count as long, and nobody waits for a second."""
    monkeypatch.setattr(watching, "PATIENCE", 0.05)
    for module in (watching, first_look):
        monkeypatch.setattr(module, "FAR", 120)
    yield GATE
    GATE.open.set()
    GATE.shift = 0


Head = Callable[[str], Coroutine[Any, Any, dict[str, Any]]]


def asked(run: Path, checked: Callable[[Head], Coroutine[Any, Any, None]]) -> None:
    """Ask a served run for heads of its first episode."""

    async def within() -> None:
        async with served(run) as (ask, _):

            async def head(query: str) -> dict[str, Any]:
                status, body = await ask(f"/data/0/head{query}")
                assert status == 200, body
                found: dict[str, Any] = unpacked(body)
                return found

            await checked(head)

    asyncio.run(asyncio.wait_for(within(), PATIENCE))


def test_a_page_that_waits_is_sent_only_the_number_of_steps(counted: Mapping[str, Path], gate: Gate) -> None:
    waits = {"settled": False, "done": False, "waiting": True}

    async def checked(head: Head) -> None:
        gate.close()
        while (found := await head("?steps=110"))["steps"] < BATCH:
            assert found == {"steps": found["steps"], **waits}
        for query in ("?steps=110", ""):
            assert await head(query) == {"steps": BATCH, **waits}
        enough = await head(f"?steps={BATCH}")
        assert "waiting" not in enough
        assert (len(enough["actions"]["of"]), enough["settled"]) == (BATCH, False)
        gate.open.set()
        while (found := await head("?steps=110")).get("waiting"):
            pass
        assert len(found["actions"]["of"]) == found["steps"] >= 110
        while (found := await head("")).get("waiting"):
            pass
        assert (found["steps"], found["settled"], found["done"]) == (STEPS, True, True)

    asked(counted["naive"], checked)


def test_a_far_step_is_looked_at_before_the_others_are_rebuilt(
    counted: Mapping[str, Path], gate: Gate
) -> None:
    async def checked(head: Head) -> None:
        gate.close(free=1)
        while not (found := await head(f"?steps={WANTED}")).get("look"):
            assert found["waiting"]
        assert found["steps"] < HELD
        assert found["look"] == {
            "at": WANTED,
            "screen": {"rows": [f"The count is {WANTED}."], "colours": [], "cursor": None},
            "picture": None,
            "line": "",
            "do": "count",
            "answer": "count",
        }
        gate.open.set()
        while (found := await head(f"?steps={WANTED}")).get("waiting"):
            pass
        assert found["steps"] >= WANTED

    asked(counted["naive"], checked)


def look(run: Path, at: int) -> dict[str, Any] | None:
    return first_look.first_look(journals_of(run)[0], at)


def test_a_look_goes_into_a_burst_of_presses(counted: Mapping[str, Path], gate: Gate) -> None:
    for at in (1, 77, STEPS):
        found = look(counted["presser"], at)
        assert found is not None
        assert found["screen"]["rows"] == [f"The count is {at}."]
        assert found["do"] == ("count" if at < STEPS else "")


def test_a_game_that_goes_otherwise_is_not_looked_at(counted: Mapping[str, Path], gate: Gate) -> None:
    assert look(counted["naive"], WANTED) is not None
    gate.shift = 1
    assert look(counted["naive"], WANTED) is None
    assert look(counted["presser"], STEPS) is None
    gate.shift = 0
    assert first_look.first_look(journals_of(counted["naive"])[0], WANTED, lambda: True) is None


def test_a_look_shows_what_the_rebuilt_episode_does(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For an agent with a model and retrieval, and for one without a model."""
    monkeypatch.setattr(first_look, "FAR", 1)
    for name, at in (("told", 64), ("plain", 0)):
        path = journals_of(runs / name)[0]
        rebuilt = RebuiltEpisode(path)
        rebuilt.run()
        chunk = unpacked(rebuilt.collector.chunk(at // 64) or b"")
        found = first_look.first_look(path, at)
        assert found is not None
        cursor = found["screen"].pop("cursor")
        whole, placed, picture = chunk["screens"][0]
        assert (found["screen"], list(cursor), found["picture"]) == (whole, placed, picture)
        assert (found["line"], found["do"]) == (chunk["lines"][0], chunk["steps"][0]["do"])
        assert found["answer"] == next(
            (said["text"] for said in chunk["steps"][0].get("said", [])[::-1] if said.get("text")), ""
        )


@pytest.fixture
def address(counted: Mapping[str, Path], gate: Gate) -> Iterator[str]:
    """The address of a server in this process, whose games the gate holds."""
    library = Library([counted["naive"]])
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        runner, port = asyncio.run_coroutine_threadsafe(listen(library, 0, TOKEN), loop).result(PATIENCE)
        yield f"http://127.0.0.1:{port}/{TOKEN}/"
        gate.open.set()
        library.close()
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(PATIENCE)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()


@pytest.mark.slow
def test_the_page_shows_the_step_while_it_waits(
    browser: Browser,
    address: str,
    gate: Gate,
    axe: str,  # noqa: F811
) -> None:
    gate.close(free=1)
    browser.size(1200)
    browser.open(f"{address}#step={WANTED}", "document.querySelector('.early .screen pre')")
    shown = browser.js("document.querySelector('.early').innerText")
    assert f"The count is {WANTED}." in shown
    assert f"step {WANTED} count" in shown
    status = "document.querySelector('.early .waiting').textContent"
    browser.wait(f"{status} === 'Rebuilding gated/far/00: {BATCH} steps so far.'")
    browser.driver.execute_script(axe)
    assert browser.driver.execute_async_script(RUN) == []
    gate.open.set()
    browser.wait("document.querySelector('.episode .screen pre')")
    assert browser.js("document.querySelector('.early')") is None
    assert browser.js("document.querySelector('.count input').value") == str(WANTED)
    assert browser.logs()[0] == []
