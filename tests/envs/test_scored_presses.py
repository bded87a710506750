"""Several presses per step: each is scored separately, like the same presses made by an agent."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from balrog_rag.contracts import registry
from balrog_rag.contracts.data import GameSpec, Observation, Part, ProgramPlayer, Seeds, TaskView, Transition
from balrog_rag.contracts.kinds import EnvironmentKind, Share, follow, kind_of
from balrog_rag.contracts.programs import Begin, Program, ProgramKind
from balrog_rag.envs.minihack.kind import Solved
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Header
from balrog_rag.episode.journal_writer import Writer
from balrog_rag.results.run_folder import journal_path
from balrog_rag.results.tally import read_episode
from balrog_rag.run.replay import verify
from balrog_rag.workers.host import HostedGame

REWARDS = {"half": 0.5, "whole": 1.0, "cost": -0.1, "down": 0.0, "up": 0.0}


class Shaft:
    """A game of rewards and of a depth that can fall again."""

    def __init__(self) -> None:
        self.view = TaskView("shaft", "one", "", dict.fromkeys(REWARDS, ""), frozenset(REWARDS), "cost")
        self.depth = 1

    def reset(self) -> Transition:
        return self.seen(0.0)

    def step(self, action: str) -> Transition:
        self.depth += {"down": 1, "up": -1}.get(action, 0)
        return self.seen(REWARDS[action])

    def seen(self, reward: float) -> Transition:
        parts = (Part("observation", f"depth {self.depth}"),)
        return Transition(Observation(parts, {"depth": self.depth}, str(self.depth)), reward)

    def close(self) -> None:
        pass


class Deepest(Share):
    def see(self, numbers: Mapping[str, int], reward: float, ended: str) -> None:
        self.value = max(self.value, numbers["depth"] / 10)


@pytest.fixture
def shaft(monkeypatch: pytest.MonkeyPatch) -> Callable[..., float]:
    """The progression after one call of a program that makes these presses."""

    def played(progress: Callable[[GameSpec], Any], *presses: str) -> float:
        def press(begin: Begin) -> Program:
            for each in presses:  # noqa: UP028 - screens are sent in, which no tuple takes
                yield each
            return "done"

        kind = EnvironmentKind(
            name="shaft",
            title="Shaft",
            tasks=lambda: ("one",),
            make=lambda *_: Shaft(),
            progress=progress,
        )
        monkeypatch.setattr(registry.environments, "_added", {"shaft": kind})
        monkeypatch.setattr(registry.programs, "_added", {"press": ProgramKind(name="press", make=press)})
        spec = GameSpec("shaft", "one", Seeds(1, 1), programs=("press",))
        step = HostedGame(spec).step("press")
        fed = progress(spec)
        follow(fed, step, step.observation.numbers)
        assert step.reward == pytest.approx(sum(REWARDS[each] for each in presses))
        return float(fed.value)

    return played


def test_a_reward_of_one_press_counts_whatever_the_others_cost(shaft: Callable[..., float]) -> None:
    assert shaft(lambda spec: Solved(), "cost", "whole", "cost") == 1.0


def test_rewards_of_several_presses_do_not_add_up_to_one_that_counts(shaft: Callable[..., float]) -> None:
    """MiniHack's ExploreMaze is worth 0.5 an apple."""
    assert shaft(lambda spec: Solved(), "half", "half", "half") == 0.0


def test_a_depth_that_a_program_only_passes_through_counts(shaft: Callable[..., float]) -> None:
    assert shaft(lambda spec: Deepest(), "down", "down", "up", "up") == 0.3


ROOM = "env.tasks=[minihack/MiniHack-Room-5x5-v0]"


@pytest.fixture
def played(
    specs: Callable[..., Any], player: Callable[..., Any], tmp_path: Path
) -> Callable[..., list[Path]]:
    def episodes(*words: str, count: int = 3) -> list[Path]:
        made = specs(*words, episodes=count, steps=60)
        for spec in made:
            asyncio.run(player()(spec))
        return [journal_path(tmp_path / "run", spec.episode) for spec in made]

    return episodes


@pytest.mark.parametrize("words", [("agent=netplay", "env.actions=skills"), ("agent=random",)])
def test_a_solved_task_counts_in_full(played: Callable[..., list[Path]], words: tuple[str, ...]) -> None:
    paths = played(ROOM, *words, count=6)
    solved = [episode for path in paths if (episode := read_episode(path)).outcome == "solved"]
    assert any(episode.keys > 1 and episode.total_reward < 1 for episode in solved)
    assert all(episode.progression == 1.0 for episode in solved)


def test_a_journal_from_before_is_replayed_and_scored_by_what_the_game_said(
    played: Callable[..., list[Path]],
) -> None:
    for path in played(ROOM, "agent=netplay", "env.actions=skills"):
        recording = journal.read(path)
        before = [_as_before(entry) for entry in recording.entries]
        assert before != list(recording.entries)
        _write(path, recording.header, before)
        assert asyncio.run(verify(path)).complete
        assert read_episode(path).progression == 1.0


def _as_before(entry: journal.Event) -> journal.Event:
    if not isinstance(entry, journal.Step):
        return entry
    return msgspec.structs.replace(entry, rises=(), by_press=False)


def _write(path: Path, header: Header | None, entries: list[journal.Event]) -> None:
    path.unlink()
    with Writer(path) as writer:
        for entry in (header, *entries):
            assert entry is not None
            writer.append(entry)


@pytest.mark.parametrize(
    ("player", "task", "steps"),
    [
        *(("scripted", f"babyai/BabyAI-MixedTrainLocal-v0/{errand}", 128) for errand in ("goto", "open")),
        ("scripted", "babaisai/env/goto_win", 100),
        ("scripted", "crafter/default", 150),
        ("random", "babaisai/env/goto_win", 100),
        ("random", "minihack/MiniHack-Room-5x5-v0", 100),
        ("random", "nle/NetHackChallenge-v0", 300),
    ],
)
def test_a_programs_game_scores_as_its_presses_one_by_one(player: str, task: str, steps: int) -> None:
    """By BALROG's rule of every environment: achievements of Crafter, rewards of the others."""
    env, _, name = task.partition("/")
    kind = kind_of(env)
    spec = GameSpec(env, name, Seeds(5, 5), steps, msgspec.to_builtins(kind.options()))
    game, fed, pressed, ended = HostedGame(spec), kind.progress(spec), list[Any](), ""
    fed.see(game.start.observation.numbers, 0.0, "")
    while not ended:
        step = game.run(ProgramPlayer(player, {}, 5), 4096)
        pressed, ended = [*pressed, *step.pressed], step.ended
        follow(fed, step, step.observation.numbers, ended)
    single, one = HostedGame(spec), kind.progress(spec)
    one.see(single.start.observation.numbers, 0.0, "")
    for step in single.play([str(press) for press in pressed]):
        follow(one, step, step.observation.numbers, step.ended)
    assert step.ended == ended
    assert fed.value == one.value
