"""Programs behind actions and programs that play: journaled, interrupted, replayed, forked."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from balrog_rag.contracts import registry
from balrog_rag.contracts.data import Parameter
from balrog_rag.contracts.errors import ConfigError, EnvironmentFailure
from balrog_rag.contracts.programs import Begin, Program, ProgramFailed, ProgramKind
from balrog_rag.episode import journal
from balrog_rag.episode.spec import Fork
from balrog_rag.results.run_folder import journal_path
from balrog_rag.run.replay import verify
from balrog_rag.workers.host import HostedGame
from tests.envs.support import nethack

TASKS = "env.tasks=[nle/NetHackChallenge-v0]"


def rest(begin: Begin) -> Program:
    """Search for this number of turns."""
    for _ in range(int(begin.arguments["turns"])):
        yield "search"
    return f"rested for {begin.arguments['turns']} turns"


def stumble(begin: Begin) -> Program:
    """Fail at the second press."""
    yield ord("s")
    raise ProgramFailed("there is nothing to stumble over")


def halt(begin: Begin) -> Program:
    """A player that stops after ten presses."""
    for _ in range(10):
        yield ord("s")
    return "it is tired"


REST = ProgramKind(name="rest", make=rest, says="let time pass", parameters=(Parameter("turns", least=1),))
CALM = ProgramKind(name="calm", make=rest, parameters=(Parameter("turns"),), interruptible=False)
STUMBLE = ProgramKind(name="stumble", make=stumble)
HALT = ProgramKind(name="halt", make=halt, plays=True)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {kind.name: kind for kind in (REST, CALM, STUMBLE, HALT)}
    monkeypatch.setattr(registry.programs, "_added", made)


def hosted(*programs: str, seed: int = 3) -> HostedGame:
    return HostedGame(msgspec.structs.replace(nethack(seed, no_progress=0), programs=programs))


def test_a_call_presses_until_it_ends_and_says_why() -> None:
    game = hosted("rest")
    assert game.view.actions["rest <turns>"] == "let time pass"
    assert "rest <turns>" not in game.view.plain
    done = game.step("rest 5")
    assert (done.stopped, done.keys, done.count) == ("rested for 5 turns", 5, 1)
    turns = [seen.observation.numbers["turn"] for seen in (game.start, done)]
    assert turns[1] - turns[0] in (4, 5)


def test_a_call_equals_the_same_presses_by_hand() -> None:
    by_call, by_hand = hosted("rest"), hosted()
    called = by_call.step("rest 3")
    pressed = by_hand.play(["search"] * 3)
    assert called.observation.numbers == pressed[-1].observation.numbers
    assert called.reward == sum(step.reward for step in pressed)


def test_a_program_that_fails_says_so() -> None:
    done = hosted("stumble").step("stumble")
    assert (done.stopped, done.keys) == ("failed: there is nothing to stumble over", 1)


def test_a_call_is_interrupted_by_what_happens() -> None:
    """In some of these games something comes into view or bites; others go on."""
    reasons = {hosted("rest", seed=seed).step("rest 400").stopped for seed in range(1, 7)}
    assert any(reason.startswith("interrupted: ") for reason in reasons), reasons
    for seed in range(1, 7):
        assert not hosted("calm", seed=seed).step("calm 30").stopped.startswith("interrupted")


def test_wrong_calls_are_no_actions() -> None:
    game = hosted("rest")
    assert not any(
        game.view.takes(text) for text in ("rest", "rest 0", "rest five", "rest 5 5", "rest5", "rests 5")
    )


@pytest.mark.parametrize(
    ("programs", "line"),
    [(("halt",), "halt plays whole episodes"), (("rset",), "unknown program 'rset'; did you mean rest")],
)
def test_programs_that_cannot_be_offered(programs: tuple[str, ...], line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        hosted(*programs)


def test_a_model_calls_programs_and_reads_why_they_stopped(
    specs: Callable, player: Callable, tmp_path: Path
) -> None:
    answers = "model.options.answers=['rest 3, rest 2', 'rest 400', 'north']"
    (spec,) = specs(TASKS, "agent=naive", "env.programs=[rest]", answers, "agent.batch.size=3", steps=8)
    asyncio.run(player()(spec))
    path = journal_path(tmp_path / "run", spec.episode)
    steps = journal.read(path).steps
    stops = [step.stopped for step in steps if step.taken.startswith("rest")]
    assert stops
    assert all(step.keys > 1 for step in steps if step.stopped.startswith("rested"))
    assert {step.notes.get("read", "strict") for step in steps if step.valid} == {"strict"}
    assert asyncio.run(verify(path)).steps == 8


def test_a_player_that_stops_is_one_line(specs: Callable, player: Callable) -> None:
    (spec,) = specs(TASKS, "agent=random", steps=50)
    agent = {**spec.player.agent, "name": "halt"}
    spec = msgspec.structs.replace(spec, player=msgspec.structs.replace(spec.player, agent=agent))
    with pytest.raises(
        EnvironmentFailure,
        match=r"program 'halt' stopped before nle/NetHackChallenge-v0 ended \(it is tired\); let",
    ):
        asyncio.run(player()(spec))


def test_a_programs_game_goes_on_by_an_agent_and_back(
    specs: Callable, player: Callable, tmp_path: Path
) -> None:
    (spec,) = specs(TASKS, "agent=random", steps=60)
    (agent,) = specs(TASKS, "agent=naive", steps=60)
    forks = (Fork(20, agent.player), Fork(30, spec.player))
    spec = msgspec.structs.replace(spec, forks=forks)
    end = asyncio.run(player()(spec))
    path = journal_path(tmp_path / "run", spec.episode)
    counts = [(step.n, step.count) for step in journal.read(path).steps]
    assert end.steps == 60
    assert [n for n, _ in counts if 20 <= n < 30] == list(range(20, 30))
    assert {20, 30} <= {n + count for n, count in counts}
    assert asyncio.run(verify(path)).complete


def test_bursts_end_where_progression_changes(specs: Callable, player: Callable, tmp_path: Path) -> None:
    (spec,) = specs(TASKS, "agent=random", steps=3000)
    asyncio.run(player()(spec))
    path = journal_path(tmp_path / "run", spec.episode)
    recording = journal.read(path)
    assert sum(step.count for step in recording.steps) == recording.end.steps
    assert path.stat().st_size < 100 * recording.end.steps
