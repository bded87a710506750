"""The folder of a new run or sweep: its name, and how it is made."""

import itertools
import os
import re
import time
from pathlib import Path

import msgspec

from balrog_rag import agents
from balrog_rag.config.frozen import plain
from balrog_rag.config.schema import Config, RunConfig
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results import run_folder
from balrog_rag.results.run_seal import mark_new
from balrog_rag.results.stored_run import StoredRun
from balrog_rag.run.plan import PlannedRun
from balrog_rag.util.files import file_in_the_way
from balrog_rag.util.terminal_safe import one_line

LONGEST_NAME = 200
"""Bytes of a folder name that every file system accepts."""


def make_folder(run: PlannedRun) -> PlannedRun:
    """Write its configuration into its folder; without run.name, another name where this one is taken."""
    folder, config = run.folder, plain(run.config)
    while not run_folder.made(folder, config):
        if run.config.run.name:
            raise run_folder.taken(folder)
        # The default name has the time in seconds: a run that began in the same second took it.
        folder = folder_for(run.config.run, who_plays(run.config))
    mark_new(folder, run_folder.CONFIG)
    return msgspec.structs.replace(run, folder=folder)


def create_run(folder: Path, config: Config) -> StoredRun:
    """Create the folder of a sweep's run; raises an error if it exists."""
    stored = StoredRun(folder, plain(config), own=True)
    run_folder.create(folder, stored.config)
    mark_new(folder, run_folder.CONFIG)
    return stored


def folder_for(run: RunConfig, what: str) -> Path:
    """Return the folder of a new run or sweep: its name, or time and player as in BALROG."""
    if re.match(r"[A-Za-z][\w.+-]*://", run.folder):
        raise ConfigError(
            f"run.folder={run.folder}: an address, not a folder; use a local folder and copy the run later"
        )
    if part := file_in_the_way(Path(run.folder)):
        raise ConfigError(f"run.folder={run.folder}: {part} is a file; name a folder")
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


def who_plays(config: Config) -> str:
    """Return the player's part of a run folder's name: agent, `rag` if it retrieves, model if it asks one."""
    parts, needs = [config.agent.name], agents.needs(config.agent)
    if needs.model:
        parts += ["rag"] if needs.knowledge else []
        parts += [re.sub(r"[^\w.+-]+", "_", config.model.name)]
    return "_".join(parts)
