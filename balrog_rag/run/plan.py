"""Plan the episodes of a configuration."""

from collections.abc import Sequence

from balrog_rag.config.schema import Config
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import EnvironmentKind, example_task, kind_of
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.episode.spec import MOST_EPISODES, EpisodeSpec, PlayerSpec, episode_name, episode_seeds
from balrog_rag.results.run_folder import is_episode
from balrog_rag.util.wording import many


def plan(config: Config, player: PlayerSpec) -> list[EpisodeSpec]:
    """Return every episode of a run, in starting order."""
    refuse_tasks(config.env.tasks)
    refuse_many(sum(episodes_of(config, task) for task in config.env.tasks))
    specs = [
        EpisodeSpec(
            episode=episode_name(task, number),
            game=game_spec(config, task, number),
            player=player,
            steps=config.limits.steps,
        )
        for task in config.env.tasks
        for number in range(episodes_of(config, task))
    ]
    return in_turn(specs)


def in_turn(specs: Sequence[EpisodeSpec]) -> list[EpisodeSpec]:
    """Order by episode number first, so that a run stopped early has played some of every task.

    Games at least twice as long as others start before them, or the run would end waiting for one.
    """
    heads: list[int] = []
    for steps in sorted({steps_of(spec) for spec in specs}, reverse=True):
        if not heads or 2 * steps <= heads[-1]:
            heads.append(steps)

    # Groups are a factor of 2 apart: sorting by length alone would play whole tasks one after another.
    def place(spec: EpisodeSpec) -> tuple[int, int, int]:
        group = min(head for head in heads if head >= steps_of(spec))
        return -group, int(spec.episode.rpartition("/")[2]), -steps_of(spec)

    return sorted(specs, key=place)


def steps_of(spec: EpisodeSpec) -> int:
    """Return the most steps that an episode can take."""
    return min(spec.steps or spec.game.max_steps, spec.game.max_steps)


def refuse_tasks(tasks: Sequence[str]) -> None:
    """Refuse malformed task names, and duplicates, which would give two episodes the same name."""
    for task in tasks:
        if not is_episode(episode_name(task, 0)):
            raise ConfigError(f"env.tasks: {task!r}: expected env/task, e.g. {example_task()}")
        if tasks.count(task) > 1:
            raise ConfigError(f"env.tasks: {task} is listed twice; use env.episodes to play it more often")


def refuse_many(episodes: int) -> None:
    """Refuse more episodes than a run folder and this process's memory can hold."""
    if episodes > MOST_EPISODES:
        raise ConfigError(
            f"env.episodes: {episodes:,} episodes in total, but a run can have at most {MOST_EPISODES:,}; "
            "lower env.episodes or split env.tasks over several runs"
        )


def kinds_in(config: Config) -> list[EnvironmentKind]:
    """Return the kinds of game of a run, each once."""
    refuse_tasks(config.env.tasks)
    return [kind_of(name) for name in dict.fromkeys(split(task)[0] for task in config.env.tasks)]


def split(qualified: str) -> tuple[str, str]:
    """Split env/task into the kind's name and the task."""
    env, _, task = qualified.partition("/")
    if not task:
        raise ConfigError(f"env.tasks: {qualified!r}: expected env/task, e.g. {example_task()}")
    return env, task


def episodes_of(config: Config, qualified: str) -> int:
    """Return how many episodes of a task are played."""
    return config.env.episodes or kind_of(split(qualified)[0]).sampling.episodes


def game_spec(config: Config, qualified: str, number: int) -> GameSpec:
    """Return the game of one episode."""
    env, task = split(qualified)
    kind = kind_of(env)
    return GameSpec(
        env=env,
        task=task,
        seeds=seeds_for(config, episode_name(qualified, number), number),
        max_steps=config.env.max_steps.get(env) or kind.max_steps(task),
        options=resolved_options(kind, config.env.options, kinds_in(config)),
        programs=tuple(config.env.programs),
    )


def seeds_for(config: Config, episode: str, number: int) -> Seeds:
    """Return the game seeds of one episode, according to env.seeding."""
    given, seeding = config.env.seeds, config.env.seeding
    # For kinds whose games BALROG plays in sequence, its first episode is the game with seed 1, not 0.
    if seeding == "balrog" and kind_of(split(episode)[0]).sampling.counted:
        return Seeds(core=number + 1, disp=number + 1)
    if seeding in ("spread", "balrog"):
        # Derived from the name, not the position: adding or removing tasks must not change other games.
        return episode_seeds(config.run.seed, episode)
    if seeding == "fixed":
        seed = given[0] if given else config.run.seed
        return Seeds(core=seed, disp=seed)
    if number >= len(given):
        raise ConfigError(
            f"env.seeds: {many(len(given), 'seeds')} for "
            f"{many(episodes_of(config, episode.rpartition('/')[0]), 'episodes')} per task; list one each"
        )
    return Seeds(core=given[number], disp=given[number])
