"""Decisions: every state is reached exactly, judged by the game alone, for any player."""

import re
from collections.abc import Callable

import pytest

from balrog_rag.contracts.data import GameSpec, Transition
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.decisions.situations import SITUATIONS
from balrog_rag.run.episode_runner import EpisodePlayer
from balrog_rag.workers.host import HostedGame
from tests.conftest import Specs

Player = Callable[..., EpisodePlayer]
RECORDED = [name for name, situation in SITUATIONS.items() if not situation.made]
MADE = [name for name, situation in SITUATIONS.items() if situation.made]


def game_of(specs: Specs, task: str, number: int = 0, *overrides: str) -> GameSpec:
    seeds = f"env.seeds={list(range(number + 1))}".replace(" ", "")
    words = ("agent=random", f"env.tasks=[decisions/{task}]", "env.seeding=list", seeds, *overrides)
    return specs(*words, episodes=number + 1)[number].game


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


@pytest.mark.parametrize("number", range(5))
def test_made_situations_can_be_resolved_within_their_actions(specs: Specs, number: int) -> None:
    hand = Hand(game_of(specs, "shop", number))
    hand.take("drop", hand.letter("pick-axe"))
    x, y = (hand.last.observation.numbers[each] for each in "xy")
    hand.take(*["north" if y > 10 else "south"] * abs(y - 10))
    assert hand.take(*["east"] * 12).ended == Outcome.SOLVED

    hand = Hand(game_of(specs, "drawbridge", number))
    hand.take("pickup", ",", "more")
    hand.take("zap", hand.letter("named opening"), "north")
    assert hand.take(*["north"] * 5).ended == Outcome.SOLVED

    hand = Hand(game_of(specs, "sokoban", number))
    numbers = hand.last.observation.numbers
    hand.take(*["north"] * (numbers["y"] - 8), *["east"] * (36 - numbers["x"]), "south", "southwest")
    assert hand.take(*["east"] * 5, "far east").ended == Outcome.SOLVED

    hand = Hand(game_of(specs, "falling_rocks", number))
    hand.take("pickup")
    if "fedora (being worn)" in hand.last.observation.text("inventory"):
        hand.take("takeoff", hand.letter("fedora"), "wait")
    hand.take("wear", hand.letter("hard hat|iron helm"), "wait")
    assert hand.take(*["east"] * 16).ended == Outcome.SOLVED
