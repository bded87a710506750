"""Folders that this user did not make here: show what they would access and ask for confirmation once."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag import agents
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import leaf_items, plain, thaw
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.results.run_folder import FORKED
from balrog_rag.results.run_seal import mark
from balrog_rag.results.stored_run import StoredRun
from balrog_rag.run.demands import demands
from balrog_rag.run.outward import is_variable, outward
from balrog_rag.util.secrets import redact, redact_tree
from balrog_rag.util.terminal_safe import one_line

LONGEST = 200


def refuse_untrusted_folder(stored: StoredRun, config: Config, words: Sequence[str], trust: bool) -> None:
    """Refuse to resume somebody else's folder if it reaches outside in ways the user did not name.

    `trust` marks the folder as this user's own; environment variables still must be named one by one.
    """
    if stored.own:
        return
    run, said = stored.folder, _given(words)
    # Settings that the user typed in this command with the same value need no confirmation.
    foreign = {
        key: value for key, value in reached(stored, config).items() if key not in said or said[key] != value
    }
    if not foreign:
        return
    variables = [f"{key}={value}" for key, value in foreign.items() if is_variable(key, value)]
    if not trust or variables:
        print_settings(run, foreign)
    if not trust:
        raise RunFolderError(
            f"{run}: was not made by you on this machine, or was changed since; "
            "check these settings, then add --trust once to resume with them"
        )
    if variables:
        raise RunFolderError(
            f"{run}: would hand over variables of your environment; "
            f"to allow it, pass: {one_line(redact(' '.join(variables)))}"
        )
    mark(run)


def reached(stored: StoredRun, config: Config) -> dict[str, Any]:
    """Return what a run reaches and uses by its configuration, and by the players of a fork's file."""
    extra = demands(config, agents.needs(config.agent))
    found: dict[str, Any] = {}
    for where, settings in _players(stored, config):
        theirs = outward(agents.needs(thaw(settings["agent"], AgentConfig)), dict(leaf_items(settings)))
        found |= {f"{where}{key}": value for key, value in theirs.items() if found.get(key) != value}
    return found | extra


def _players(stored: StoredRun, config: Config) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the settings that name players, and where they are: the configuration, then a fork's file."""
    yield "", plain(config)
    for spec in stored.forked:
        # The last player is replaced by the configuration's, so only the earlier ones come from the file.
        for player in (spec.player, *(fork.player for fork in spec.forks[:-1])):
            yield f"{FORKED}: ", msgspec.to_builtins(player)


def print_settings(run: Path, foreign: Mapping[str, Any]) -> None:
    """Print what would be reached, one line each."""
    print(f"{one_line(str(run))} would resume with:", file=sys.stderr)
    for key, value in foreign.items():
        shown = one_line(str(redact_tree(value, key.rpartition(".")[2])))
        rest = "..." if len(shown) > LONGEST else ""
        print(f"  {one_line(key)} = {shown[:LONGEST]}{rest}", file=sys.stderr)


def _given(words: Sequence[str]) -> dict[str, Any]:
    """Return the settings given on the command line; a group counts for the keys it sets, no others."""
    if not words:
        return {}
    names = [word.partition("=")[0].lstrip("+") for word in words]
    return {
        key: value
        for key, value in leaf_items(plain(compose(list(words))))
        if any(key == name or key.startswith(f"{name}.") for name in names)
    }
