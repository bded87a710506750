"""From a configuration to the episodes it asks for."""

from collections.abc import Sequence

from balrog_rag.config.schema import Config, EnvConfig
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.episode.spec import Cast, EpisodeSpec, episode_name, episode_seeds
from balrog_rag.results.folder import is_episode
from balrog_rag.util.wording import many


def plan(config: Config, cast: Cast) -> list[EpisodeSpec]:
    """Every episode of a run, the longest games first so that the run does not end on one of them."""
    refuse_tasks(config.env.tasks)
    specs = [
        EpisodeSpec(
            episode=episode_name(task, number),
            game=game_spec(config, task, number),
            cast=cast,
            steps=config.limits.steps,
        )
        for task in config.env.tasks
        for number in range(config.env.episodes)
    ]
    return sorted(specs, key=lambda spec: -spec.game.max_steps)


def refuse_tasks(tasks: Sequence[str]) -> None:
    """Refuse names that are none, or that would make two episodes of one name."""
    for task in tasks:
        if not is_episode(episode_name(task, 0)):
            raise ConfigError(f"env.tasks: {task!r} is no env/task; write e.g. nle/NetHackChallenge-v0")
        if tasks.count(task) > 1:
            raise ConfigError(f"env.tasks: {task} twice; env.episodes says how often a task is played")


def game_spec(config: Config, qualified: str, number: int) -> GameSpec:
    """The game of one episode."""
    env, _, task = qualified.partition("/")
    options: EnvConfig = config.env
    if not task:
        raise ConfigError(f"env.tasks: {qualified!r} is no env/task; write e.g. nle/NetHackChallenge-v0")
    if env not in options.max_steps:
        raise ConfigError(f"env.max_steps.{env}: no value; set +env.max_steps.{env}=... for task {qualified}")
    return GameSpec(
        env=env,
        task=task,
        seeds=seeds_for(config, episode_name(qualified, number), number),
        character=options.character,
        actions=options.actions,
        layout=options.layout,
        skip_more=options.skip_more,
        max_steps=options.max_steps[env],
        no_progress=options.no_progress,
        autopickup=options.autopickup,
        options=dict(options.options),
    )


def seeds_for(config: Config, episode: str, number: int) -> Seeds:
    """The game seeds of one episode, by env.seeding."""
    given = config.env.seeds
    if config.env.seeding == "spread":
        return episode_seeds(config.run.seed, episode)
    if config.env.seeding == "fixed":
        seed = given[0] if given else config.run.seed
        return Seeds(core=seed, disp=seed)
    if number >= len(given):
        raise ConfigError(
            f"env.seeds: {many(len(given), 'seeds')} for {many(config.env.episodes, 'episodes')} a task; "
            "give one for each"
        )
    return Seeds(core=given[number], disp=given[number])
