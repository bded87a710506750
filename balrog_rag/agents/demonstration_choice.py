"""Choose the demonstrations of an episode: those of its task, drawn with its seed as in BALROG."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

from balrog_rag.agents.demonstration_files import DemonstrationFile, content_digest, listed
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import EnvironmentKind, kind_of

RECORDING = "recording"
"""The task that a demonstration made from a ttyrec declares: its file does not say which task was played."""


def for_game(config: AgentConfig, env: str, task: str, seed: int) -> AgentConfig:
    """Return the configuration with the demonstrations for an episode of this game."""
    if not _chooses(config):
        return config
    files = listed(config.demonstrations, config.demonstrations_digest)
    paths = [file.path for file in drawn(config, files, kind_of(env), task, seed)]
    return replace(config, demonstrations=paths, demonstrations_digest=content_digest(paths))


def check_demonstrations(config: AgentConfig, games: Iterable[GameSpec]) -> None:
    """Raise a ConfigError if one of the games has no demonstration to show."""
    if _chooses(config):
        files = listed(config.demonstrations, config.demonstrations_digest)
        for game in games:
            drawn(config, files, kind_of(game.env), game.task, game.seeds.core)


def _chooses(config: AgentConfig) -> bool:
    """Whether files are selected per episode; specs of earlier versions show all, in the order listed."""
    return bool(config.demonstrations) and (
        config.demonstrations_of != "any" or config.icl_episodes is not None
    )


def drawn(
    config: AgentConfig, files: Sequence[DemonstrationFile], kind: EnvironmentKind, task: str, seed: int
) -> list[DemonstrationFile]:
    """Return the files for this game: all that fit, or `icl_episodes` of them in random order."""
    rng = Random(f"demonstrations of {seed}")
    if config.demonstrations_of == "task":
        files = _fitting(files, kind, task, seed, rng)
    if config.icl_episodes is None:
        return list(files)
    return rng.sample(files, len(files))[: config.icl_episodes]


def _fitting(
    files: Sequence[DemonstrationFile], kind: EnvironmentKind, task: str, seed: int, rng: Random
) -> list[DemonstrationFile]:
    env = kind.name
    shown = f"{env}/{task}"
    if kind.hints.shown_task == "another":
        others = {file.task for file in files if file.task.startswith(f"{env}/")} - {shown}
        shown = rng.choice(sorted(others)) if others else env
    fitting = [file for file in files if file.task in (shown, env, f"{env}/{RECORDING}")]
    usable = [file for file in fitting if not _shows_game(file, kind, task, seed)]
    if not usable:
        raise ConfigError(_refusal(files, kind, task, f"seed {seed}" if fitting else ""))
    return [_next_usable(place, fitting, usable) for place in range(len(fitting))]


def _next_usable(
    place: int, fitting: Sequence[DemonstrationFile], usable: Sequence[DemonstrationFile]
) -> DemonstrationFile:
    """Return this file, or the next one if it shows the game being played, as in BALROG."""
    return next(file for file in [*fitting[place:], *fitting[:place]] if file in usable)


def _shows_game(file: DemonstrationFile, kind: EnvironmentKind, task: str, seed: int) -> bool:
    """Whether a demonstration shows the same game that is played."""
    if file.seed is None or file.task != f"{kind.name}/{task}":
        return False
    identity = kind.sampling.identity
    shown, played = (identity(GameSpec(kind.name, task, Seeds(core, core))) for core in (file.seed, seed))
    return shown == played


def _refusal(files: Sequence[DemonstrationFile], kind: EnvironmentKind, task: str, solved: str) -> str:
    """Say what is missing; `solved`: the game that the only demonstration of the task shows."""
    env = kind.name
    if solved:
        what = f"the only demonstration of {env}/{task} shows the game being played, {solved}"
    elif kind.hints.shown_task == "another":
        what = f"none shows another task of {env} than {task}"
    else:
        what = f"none shows {env}/{task}, only {', '.join(sorted({file.task for file in files})[:5])}"
    return f"agent.demonstrations: {what}; add one, or set agent.demonstrations_of=any to show all of them"
