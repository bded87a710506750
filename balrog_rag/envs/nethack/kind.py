"""NetHack as a kind of game: tasks, options, progression, measures and words; it loads no engine."""

from collections.abc import Mapping, Sequence
from typing import Any

from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import (
    AgentHints,
    Column,
    DisplayHints,
    EnvironmentKind,
    Measure,
    Numbers,
    Retrospect,
    Sampling,
    Scoring,
    Timeline,
)
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.contracts.programs import ProgramKind
from balrog_rag.contracts.registry import skill_sets
from balrog_rag.contracts.renaming import Renaming
from balrog_rag.envs.nethack.causes import PREVENTABLE, cause
from balrog_rag.envs.nethack.characters import check_character
from balrog_rag.envs.nethack.decisions import decision, right_answer
from balrog_rag.envs.nethack.held_progression import MOST_ACHIEVEMENTS, AchievementCount, HeldProgression
from balrog_rag.envs.nethack.logged import read_logged
from balrog_rag.envs.nethack.options import (
    INTERFACE,
    SKILLED,
    NetHackOptions,
    nethack_options,
    shows_pictures,
)
from balrog_rag.envs.nethack.progression import Progression, table
from balrog_rag.envs.nethack.protocols import RULES
from balrog_rag.envs.nethack.screen_signals import NetHackSignals
from balrog_rag.util.templates import templates

TASKS = ("NetHackChallenge-v0",)

MOST_SEED = 2**63 - 1
"""The largest seed that NetHack's generator accepts."""


def drawn_tiles(arrays: Mapping[str, Any]) -> bytes:
    """Draw the map in tiles; they are loaded by the first moment that is drawn."""
    from balrog_rag.envs.nethack import tiles

    return tiles.drawn_tiles(arrays)


def make(spec: GameSpec, ttyrec: str | None) -> Any:
    """Create a game of NetHack."""
    from balrog_rag.envs.nethack.game import make as make_game

    return make_game(spec, ttyrec)


def own_programs(game: GameSpec) -> Sequence[ProgramKind]:
    """Return the skills that `env.actions` selects, by name: they live with the bots, above this module."""
    options = nethack_options(game)
    if options.actions not in SKILLED:
        return ()
    offered: Sequence[ProgramKind] = skill_sets.get(options.actions)(options.more_skills)
    return offered


def renaming(game: GameSpec) -> Renaming | None:
    """Return the exchange of names that `env.renamed` asks for."""
    if not isinstance(nethack_options(game).renamed, int):
        return None
    from balrog_rag.envs.nethack import renamed_names  # reads the game's tables

    return renamed_names.renaming(game)


def netplay_prompts() -> Mapping[str, str]:
    """Return the prompts about NetHack that NetPlay's agent needs, for every kind of the NetHack family."""
    found = templates("balrog_rag.envs.nethack")
    return {name: text for name, text in found.items() if name.startswith("netplay_")}


def check(game: GameSpec) -> None:
    """Reject characters and seeds that NetHack would not accept."""
    check_character(nethack_options(game).character)
    check_seeds(game)


def check_seeds(game: GameSpec) -> None:
    """Reject seeds out of the range of NetHack's generator."""
    for seed in (game.seeds.core, game.seeds.disp, game.seeds.lgen or 0):
        if not 0 <= seed <= MOST_SEED:
            raise ConfigError(f"seed {seed}: NetHack takes seeds from 0 to {MOST_SEED}")


def identity(game: GameSpec) -> str:
    """The dungeon and the character: games with equal identities are not independent draws."""
    seeds = game.seeds
    return f"{seeds.core}/{seeds.disp}/{seeds.lgen}/{nethack_options(game).character}"


def headline(numbers: Numbers) -> str:
    """The bottom line in short."""
    return (
        f"Dlvl {numbers.get('depth', '?')} XL {numbers.get('experience_level', '?')} "
        f"HP {numbers.get('hp', '?')}/{numbers.get('max_hp', '?')} T {numbers.get('turn', '?')}"
    )


def in_danger(numbers: Numbers) -> bool:
    """Whether a third of the hit points or less are left."""
    most = numbers.get("max_hp", 0)
    return most > 0 and numbers.get("hp", most) * 3 <= most


def ending(facts: Mapping[str, Any]) -> str:
    """NetHack's own words for a death."""
    return str(facts.get("death") or "")


def record(episode: Any) -> dict[str, Any]:
    """The fields that BALROG's record has for games of NetHack only."""
    last = episode.last
    return {
        "score": last.get("score", 0),
        "depth": last.get("depth", 0),
        "gold": last.get("gold", 0),
        "experience_level": last.get("experience_level", 0),
        "time": last.get("turn", 0),
        **episode.milestones,
        "highest_achievement": episode.highest,
    }


def comparable(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facts of an end except those that depend on the machine, and on its clock if it was not pinned."""
    logged = facts.get("xlogfile")
    if not isinstance(logged, Mapping):
        return facts
    left_out = OF_THE_MACHINE if facts.get("clock_pinned") else OF_THE_MACHINE | OF_ITS_CLOCK
    kept = {name: value for name, value in logged.items() if name not in left_out}
    return {**facts, "xlogfile": kept}


OF_THE_MACHINE = {"uid"}
OF_ITS_CLOCK = {"realtime", "starttime", "endtime", "birthdate", "deathdate"}
"""Fields of NetHack's log line that a replay need not reproduce."""


READING = (
    "A direction such as northnortheast is two directions in turn, the first one first: a gold piece near "
    "westsouthwest is reached by going west and then southwest."
)

MEASURES = (
    Measure(
        "held",
        "progression held",
        "points",
        high=100.0,
        follow=HeldProgression,
        needs="every change of level; journals before version 3 lack some where a program played by itself",
    ),
    Measure(
        "achievements",
        "achievements in NetHack's own log",
        "achievements",
        high=float(MOST_ACHIEVEMENTS),
        follow=AchievementCount,
        drawn=False,
        needs="the line that NetHack logs when a game ends; a game that was cut off may have none",
    ),
    Measure(
        "depth",
        "deepest dungeon level",
        "levels",
        "depth",
        low=1.0,
        high=50.0,
        downwards=True,
        present="dungeon level",
    ),
    Measure(
        "experience",
        "highest experience level",
        "levels",
        "experience_level",
        low=1.0,
        high=30.0,
        present="experience level",
    ),
    Measure("score", "in-game score", "score points", "score", "last", counted=True),
    Measure("turns", "turns survived", "turns", "turn", "last", counted=True),
)
COLUMNS = (
    Column("Dlvl", 4, lambda numbers: str(numbers.get("depth", "?"))),
    Column("XL", 3, lambda numbers: str(numbers.get("experience_level", "?"))),
    Column("HP", 8, lambda numbers: f"{numbers.get('hp', '?')}/{numbers.get('max_hp', '?')}"),
)

HINTS = AgentHints(
    pictures=shows_pictures,
    picture_hint="env.layout=image",
    renaming=renaming,
    programs=own_programs,
    prompts=lambda: templates("balrog_rag.envs.nethack"),
    guide="NetHack",
    reading=READING,
    signals=NetHackSignals(),
)
DISPLAY = DisplayHints(
    timeline=Timeline("turn", "depth", "turn", "deepest level", (str(Outcome.DIED),)),
    columns=COLUMNS,
    blank=lambda moved: moved.get("depth") == 0,
    headline=headline,
    danger=in_danger,
    ending=ending,
    tiles=drawn_tiles,
)
"""Kinds that play NetHack begin with these two and replace what differs."""

NETHACK = EnvironmentKind(
    name="nle",
    title="NetHack",
    tasks=lambda: TASKS,
    make=make,
    progress=lambda game: Progression(),
    options=NetHackOptions,
    check=check,
    max_steps=lambda task: 100_000,
    retrospect=Retrospect(
        recording="nle.{number}.0.ttyrec3.bz2",
        cause=cause,
        preventable=PREVENTABLE,
        decision=decision,
        right_answer=right_answer,
        read_logged=read_logged,
        record=record,
        comparable=comparable,
    ),
    scoring=Scoring(
        rise=2.0,
        measures=MEASURES,
        rules=RULES,
        worth=lambda reached: {"none": 0.0, **table()}[reached],
        detect=0.4,
    ),
    sampling=Sampling(
        interface=INTERFACE,
        identity=identity,
        packages=("nle",),
        departures="NetHack is played by the package nle; BALROG plays its fork balrog-nle 0.9.0. Score, "
        "depth, gold, experience level and time are the living game's; BALROG's records hold zeros.",
    ),
    hints=HINTS,
    display=DISPLAY,
)
