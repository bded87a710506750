"""Plan the episodes of a configuration."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from balrog_rag import agents
from balrog_rag.config.schema import Config
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import EnvironmentKind, episodes_planned, example_task, kind_of, version_of
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.episode.spec import MOST_EPISODES, EpisodeSpec, PlayerSpec, episode_name, episode_seeds
from balrog_rag.results.run_folder import is_episode
from balrog_rag.util.wording import many


class PlannedRun(msgspec.Struct, frozen=True):
    """One run to be played: its folder, its complete configuration, its episodes."""

    folder: Path
    config: Config
    specs: Sequence[EpisodeSpec]
    kinds: Sequence[EnvironmentKind]
    """The kinds of game of its configuration, each once."""
    label: str = ""
    """Name that distinguishes it from the other runs of a sweep on the display."""
    watch: Sequence[Any] = ()
    """Watchers passed from Python, besides those that run.watch names."""
    optional: bool = False
    """Whether its sweep is complete without it: it plays last, and leaving it unfinished is not an error."""


class PlannedTask(NamedTuple):
    """One entry of env.tasks."""

    qualified: str
    """As it is written: env/task."""
    kind: EnvironmentKind
    name: str
    episodes: int


def plan(config: Config, player: PlayerSpec) -> list[EpisodeSpec]:
    """Return every episode of a run, in starting order."""
    return plan_tasks(config, tasks_in(config), player)


def plan_tasks(config: Config, tasks: Sequence[PlannedTask], player: PlayerSpec) -> list[EpisodeSpec]:
    """Return every episode of these tasks, in starting order."""
    refuse_many(sum(task.episodes for task in tasks))
    kinds, steps = kinds_of(tasks), config.limits.steps
    specs = [
        EpisodeSpec(episode_name(task.qualified, number), game, player, steps)
        for task in tasks
        for number, game in enumerate(_games_of(config, task, kinds))
    ]
    return in_turn(specs)


def _games_of(config: Config, task: PlannedTask, kinds: Sequence[EnvironmentKind]) -> Iterator[GameSpec]:
    """Yield the games of a task's episodes, which differ in their seeds and share everything else."""
    first = game_of(config, task, kinds, 0)
    for number in range(task.episodes):
        yield msgspec.structs.replace(first, seeds=seeds_for(config, task, number))


def in_turn(specs: Sequence[EpisodeSpec]) -> list[EpisodeSpec]:
    """Order by episode number first, so that a run stopped early has played some of every task.

    Games at least twice as long as others start before them, or the run would end waiting for one.
    """
    lengths = [steps_of(spec) for spec in specs]
    # Groups are a factor of 2 apart: sorting by length alone would play whole tasks one after another.
    groups: dict[int, int] = {}
    head = 0
    for steps in sorted({*lengths}, reverse=True):
        head = steps if not head or 2 * steps <= head else head
        groups[steps] = head

    def place(pair: tuple[EpisodeSpec, int]) -> tuple[int, int, int]:
        spec, steps = pair
        return -groups[steps], int(spec.episode.rpartition("/")[2]), -steps

    return [spec for spec, _ in sorted(zip(specs, lengths, strict=True), key=place)]


def steps_of(spec: EpisodeSpec) -> int:
    """Return the most steps that an episode can take."""
    game = spec.game
    most = kind_of(game.env).sampling.most_actions
    return min(spec.steps or game.max_steps, game.max_steps, game.max_steps if most is None else most(game))


def tasks_in(config: Config) -> list[PlannedTask]:
    """Return the tasks of a run; malformed names and duplicates are refused."""
    listed, episodes = config.env.tasks, config.env.episodes
    tasks = []
    for qualified in listed:
        if not is_episode(episode_name(qualified, 0)):
            raise ConfigError(f"env.tasks: {qualified!r}: expected env/task, e.g. {example_task()}")
        # Episodes are named by task and number: the second one's journal would be the first one's.
        if listed.count(qualified) > 1:
            raise ConfigError(
                f"env.tasks: {qualified} is listed twice; use env.episodes to play it more often"
            )
        env, _, name = qualified.partition("/")
        kind = kind_of(env)
        tasks.append(PlannedTask(qualified, kind, name, episodes_planned(qualified, episodes)))
    return tasks


def kinds_of(tasks: Iterable[PlannedTask]) -> list[EnvironmentKind]:
    """Return the kinds of game of these tasks, each once."""
    return list({task.kind.name: task.kind for task in tasks}.values())


def kinds_in(config: Config) -> list[EnvironmentKind]:
    """Return the kinds of game of a run, each once."""
    return kinds_of(tasks_in(config))


def refuse_many(episodes: int) -> None:
    """Refuse more episodes than a run folder and this process's memory can hold."""
    if episodes > MOST_EPISODES:
        raise ConfigError(
            f"env.episodes: {episodes:,} episodes in total, but a run can have at most {MOST_EPISODES:,}; "
            "lower env.episodes or split env.tasks over several runs"
        )


def game_spec(config: Config, qualified: str, number: int) -> GameSpec:
    """Return the game of one episode of a run's task."""
    tasks = tasks_in(config)
    task = next(task for task in tasks if task.qualified == qualified)
    return game_of(config, task, kinds_of(tasks), number)


def game_of(config: Config, task: PlannedTask, kinds: Sequence[EnvironmentKind], number: int) -> GameSpec:
    """Return the game of one episode; `kinds` are those of the whole run, which share env.options."""
    return GameSpec(
        env=task.kind.name,
        task=task.name,
        seeds=seeds_for(config, task, number),
        max_steps=config.env.max_steps.get(task.kind.name) or task.kind.max_steps(task.name),
        options=resolved_options(task.kind, config.env.options, kinds),
        programs=tuple(dict.fromkeys((*config.env.programs, *agents.programs_of(config.agent.name)))),
        version=version_of(task.kind, task.name),
    )


def seeds_for(config: Config, task: PlannedTask, number: int) -> Seeds:
    """Return the game seeds of one episode, according to env.seeding."""
    given, seeding = config.env.seeds, config.env.seeding
    # For kinds whose games BALROG plays in sequence, its first episode is the game with seed 1, not 0.
    if seeding == "balrog" and task.kind.sampling.counted:
        return Seeds(core=number + 1, disp=number + 1)
    if seeding in ("spread", "balrog"):
        # Derived from the name, not the position: adding or removing tasks must not change other games.
        return episode_seeds(config.run.seed, episode_name(task.qualified, number))
    if seeding == "fixed":
        seed = given[0] if given else config.run.seed
        return Seeds(core=seed, disp=seed)
    if number >= len(given):
        raise ConfigError(
            f"env.seeds: {many(len(given), 'seeds')} for "
            f"{many(task.episodes, 'episodes')} per task; list one each"
        )
    return Seeds(core=given[number], disp=given[number])
