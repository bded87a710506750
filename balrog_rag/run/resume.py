"""A run folder that exists: its configuration with the changes that a resume allows, and its episodes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import (
    CHANGEABLE_ON_RESUME,
    FIXED,
    SETTLED,
    differing_keys,
    leaf_items,
    plain,
    thaw,
    with_value,
)
from balrog_rag.config.plain_secrets import refuse_in
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.episode.spec import EpisodeSpec, PlayerSpec
from balrog_rag.results.stored_run import StoredRun
from balrog_rag.run.plan import PlannedTask, plan_tasks, tasks_in
from balrog_rag.run.services import player_spec
from balrog_rag.run.sharding import in_shard


def resumed_config(stored: StoredRun, words: list[str]) -> Config:
    """Apply new overrides to the frozen configuration; refuse those that would change the episodes."""
    defaults = plain(compose([]))
    frozen = with_new_keys(stored.config, defaults)
    if words:
        frozen = with_overrides(stored.folder, frozen, defaults, words)
    config = thaw(frozen, Config)
    refuse_in(frozen)
    return config


def with_overrides(
    run: Path, frozen: dict[str, Any], defaults: dict[str, Any], words: list[str]
) -> dict[str, Any]:
    """Return the configuration with the settings that the overrides change."""
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
    refused = sorted(key for key in changed if key in FIXED or not key.startswith(CHANGEABLE_ON_RESUME))
    if refused:
        raise ConfigError(
            f"{run}: resume cannot change {', '.join(refused)}; start a new run for another configuration"
        )
    for key in changed:
        frozen = with_value(frozen, key, asked.get(key))
    return frozen


def with_new_keys(frozen: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Add keys of newer versions to an old frozen configuration, if they cannot change an episode."""
    known = dict(leaf_items(frozen))
    for key, value in leaf_items(defaults):
        if key not in known and key.startswith(CHANGEABLE_ON_RESUME):
            frozen = with_value(frozen, key, value)
    return frozen


def specs_of(stored: StoredRun) -> Sequence[EpisodeSpec]:
    """Return the episodes of a run as it was started."""
    config = resumed_config(stored, [])
    return specs_for(stored.forked, config, tasks_in(config), player_spec(config))


def specs_for(
    forked: Sequence[EpisodeSpec], config: Config, tasks: Sequence[PlannedTask], player: PlayerSpec
) -> Sequence[EpisodeSpec]:
    """Return the episodes that a fork wrote down, with this last player, or those of its plan."""
    if forked:
        return [spec.with_last_player(player) for spec in forked]
    return in_shard(plan_tasks(config, tasks, player), config.runner)
