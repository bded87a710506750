"""Any call, however foolish, ends with a reason: random skills with random arguments in many games."""

import os
from random import Random

import pytest

from balrog_rag.bots.nethack.netplay.skills import OFFERED, OTHERS
from balrog_rag.contracts.data import Action, Parameter
from balrog_rag.envs.nethack.characters import characters
from balrog_rag.workers.host import HostedGame
from tests.envs.support import nethack

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ$-*?#,.<>:;_"


def argument(dice: Random, parameter: Parameter) -> str:
    """An argument that is valid, or almost."""
    if parameter.choices:
        return dice.choice(parameter.choices)
    if parameter.kind == "integer":
        low = parameter.least or 0
        return str(dice.choice([dice.randint(low, 25), dice.randint(low, 90), low or -1, 10**17]))
    if parameter.kind == "word":
        return dice.choice([*LETTERS, "ESC", "ENTER", "SPACE", "esc", "é", "xy"])
    return " ".join("".join(dice.choices(LETTERS, k=dice.randint(1, 9))) for _ in range(dice.randint(1, 2)))


def call(dice: Random, action: Action) -> str:
    """A call that the view accepts."""
    needed = [each for each in action.parameters if not each.optional]
    others = [each for each in action.parameters if each.optional]
    given = [*needed, *(others[: dice.randint(0, len(others))])]
    return " ".join([action.name, *(argument(dice, each) for each in given)])


def play(seed: int, calls: int) -> int:
    """Play random calls in one game until it ends or the number is reached; count those with a reason."""
    dice = Random(seed)
    character = dice.choice(characters())
    game = HostedGame(
        nethack(seed, character, actions="skills", more_skills=True, no_progress=0, no_progress_calls=0)
    )
    actions = [kind.action for kind in (*OFFERED, *OTHERS)]
    likely = [
        action for action in actions if action.name in ("explore_level", "press_key", "move_to", "go_to")
    ]
    done = 0
    try:
        for number in range(calls):
            text = call(dice, dice.choice([*actions, *likely * 4]))
            if text.startswith("press_key") and dice.random() < 0.5:
                text = "press_key ESC"
            where = f"seed {seed}, {character}, call {number}: {text}"
            assert game.view.takes(text), where
            try:
                seen = game.step(text)
            except Exception as error:
                raise AssertionError(where) from error
            if seen.ended:
                return done + 1
            assert seen.stopped, where
            assert "\n" not in seen.stopped, where
            done += 1
    finally:
        game.close()
    return done


def test_random_calls_end_with_a_reason() -> None:
    assert sum(play(seed, 40) for seed in range(3)) > 60


@pytest.mark.slow
def test_ten_thousand_random_calls_end_with_a_reason() -> None:
    """Games that end are replaced; the first seed is printed, so that a failure can be played again."""
    first = int(os.environ.get("SEED", "1000"))
    total, games = 0, 0
    while total < 10_000 or games < 50:
        total += play(first + games, 200)
        games += 1
    print(f"seeds {first} to {first + games - 1}: {total} calls in {games} games")
