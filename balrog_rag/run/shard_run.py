"""Begin or continue one shard of a run: its folder, and what other shards have played of its episodes."""

from pathlib import Path

from balrog_rag.config.frozen import config_digest, plain
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.results import run_folder
from balrog_rag.results.run_seal import mark_new
from balrog_rag.results.shard_folders import (
    SUFFIX,
    copy_episode,
    differences,
    longest_journal,
    shards_in_folder,
    write_plan,
)
from balrog_rag.run.new_folder import folder_for, who_plays
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.sharding import Shard, refuse_small_rates, shard_of
from balrog_rag.run.verdict_design import VERDICT


def shard_folder(config: Config, shard: Shard) -> Path:
    """Return the folder of a shard, after checking that this run can be split."""
    if not config.run.name:
        raise ConfigError(
            f"runner.shard={shard}: shards of a run need a common name; add run.name=NAME "
            "(or runner.shard=off to play a whole run here)"
        )
    if config.limits.until == VERDICT:
        raise ConfigError(
            f"runner.shard={shard}: limits.until=verdict compares all episodes in one process; "
            "use limits.until=plan"
        )
    refuse_small_rates(config, shard)
    whole = folder_for(config.run, who_plays(config))
    return whole.with_name(whole.name + SUFFIX) / shard.folder


def begin_shard(run: PlannedRun) -> PlannedRun:
    """Create the folder of a shard, or continue in it: array jobs are requeued with the same command."""
    settings = plain(run.config)
    if run_folder.made(run.folder, settings):
        mark_new(run.folder, run_folder.CONFIG)
    else:
        _refuse_another(run.folder, settings)
    write_plan(run.folder, str(shard_of(run.config.runner)), [spec.episode for spec in run.specs])
    _adopt(run)
    return run


def _refuse_another(folder: Path, settings: dict[str, object]) -> None:
    frozen = run_folder.frozen_config(folder)
    if frozen.digest != config_digest(settings):
        raise RunFolderError(
            f"{folder}: has another configuration ({differences(frozen.config, settings)}); "
            "give the command that began it, or another run.name"
        )


def _adopt(run: PlannedRun) -> None:
    """Copy the episodes that shards of another count have begun, so that a count can be changed halfway."""
    siblings = [path for path in shards_in_folder(run.folder.parent) if path != run.folder]
    others = [path for path in siblings if _count(path) != _count(run.folder)]
    if not others:
        return
    for spec in run.specs:
        target = run_folder.journal_path(run.folder, spec.episode)
        if target.exists():
            continue
        if begun := longest_journal(others, spec):
            copy_episode(begun, target)


def _count(shard: Path) -> str:
    return shard.name.rpartition("-")[2]
