"""Options of games that come from a preset (`env=`, `+experiment=`) rather than from the user.

A preset may cover more games than are played. Options of a preset that no chosen game has are dropped; those
that the user typed are kept, and rejected later if no chosen game has them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from balrog_rag.config.schema import Config
from balrog_rag.contracts import registry
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.option_schema import names_of


def of_chosen_games(config: Config, words: Sequence[str]) -> dict[str, Any]:
    """Return the options without those of presets that no chosen game has."""
    options = config.env.options
    if not options:
        return options
    known = known_options(config)
    typed = typed_options(words)
    return {name: value for name, value in options.items() if known is None or name in known | typed}


def known_options(config: Config) -> set[str] | None:
    """Return the options that the configured games have; None if one of the games does not exist."""
    games = {task.partition("/")[0] for task in config.env.tasks}
    if not games <= set(registry.environments.names()):
        return None  # reported later, with the nearest name
    return games.union(*(names_of(kind_of(name)) for name in games))


def typed_options(words: Sequence[str]) -> set[str]:
    """Return the options that overrides set, each by its own key or in one mapping."""
    typed: set[str] = set()
    for word in words:
        key, _, value = word.lstrip("+~").partition("=")
        if key.startswith("env.options."):
            typed.add(key.split(".")[2])
        elif key == "env.options":
            typed |= _names_in(f"{key}={value}")
    return typed


def _names_in(word: str) -> set[str]:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    value = OverridesParser.create().parse_override(word).value()
    return {str(name) for name in value} if isinstance(value, Mapping) else set()
