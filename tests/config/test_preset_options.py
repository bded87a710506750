"""Options of presets that no chosen game has are dropped; those typed by the user are rejected."""

import json
from pathlib import Path

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.run.arms_of_words import named
from balrog_rag.run.plan import kinds_in
from tests.support import evaluate

STOCK = ("+experiment=balrog", "model=scripted")


@pytest.mark.parametrize(
    "words",
    [
        (*STOCK, "env=babyai"),
        (*STOCK, "env=crafter"),
        (*STOCK, "env=babaisai"),
        (*STOCK, "env=textworld"),
        (*STOCK, "env=minihack"),
        (*STOCK, "env=nethack"),
        ("env=balrog", "env.tasks=[crafter/default]"),
        ("+experiment=ladder", "env=crafter"),
    ],
)
def test_a_preset_can_be_played_on_each_environment_alone(words: tuple[str, ...]) -> None:
    config = named(compose(list(words)), words)
    kinds = kinds_in(config)
    for kind in kinds:
        resolved_options(kind, config.env.options, kinds)
    assert not any("env.options" in said for said in config.run.departures)


def test_options_that_a_chosen_game_has_are_kept() -> None:
    assert compose([*STOCK, "env=nethack"]).env.options["character"] == "@"
    assert compose([*STOCK, "env=babyai"]).env.options == {"layout": "hybrid"}
    both = "env.tasks=[crafter/default,nle/NetHackChallenge-v0]"
    assert compose(["env=balrog", both]).env.options == {"actions": "balrog"}


@pytest.mark.parametrize(
    "typed",
    ["env.character=@", "env.options.character=@", "++env.character=@", 'env.options={character: "@"}'],
)
def test_what_the_user_typed_is_refused(typed: str) -> None:
    config = compose([*STOCK, "env=babyai", typed])
    (kind,) = kinds_in(config)
    with pytest.raises(ConfigError, match=r"env\.character: no such option of babyai"):
        resolved_options(kind, config.env.options, [kind])


def test_balrogs_setting_is_played_and_frozen_without_what_the_game_lacks(tmp_path: Path) -> None:
    words = (*STOCK, "env=babyai", "env.tasks=[babyai/BabyAI-MixedTrainLocal-v0/goto]")
    done = evaluate(*words, "env.episodes=1", "limits.steps=2", "run.name=r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    frozen = json.loads((tmp_path / "results/r/config.json").read_text())["config"]
    assert frozen["env"]["options"] == {"layout": "hybrid"}
