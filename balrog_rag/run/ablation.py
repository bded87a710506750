"""An ablation: a program with all its tactics, and without each of them, in the same games."""

from collections.abc import Sequence

from balrog_rag.config.compose import compose
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.programs import Switch, plays, program_of
from balrog_rag.contracts.registry import nearest
from balrog_rag.run.grid import Combination

BASELINE = "all_on"
"""The arm with the program's defaults."""
WITHOUT = "no_"
"""Prefix of the name of an arm without a tactic."""


def switches_of(name: str, wanted: Sequence[str] = ()) -> list[Switch]:
    """Return the switches of a program, or those of these names."""
    known = {each.name: each for each in program_of(name).switches} if plays(name) else {}
    if not known:
        having = [
            each for each in registry.programs.names() if program_of(each).plays and program_of(each).switches
        ]
        listed = f"; known: {', '.join(having)}" if having else ""
        raise ConfigError(f"agent={name}: has no tactics that can be switched off{listed}")
    for each in wanted:
        if each not in known:
            raise ConfigError(f"--switches {each}: {name} has no such tactic{nearest(each, known)}")
    return [known[each] for each in wanted or known]


def ablation_arms(words: Sequence[str], games: int, wanted: Sequence[str] = ()) -> list[Combination]:
    """Return the arms of an ablation: all tactics, then each one off."""
    for word in words:
        key = word.partition("=")[0]
        if key == "env.episodes":
            raise ConfigError(f"{word}: use --games")
    shared = [*words, f"env.episodes={games}"]
    config = compose(shared)
    switches = switches_of(config.agent.name, wanted)
    if set_already := [each.name for each in switches if each.name in config.agent.options]:
        name = set_already[0]
        raise ConfigError(f"agent.options.{name}: set for all arms, so it cannot be switched; remove it")
    off = [
        Combination(f"{WITHOUT}{each.name}", [*shared, f"agent.options.{each.name}=false"])
        for each in switches
    ]
    return [Combination(BASELINE, shared), *off]
