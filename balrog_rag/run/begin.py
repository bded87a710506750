"""How a run begins: from overrides to a folder with a frozen configuration and episodes to play.

Both the commands and `import balrog_rag` begin runs here.
"""

import itertools
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from balrog_rag import agents, knowledge
from balrog_rag import models as llm
from balrog_rag.agents import demonstration_choice
from balrog_rag.agents.lookup_worth import check_gate
from balrog_rag.agents.prompts import fingerprint
from balrog_rag.config.checks import check_together
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
from balrog_rag.config.plain_secrets import refuse_in
from balrog_rag.config.schema import AgentConfig, Config, ModelConfig, RunConfig
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.programs import plays, program_of
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.models.api_keys import refuse_unanswerable
from balrog_rag.models.budget import capped_in_dollars, unpriced
from balrog_rag.models.calls import price_known
from balrog_rag.results import run_folder
from balrog_rag.results.run_seal import mark_new
from balrog_rag.run.arms_of_words import experiment_of
from balrog_rag.run.backend import PlannedRun
from balrog_rag.run.plan import kinds_in, plan
from balrog_rag.run.provenance import record_attempt
from balrog_rag.run.run import BackendOf, Display, RunOutcome, play_runs
from balrog_rag.run.services import LiveServices, player_spec, resolved
from balrog_rag.run.trust import refuse_stranger
from balrog_rag.run.user_watchers import chosen_watchers
from balrog_rag.util import extras
from balrog_rag.util.terminal_safe import one_line

SWEEP = "sweep.json"
"""The file that marks a folder as a sweep's."""


def resumed_folder(words: Sequence[str]) -> tuple[Path | None, list[str]]:
    """Return the run folder named by `resume=`, if any, and the other overrides."""
    named = [word.partition("=")[2].strip("'\"") for word in words if word.startswith("resume=")]
    others = [word for word in words if not word.startswith("resume=")]
    if named and not named[-1]:
        raise ConfigError("resume= needs a run folder; pass resume=FOLDER")
    return (Path(named[-1]) if named and named[-1] != "null" else None), others


def is_sweep(earlier: Path | None, words: Sequence[str]) -> bool:
    """Whether these overrides mean several runs: a sweep to resume, or an experiment with arms."""
    if earlier is not None:
        return (earlier / SWEEP).is_file()
    experiment = experiment_of(words)
    return experiment is not None and bool(experiment.arms)


def checked_run(config: Config) -> PlannedRun:
    """Check a new run completely, without writing anything."""
    check_new(config)
    config = resolved(config)
    specs = planned(config)
    return PlannedRun(folder_for(config.run, who_plays(config)), config, specs)


def new_run(config: Config) -> PlannedRun:
    """Check a new run completely, then create its folder."""
    run = checked_run(config)
    while not run_folder.made(run.folder, plain(run.config)):
        if run.config.run.name:
            raise run_folder.taken(run.folder)
        run.folder = folder_for(run.config.run, who_plays(run.config))  # another run took this second's name
    mark_new(run.folder, "config.json")
    return run


def continued(run: Path, words: list[str], trust: bool = False) -> PlannedRun:
    """Prepare a run to resume: its frozen configuration with the allowed changes.

    `trust`: accept a folder that somebody else made.
    """
    config = resumed_config(run, words)
    # A stranger's folder is refused before the programs that it names are looked up and checked.
    refuse_stranger(run, config, words, trust)
    check(config)
    specs = specs_of(run, config)
    check_games(specs)
    check_player(specs)
    return PlannedRun(run, config, specs)


@contextmanager
def attempt(run: PlannedRun) -> Iterator[None]:
    """Lock the run against other processes and record this attempt."""
    kinds = kinds_in(run.config)
    with run_folder.locked(run.folder):
        record_attempt(run.folder, fingerprint(kinds), kinds, plain(run.config.limits.episode))
        yield


def who_plays(config: Config) -> str:
    """Return the player's part of a run folder's name: agent, `rag` if it retrieves, model if it asks one."""
    parts = [config.agent.name]
    if agents.asks_model(config.agent):
        parts += ["rag"] if agents.retrieves(config.agent) else []
        parts += [re.sub(r"[^\w.+-]+", "_", config.model.name)]
    return "_".join(parts)


def specs_of(run: Path, config: Config) -> list[EpisodeSpec]:
    """Return the episodes of a run: those a fork wrote down, or those that the configuration plans."""
    forked = [spec.with_last_player(player_spec(config)) for spec in run_folder.forked_specs(run)]
    return forked or plan(config, player_spec(config))


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


LONGEST_NAME = 200
"""Bytes of a folder name that every file system accepts."""


def folder_for(run: RunConfig, what: str) -> Path:
    """Return the folder of a new run or sweep: its name, or time and player as in BALROG."""
    if re.match(r"[A-Za-z][\w.+-]*://", run.folder):
        raise ConfigError(
            f"run.folder={run.folder}: an address, not a folder; use a local folder and copy the run later"
        )
    if run.name:
        if not run.name.isprintable():
            raise ConfigError(f"run.name={one_line(run.name)}: contains control characters; use plain text")
        if run.name == ".." or Path(run.name).name != run.name:
            raise ConfigError(f"run.name={run.name}: not a folder name; use run.folder for its location")
        if len(os.fsencode(run.name)) > LONGEST_NAME:
            raise ConfigError(f"run.name={run.name[:20]}...: too long; use at most {LONGEST_NAME} bytes")
        return Path(run.folder) / run.name
    usual = Path(run.folder) / f"{time.strftime('%Y-%m-%d_%H-%M-%S')}_{what}"
    others = (usual.with_name(f"{usual.name}-{number}") for number in itertools.count(2))
    return next(path for path in itertools.chain([usual], others) if not path.exists())


def planned(config: Config) -> list[EpisodeSpec]:
    """Plan the episodes of a configuration and check every name in it; nothing is written yet."""
    check(config)
    specs = plan(config, player_spec(config))
    check_games(specs)
    check_player(specs)
    return specs


def check_player(specs: list[EpisodeSpec]) -> None:
    """Refuse a player that cannot play one of the games, or that has wrong options."""
    for spec in {(spec.game.env, spec.game.task): spec for spec in specs}.values():
        if why := agents.refusal(str(spec.player.agent["name"]), spec.game):
            raise ConfigError(why)
    if specs and specs[0].player.agent["demonstrations"]:
        demonstration_choice.check(thaw(specs[0].player.agent, AgentConfig), [spec.game for spec in specs])
    for player in {spec.last_player.agent["name"]: spec.last_player for spec in specs}.values():
        if plays(name := str(player.agent["name"])):
            program_of(name).check(player.agent["options"])


def check_games(specs: list[EpisodeSpec]) -> None:
    """Refuse games that do not exist."""
    from balrog_rag.contracts.kinds import check_game

    for game in {(spec.game.env, spec.game.task): spec.game for spec in specs}.values():
        check_game(game)


def check_new(config: Config) -> None:
    """Check what only a new run needs: a resumed one may have no calls left to make."""
    check_together(config)
    check_gate(config.agent.retrieval.gate)
    if config.runner.backend == "local":  # cluster nodes have their own keys and extras
        check_services(config)


def check_services(config: Config) -> None:
    """Refuse a missing API key or extra of the model or the knowledge base, before any slow work."""
    if agents.asks_model(config.agent):
        extras.require_of(registry.models.get(config.model.backend), f"model.backend={config.model.backend}")
        refuse_unanswerable(config.model)
    if agents.retrieves(config.agent):
        knowledge.require_extras(config.knowledge)


def check(config: Config) -> None:
    """Check the player: plain-text secrets, unknown names, and missing prices under a dollar cap."""
    refuse_in(plain(config))
    chosen_watchers(config.run.watch)
    if config.runner.backend == "ray":
        extras.require("ray", "ray", "runner=ray")
    llm.build(config.model)  # checks its options; loads and contacts nothing yet
    if capped_in_dollars(config.limits) and agents.asks_model(config.agent):
        refuse_unpriced(config.model)


def refuse_unpriced(model: ModelConfig) -> None:
    """Refuse a dollar cap on a model without a known price, before any call is paid for."""
    if not price_known(model):
        raise unpriced("limits", model.name)


async def play_together(
    runs: Sequence[PlannedRun], display: Display, backend_of: BackendOf
) -> list[RunOutcome]:
    """Play runs in one process, sharing models and indexes."""
    services = LiveServices()
    try:
        return await play_runs(runs, services, display, backend_of)
    finally:
        await services.close()
