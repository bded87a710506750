"""Which tasks and characters there are; a wrong name is one line with the nearest right ones."""

from itertools import product

from balrog_rag.config.schema import MOST_SEED
from balrog_rag.contracts import registry
from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.envs.minihack.boxoban import require_levels

NETHACK_TASKS = ("NetHackChallenge-v0",)

BALROG_MINIHACK_TASKS = (
    "MiniHack-Boxoban-Hard-v0",
    "MiniHack-Boxoban-Medium-v0",
    "MiniHack-MazeWalk-9x9-v0",
    "MiniHack-MazeWalk-15x15-v0",
    "MiniHack-Corridor-R3-v0",
    "MiniHack-CorridorBattle-Dark-v0",
    "MiniHack-Quest-Easy-v0",
    "MiniHack-Quest-Medium-v0",
)
"""The eight of BALROG's benchmark."""

_RACE_ALIGNMENTS = {"hum": "law neu cha", "dwa": "law", "gno": "neu", "elf": "cha", "orc": "cha"}
_ROLES = {
    "arc": ("hum dwa gno", "law neu"),
    "bar": ("hum orc", "neu cha"),
    "cav": ("hum dwa gno", "law neu"),
    "hea": ("hum gno", "neu"),
    "kni": ("hum", "law"),
    "mon": ("hum", "law neu cha"),
    "pri": ("hum elf", "law neu cha"),
    "ran": ("hum elf gno orc", "neu cha"),
    "rog": ("hum orc", "cha"),
    "sam": ("hum", "law"),
    "tou": ("hum", "neu"),
    "val": ("hum dwa", "law neu"),
    "wiz": ("hum elf gno orc", "neu cha"),
}
"""Role: the races and the alignments it may have."""


def check(game: GameSpec) -> None:
    """Raise a ConfigError where a game cannot be, before anything is started for it."""
    check_task(game.env, game.task)
    if game.env not in ("nle", "minihack"):
        return
    check_character(game.character)
    _check_options(game)
    for seed in (game.seeds.core, game.seeds.disp, game.seeds.lgen or 0):
        if not 0 <= seed <= MOST_SEED:
            raise ConfigError(f"seed {seed}: NetHack takes seeds from 0 to {MOST_SEED}")
    if "Boxoban" in game.task:
        require_levels(game.task)


def _check_options(game: GameSpec) -> None:
    custom = game.env == "minihack" and "-Custom-" in game.task
    takes = {"des_file"} if custom else set()
    for name in sorted(game.options):
        if name not in takes:
            raise ConfigError(f"env.options.{name}: {game.env}/{game.task} takes no such option")
    if custom and "\n" not in str(game.options.get("des_file", "")):
        raise ConfigError(
            f"{game.task}: set env.options.des_file to a level's description itself; a file's name "
            "would not say what was played"
        )


def known_tasks(env: str) -> list[str]:
    """The tasks of an environment; none are known of a plug-in's."""
    if env == "nle":
        return list(NETHACK_TASKS)
    if env == "minihack":
        from balrog_rag.envs.minihack.minihack import registered_tasks

        return registered_tasks()
    registry.environments.get(env)
    return []


def check_task(env: str, task: str) -> None:
    """Raise a ConfigError for an environment or a task that does not exist."""
    if env == "minihack" and task in BALROG_MINIHACK_TASKS:
        return  # known without importing MiniHack
    known = known_tasks(env)
    if known and task not in known:
        raise ConfigError(f"env.tasks: unknown task {task!r} of {env}{registry.nearest(task, known)}")


def characters() -> list[str]:
    """Every character that NetHack knows, as role-race-alignment-gender."""
    return [
        f"{role}-{race}-{alignment}-{gender}"
        for role, (races, alignments) in _ROLES.items()
        for race, alignment in product(races.split(), alignments.split())
        for gender in (("fem",) if role == "val" else ("mal", "fem"))
        if alignment in _RACE_ALIGNMENTS[race]
    ]


def check_character(character: str) -> None:
    """Raise a ConfigError for a character that NetHack would not take as it is written."""
    if character == "@":
        return
    known = characters()
    if character not in known:
        near = registry.nearest(character, known)
        hint = near if near.startswith("; did") else "; write @ for any, or e.g. val-dwa-law-fem"
        raise ConfigError(
            f"env.character: unknown character {character!r}{hint} "
            "(role-race-alignment-gender, three letters each)"
        )
