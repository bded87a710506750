"""A configuration from kept presets is the one that Hydra composes from the same overrides."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.config import presets
from balrog_rag.config.compose import as_hydra_wants, compose
from balrog_rag.config.groups import group_options
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError

CHOICES = ["agent=naive", "env=minihack", "model=scripted", "+experiment=paper_figure3"]
VALUES = [
    ["limits.steps=7", "limits.steps=null"],
    ["env.tasks=[minihack/MiniHack-Corridor-R3-v0]", "env.character='@'"],
    ["agent.max_text_history=3", "env.options={character: mon-hum-neu-mal}"],
    ["+model.options.answers=[look, wait]", "model.options={latency: 0.5}"],
    ["knowledge.prior=null", "env.max_steps={nle: 9, minihack: 8}", "++env.max_steps.nle=10"],
]
REFUSED = [
    "limits.steps=many",
    "limits.steps=1,2",
    "~limits.steps",
    "env.options.[=3",
    "+agent/common=defaults",
    "hydra.job.name=x",
    "agent.history=3",
    "env.tasks=x",
]


def by_hydra(words: list[str]) -> Any:
    """What Hydra makes of all overrides at once."""
    return presets._by_hydra([as_hydra_wants(word) for word in words], None)


@pytest.mark.parametrize("values", VALUES)
def test_values_on_kept_presets_are_those_that_hydra_sets(values: list[str]) -> None:
    from omegaconf import OmegaConf

    words = [as_hydra_wants(word) for word in [*CHOICES[:3], *values]]
    for _ in range(2):  # composed, then kept
        found = presets.composed(words, group_options(), None)
        expected = by_hydra([*CHOICES[:3], *values])
        assert OmegaConf.to_container(found.tree) == OmegaConf.to_container(expected.tree)
        assert found.model == expected.model == "scripted"


def test_values_of_one_configuration_do_not_reach_the_next() -> None:
    before = asdict(compose(CHOICES))
    changed = compose([*CHOICES, "limits.steps=9", "env.options.autopickup=true", "model.name=x"])
    changed.agent.prompts["system"] = "changed by whoever got it"
    assert asdict(compose(CHOICES)) == before


@pytest.mark.parametrize("word", REFUSED)
def test_what_hydra_refuses_is_left_to_it(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compose([*CHOICES[:3]])
    kept = _outcome(word)
    monkeypatch.setattr(presets, "_values", lambda words: None)
    assert kept == _outcome(word)


def _outcome(word: str) -> object:
    try:
        return asdict(compose([*CHOICES[:3], word]))
    except ConfigError as error:
        return str(error)


def test_an_edited_preset_is_read_again(tmp_path: Path) -> None:
    preset = tmp_path / "agent/mine.yaml"
    preset.parent.mkdir()
    words = [f"conf_dir={tmp_path}", "agent=mine", "model=scripted"]
    for length in (3, 5):
        preset.write_text(f"defaults: [naive, _self_]\nmax_text_history: {length}\n")
        os.utime(preset, ns=(length, length))
        assert compose(words).agent.max_text_history == length


def test_a_plugin_registered_since_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="agent=newest: no such agent"):
        compose(["agent=newest", "model=scripted"])
    naive = registry.agents.get("naive")
    monkeypatch.setattr(registry.agents, "_added", {**registry.agents._added, "newest": naive})
    assert compose(["agent=newest", "model=scripted"]).agent.name == "newest"
