"""Splits of environments whose games come from a fixed list, where different seeds can be the same game."""

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of

PLACES = {"train": range(10), "validation": range(10, 15), "test": range(15, 20), "eval": range(20, 25)}
"""Of the 25 games of each of TextWorld's tasks; seed n is game n."""


def fixed_seeds(task: str, split: str) -> range | None:
    """Return a split's seeds of a task with a fixed list of games; None: its seeds are drawn."""
    kind = kind_of(task.partition("/")[0])
    if not kind.sampling.counted and kind.sampling.world is None:
        return None
    if kind.name != "textworld":
        raise ConfigError(
            f"tasks: {kind.name} has a fixed list of games without splits; choose another environment"
        )
    return PLACES[split]
