"""How runs begin: compose or read, check, plan, and a folder to play into.

The commands and `import balrog_rag` both begin runs here. What they get is a `PlannedRun`: whatever plays
it or reports on it needs nothing else.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from balrog_rag import agents, knowledge
from balrog_rag.config.compose import compose
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results.stored_run import StoredRun
from balrog_rag.run.arms_of_words import named
from balrog_rag.run.needs import check_new
from balrog_rag.run.new_folder import folder_for, make_folder, who_plays
from balrog_rag.run.plan import PlannedRun, kinds_of, tasks_in
from balrog_rag.run.preflight import check_config, check_episodes, check_settings
from balrog_rag.run.resume import resumed_config, specs_for
from balrog_rag.run.services import player_of, resolved, unread
from balrog_rag.run.shard_run import begin_shard, shard_folder
from balrog_rag.run.sharding import chosen_shard
from balrog_rag.run.trust import refuse_untrusted_folder
from balrog_rag.run.verdict_design import check_design


def refuse_outside_player(config: Config) -> None:
    """Refuse a run whose decisions come from outside the harness: a person's or a client's."""
    if config.model.backend == "client":
        how = "`balrog-rag play` for a person, `balrog-rag mcp` for a client"
        raise ConfigError(f"agent={config.agent.name}: nobody is here to decide; play it with {how}")


def new_run(overrides: list[str], check: Callable[[Config], None] = refuse_outside_player) -> PlannedRun:
    """Check a new run completely, then create its folder; the same command continues a shard of a run.

    `check` refuses what the caller cannot play.
    """
    config = composed(overrides)
    check(config)
    shard = chosen_shard(config.runner)
    if shard is None:
        return make_folder(checked_run(config))
    folder = shard_folder(config, shard)
    config = ready(replace(config, runner=replace(config.runner, shard=str(shard))))
    return begin_shard(planned(folder, config))


def composed(overrides: list[str], arm: str = "") -> Config:
    """Return the configuration of these overrides, with the experiment that they name."""
    return named(compose(overrides), overrides, arm)


def checked_run(config: Config) -> PlannedRun:
    """Check and plan a new run without writing anything."""
    return _planned_new(ready(config))


def previewed_run(config: Config) -> PlannedRun:
    """Plan a run that will not be played: without keys, extras and texts, and without reading a corpus."""
    return _planned_new(previewed(config))


def ready(config: Config) -> Config:
    """Check all that a new run needs."""
    check_new(config)
    return config


def previewed(config: Config) -> Config:
    """Check the settings of a run that will not be played, and leave its corpus unread."""
    check_settings(config)
    if agents.retrieves(config.agent):
        knowledge.check_corpus_name(config.knowledge)
    return unread(config)


def _planned_new(config: Config) -> PlannedRun:
    run = planned(folder_for(config.run, who_plays(config)), config)
    check_design([run])
    return run


def resumed_run(stored: StoredRun, overrides: list[str], trust: bool = False, label: str = "") -> PlannedRun:
    """Check and plan a run to resume: its frozen configuration with the allowed changes.

    `trust` accepts a folder that somebody else made.
    """
    config = resumed_config(stored, overrides)
    # Before planning: that looks up the programs that the folder names, and checking them runs their code.
    refuse_untrusted_folder(stored, config, overrides, trust)
    return planned(stored.folder, config, stored.forked, label)


def planned(folder: Path, config: Config, forked: Sequence[EpisodeSpec] = (), label: str = "") -> PlannedRun:
    """Plan and check the run of a configuration; `forked`: its episodes, if a fork wrote them down."""
    tasks = tasks_in(config)
    check_config(config)
    config = resolved(config)
    player = player_of(config)
    specs = specs_for(forked, config, tasks, player)
    check_episodes(specs)
    return PlannedRun(folder, config, specs, kinds_of(tasks), label)
