"""The game as TRL's environment, without a model."""

import inspect
from typing import Any

import pytest
from balrog_trl import BalrogGame

TASK = "babyai/BabyAI-MixedTrainLocal-v0/goto"


def test_its_only_tool_is_act_and_trl_can_describe_it() -> None:
    from transformers.utils import get_json_schema

    public = [name for name, _ in inspect.getmembers(BalrogGame, inspect.isfunction) if name[0] != "_"]
    assert sorted(public) == ["act", "get_reward", "reset"]
    schema = get_json_schema(BalrogGame().act)["function"]
    assert schema["parameters"]["required"] == ["action"]


@pytest.mark.parametrize(
    "task",
    [
        TASK,
        "nle/NetHackChallenge-v0",
        "crafter/default",
        "babaisai/env/goto_win",
        "minihack/MiniHack-Corridor-R3-v0",
    ],
)
def test_a_game_of_each_environment_can_be_played(task: str) -> None:
    game = BalrogGame()
    first = game.reset(task=task, split="train", index=0, max_steps=2, prompt="ignored", other=1)
    name = first.split("Actions:\n")[1].partition(":")[0]
    assert "game is over" not in game.act(name)
    assert "The game is over (steps)." in game.act(name)
    assert game.act(name) == "The game is over (steps)."
    reward = game.get_reward()
    assert reward is not None
    assert 0 <= reward <= 1


def test_a_row_is_one_game_and_another_row_another() -> None:
    game = BalrogGame()
    first = game.reset(task=TASK, split="train", index=1)
    assert game.reset(task=TASK, split="train", index=1) == first
    assert game.reset(task=TASK, split="train", index=2) != first


def test_an_unknown_action_is_explained_and_takes_no_step() -> None:
    game = BalrogGame()
    game.reset(task=TASK, seed=1, max_steps=1)
    assert "There is no action 'fly'. Choose one of: turn left" in game.act(" fly ")
    assert "game is over (steps)" in game.act("turn left")


def test_a_game_that_failed_has_no_reward() -> None:
    """TRL tells the model about an error of a tool and goes on, so it must not be scored as a lost game."""
    game = BalrogGame()
    assert game.get_reward() is None
    game.reset(task=TASK, seed=1)
    assert game.get_reward() == 0
    game._game.close()  # as if its engine had died
    game._game._hosted = None
    with pytest.raises(AttributeError):
        game.act("turn left")
    assert game.get_reward() is None
    game._game = None
    game.reset(task=TASK, seed=1)
    assert game.get_reward() == 0


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"task": "nle/NetHackChalenge-v0"}, "did you mean NetHackChallenge-v0"),
    ({"task": TASK, "split": "train"}, "split and index go together"),
    ({"task": TASK, "split": "trian", "index": 0}, "unknown split"),
    ({"task": TASK, "max_steps": 0}, "max_steps"),
    ({"task": "nethackers/val-dwa-law-fem", "split": "train", "index": 0}, "fixed list of games"),
]


@pytest.mark.parametrize(("row", "said"), WRONG)
def test_a_row_that_cannot_be_played_is_one_clear_error(row: dict[str, Any], said: str) -> None:
    with pytest.raises(Exception, match=said) as error:
        BalrogGame().reset(**row)
    assert "\n" not in str(error.value)
