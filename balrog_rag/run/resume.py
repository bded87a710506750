"""A run folder that exists: its configuration with the changes that a resume allows, and its episodes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import (
    CHANGEABLE_ON_RESUME,
    SETTLED,
    differing_keys,
    leaf_items,
    plain,
    thaw,
    with_value,
)
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results import run_folder
from balrog_rag.run.plan import plan
from balrog_rag.run.services import player_spec


def resumed_folder(words: Sequence[str]) -> tuple[Path | None, list[str]]:
    """Return the run folder named by `resume=`, if any, and the other overrides."""
    named = [word.partition("=")[2].strip("'\"") for word in words if word.startswith("resume=")]
    others = [word for word in words if not word.startswith("resume=")]
    if named and not named[-1]:
        raise ConfigError("resume= needs a run folder; pass resume=FOLDER")
    return (Path(named[-1]) if named and named[-1] != "null" else None), others


def resumed_config(run: Path, words: list[str]) -> Config:
    """Apply new overrides to the frozen configuration; refuse those that would change the episodes."""
    defaults = plain(compose([]))
    frozen = with_new_keys(run_folder.frozen_config(run).config, defaults)
    if not words:
        return thaw(frozen, Config)
    composed = plain(compose(words))
    asked, before = dict(leaf_items(composed)), dict(leaf_items(frozen))
    named = tuple(word.partition("=")[0].lstrip("+") for word in words)
    said = {key for key in asked if key in named or key.startswith(tuple(f"{n}." for n in named))}
    # An override that repeats a default does not differ from the defaults, but still must be applied
    # (or refused) if the frozen value is another one: hence the keys that were named explicitly.
    changed = {*differing_keys(defaults, composed), *said}
    changed = {key for key in changed if before.get(key) != asked.get(key)}
    # Settled keys are filled in when a run starts; null, their default, must not undo that.
    changed -= {key for key in SETTLED if asked.get(key) is None}
    refused = sorted(key for key in changed if not key.startswith(CHANGEABLE_ON_RESUME))
    if refused:
        raise ConfigError(
            f"{run}: resume cannot change {', '.join(refused)}; start a new run for another configuration"
        )
    for key in changed:
        frozen = with_value(frozen, key, asked.get(key))
    return thaw(frozen, Config)


def with_new_keys(frozen: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Add keys of newer versions to an old frozen configuration, if they cannot change an episode."""
    known = dict(leaf_items(frozen))
    for key, value in leaf_items(defaults):
        if key not in known and key.startswith(CHANGEABLE_ON_RESUME):
            frozen = with_value(frozen, key, value)
    return frozen


def specs_of(run: Path, config: Config) -> list[EpisodeSpec]:
    """Return the episodes of a run: those a fork wrote down, or those that the configuration plans."""
    player = player_spec(config)
    forked = [spec.with_last_player(player) for spec in run_folder.forked_specs(run)]
    return forked or plan(config, player)
