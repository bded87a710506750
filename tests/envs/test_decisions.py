"""Decisions: every state is reached exactly, judged by the game alone, for any player."""

import asyncio
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

import balrog_rag
from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import GameSpec, Seeds, Transition
from balrog_rag.contracts.errors import ConfigError, EnvironmentFailure
from balrog_rag.contracts.kinds import check_game
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.decisions.kind import available, world
from balrog_rag.envs.decisions.recorded_states import path_of, recorded
from balrog_rag.envs.decisions.situations import SITUATIONS
from balrog_rag.results.run_folder import journal_path
from balrog_rag.results.runs import load
from balrog_rag.results.tally import read_episode
from balrog_rag.run.episode_runner import EpisodePlayer
from balrog_rag.run.plan import plan
from balrog_rag.run.replay import verify
from balrog_rag.run.services import player_spec
from balrog_rag.workers.host import HostedGame
from tests.conftest import Specs

Player = Callable[..., EpisodePlayer]
RECORDED = [name for name, situation in SITUATIONS.items() if not situation.made]
MADE = [name for name, situation in SITUATIONS.items() if situation.made]


@cache
def base(overrides: tuple[str, ...]) -> GameSpec:
    words = ["agent=random", "env.tasks=[decisions/shop]", "env.seeding=list", "env.seeds=[0]", *overrides]
    config = compose(["model=scripted", "env.episodes=1", *words])
    return plan(config, player_spec(config))[0].game


def game_of(task: str, number: int = 0, *overrides: str) -> GameSpec:
    return msgspec.structs.replace(base(overrides), task=task, seeds=Seeds(number, number))


class Hand:
    """Plays a game by plain actions."""

    def __init__(self, game: GameSpec) -> None:
        self.game = HostedGame(game)
        self.last: Transition = self.game.start

    def take(self, *actions: str) -> Transition:
        for action in actions:
            if not self.last.ended:
                self.last = self.game.step(action)
        return self.last

    def letter(self, words: str) -> str:
        found = re.search(rf"^(\w): .*{words}", self.last.observation.text("inventory"), re.M)
        assert found, self.last.observation.text("inventory")
        return found[1]


@pytest.mark.parametrize("number", [0, 2, 3])
def test_made_situations_can_be_resolved_within_their_actions(number: int) -> None:
    hand = Hand(game_of("shop", number))
    hand.take("drop", hand.letter("pick-axe"))
    y = hand.last.observation.numbers["y"]
    hand.take(*["north" if y > 10 else "south"] * abs(y - 10))
    assert hand.take(*["east"] * 12).ended == Outcome.SOLVED

    hand = Hand(game_of("drawbridge", number))
    hand.take("pickup", ",", "more")
    hand.take("zap", hand.letter("named opening"), "north")
    assert hand.take(*["north"] * 5).ended == Outcome.SOLVED

    hand = Hand(game_of("sokoban", number))
    numbers = hand.last.observation.numbers
    hand.take(*["north"] * (numbers["y"] - 8), *["east"] * (36 - numbers["x"]), "south", "southwest")
    assert hand.take(*["east"] * 5, "far east").ended == Outcome.SOLVED

    hand = Hand(game_of("falling_rocks", number))
    hand.take("pickup")
    if "fedora (being worn)" in hand.last.observation.text("inventory"):
        hand.take("takeoff", hand.letter("fedora"), "wait")
    hand.take("wear", hand.letter("hard hat|iron helm"), "wait")
    assert hand.take(*["east"] * 16).ended == Outcome.SOLVED


@pytest.mark.parametrize("task", MADE)
def test_made_situations_are_not_resolved_by_doing_nothing(task: str) -> None:
    hand = Hand(game_of(task))
    assert hand.take(*["search"] * 20).ended == Outcome.FAILED
    assert hand.last.observation.numbers["turns_left"] == 0


@pytest.mark.parametrize("task", RECORDED)
def test_a_recorded_state_is_reached_and_described(task: str) -> None:
    states = recorded(task).states
    assert available(task) == len(states) >= 10
    hand = Hand(game_of(task))
    assert hand.last.observation.numbers["turn"] == states[0].turn
    prayed = "has not prayed" if states[0].prayed < 0 else f"{states[0].turn - states[0].prayed} turns ago"
    assert prayed in hand.game.view.goal


@pytest.mark.slow
@pytest.mark.parametrize("task", RECORDED)
def test_every_recorded_state_is_reached_exactly(task: str) -> None:
    """The screen's digest is compared when a game is opened."""
    for number in range(available(task)):
        HostedGame(game_of(task, number)).close()


def test_a_screen_that_differs_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    state = msgspec.structs.replace(recorded("dwarf").states[0], keys=recorded("dwarf").states[0].keys[:-3])
    monkeypatch.setattr(
        "balrog_rag.envs.decisions.game.recorded", lambda task: SimpleNamespace(states=[state])
    )
    with pytest.raises(EnvironmentFailure, match="another screen than recorded"):
        HostedGame(game_of("dwarf"))


def test_after_its_last_action_a_hero_waits_until_everybody_is_judged() -> None:
    """Keys that take no time are actions, too; the judgement comes at the same turn."""
    hand = Hand(game_of("floating_eye"))
    begun = hand.last.observation.numbers["turn"]
    hand.take(*["esc"] * 19)
    assert (hand.last.ended, hand.last.observation.numbers["turn"]) == ("", begun)
    ended = hand.take("esc")
    assert ended.ended in (Outcome.SOLVED, Outcome.FAILED, Outcome.DIED)
    assert ended.observation.numbers["calls"] == 20
    assert ended.ended == Outcome.DIED or ended.observation.numbers["turn"] >= begun + 20


def test_a_longer_budget_is_an_option() -> None:
    hand = Hand(game_of("floating_eye", 0, "env.options.calls=30"))
    assert hand.take(*["esc"] * 29).ended == ""


@pytest.mark.parametrize(
    ("agent", "actions", "task"),
    [("delver", "full", "starving"), ("naive", "balrog", "dwarf"), ("cot", "plan", "sokoban")],
)
def test_decisions_are_journaled_scored_and_verified(
    specs: Specs, player: Player, tmp_path: Path, agent: str, actions: str, task: str
) -> None:
    words = (f"env.tasks=[decisions/{task}]", "env.seeding=list", "env.seeds=[0]", f"env.actions={actions}")
    (spec,) = specs(f"agent={agent}", *words, steps=None)
    end = asyncio.run(player()(spec))
    path = journal_path(tmp_path / "run", spec.episode)
    assert asyncio.run(verify(path)).complete
    played = read_episode(path)
    assert played is not None
    assert played.progression == (1.0 if end.outcome == Outcome.SOLVED else 0.0)
    if agent != "delver":
        assert end.steps <= 20


def test_only_existing_states_are_planned(specs: Specs) -> None:
    few, seeds = "soldier_ants", f"env.seeds={list(range(30))}".replace(" ", "")
    words = ("agent=random", "env.tasks=[decisions/soldier_ants,decisions/dwarf]", "env.seeding=list", seeds)
    planned = specs(*words, episodes=30)
    assert len(planned) == available(few) + 30
    with pytest.raises(ConfigError, match=f"has no state {available(few)}"):
        check_game(
            msgspec.structs.replace(planned[0].game, task=few, seeds=Seeds(available(few), available(few)))
        )
    with pytest.raises(ConfigError, match="states are numbered"):
        check_game(msgspec.structs.replace(planned[0].game, seeds=Seeds(1, 2)))


def test_states_of_one_game_are_one_world() -> None:
    """Statistics resample by world, so a game that gave two states counts once."""
    worlds = [world(game_of(task, n)) for task in RECORDED for n in range(3)]
    games = [recorded(task).states[n].core for task in RECORDED for n in range(3)]
    assert len(set(worlds)) == len(set(games))
    assert world(game_of("shop", 0)) != world(game_of("sokoban", 0))


def test_the_recorded_states_are_small_and_each_from_another_game() -> None:
    assert sum(path_of(task).stat().st_size for task in RECORDED) < 5_000_000
    for task in RECORDED:
        cores = [state.core for state in recorded(task).states]
        assert len(set(cores)) == len(cores)
        assert recorded(task).found >= len(cores)


def test_a_run_of_all_states_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    states = ("env.tasks=[decisions/soldier_ants]", "env.seeding=list", f"env.seeds={[*range(30)]}")
    words = ("agent=random", "run.name=all", "runner.log=none", *(word.replace(" ", "") for word in states))
    balrog_rag.evaluate(*words)
    found = load(tmp_path / "results" / "all")
    assert (len(found.episodes), found.partial, len(found.unfinished)) == (available("soldier_ants"), "", 0)
