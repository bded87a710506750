"""From a request to the spec of an episode: composed once per agent, task and overrides, then reused."""

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from balrog_rag import agents
from balrog_rag import models as llm
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import config_digest, plain, thaw
from balrog_rag.config.own_files import quoted
from balrog_rag.config.plain_secrets import refuse_in
from balrog_rag.config.schema import Config, LimitsConfig, ModelConfig
from balrog_rag.contracts import registry
from balrog_rag.contracts.data import Seeds
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import check_game, example_task, kind_of
from balrog_rag.contracts.programs import plays, program_of
from balrog_rag.episode.spec import EpisodeSpec, PlayerSpec
from balrog_rag.results.run_folder import is_episode
from balrog_rag.rollouts.rollout_request import Endpoint, RolloutRequest, is_reference
from balrog_rag.rollouts.split_seeds import refuse_fixed_games, split_seed
from balrog_rag.run.plan import game_spec
from balrog_rag.run.preflight import check_settings
from balrog_rag.run.services import resolved

SERVER = "hosted_vllm/"
"""Prefix of a model name in a spec that means a server with OpenAI's protocol."""
RETRIES = ("model.retry.attempts=5", "model.retry.seconds=120")
"""Fewer than for a run, where an outage of minutes must not lose anything; overrides change it."""
NOT_HERE = (
    *("run", "runner", "resume", "limits.run", "limits.steps", "env.tasks", "env.episodes", "env.seeding"),
    *("env.seeds", "model.name", "model.base_url", "model.api_key_env", "model.extra_headers"),
)
"""Keys that a rollout's own arguments set, or that only concern runs."""


class PreparedRollout(NamedTuple):
    """What an episode needs to be played."""

    spec: EpisodeSpec
    model: ModelConfig
    limits: LimitsConfig
    config_digest: str


class _Prepared(NamedTuple):
    config: Config
    agent: dict[str, Any]
    knowledge: dict[str, Any]
    digest: str


def prepared(request: RolloutRequest) -> PreparedRollout:
    """Return the episode of a request; raise ConfigError for anything that cannot be played."""
    if request.spec is not None:
        return _of_spec(request)
    task = request.task
    check_task(task)
    base = _composed(
        (f"agent={request.agent}", *_model_words(request.model), *RETRIES, *request.overrides), task
    )
    config = base.config
    model = _model(request.model, config)
    seed = _seed(request)
    game = msgspec.structs.replace(game_spec(config, task, 0), seeds=Seeds(core=seed, disp=seed))
    limit = llm.prompt_limit(model, config.agent.max_prompt_tokens)
    player = PlayerSpec(base.agent, plain(model), base.knowledge, limit)
    spec = EpisodeSpec(f"{task}/00", game, player, request.max_steps or config.limits.steps)
    return PreparedRollout(_checked(spec), model, config.limits, base.digest)


def check_task(task: str) -> None:
    """Raise ConfigError for a task that is not written as env/task."""
    if not is_episode(f"{task}/00"):
        raise ConfigError(f"task: {task!r:.100}: expected env/task, e.g. {example_task()}")


def _seed(request: RolloutRequest) -> int:
    if request.split is None or request.index is None:
        return request.seed or 0
    refuse_fixed_games(request.task)
    return split_seed(request.task, request.split, request.index)


def _model_words(model: Endpoint | str) -> tuple[str, ...]:
    return (f"model={model}",) if isinstance(model, str) else ("model=vllm",)


@lru_cache(maxsize=256)
def _composed(words: tuple[str, ...], task: str) -> _Prepared:
    for word in words[2 + len(RETRIES) :]:
        key = word.partition("=")[0].lstrip("+~")
        ours = key in ("agent", "model") or any(key == own or key.startswith(f"{own}.") for own in NOT_HERE)
        if "=" not in word or ours:
            raise ConfigError(f"overrides: {key[:60]!r} is not an override of a rollout; leave it out")
    config = compose([*words, f"env.tasks=[{quoted(task)}]"])
    check_settings(config)
    config = resolved(config)
    return _Prepared(config, plain(config.agent), plain(config.knowledge), config_digest(plain(config)))


def _model(given: Endpoint | str, config: Config) -> ModelConfig:
    """Return the model's settings as the spec has them: without the key, and with the sampling as sent."""
    if isinstance(given, str):
        return config.model
    longest = given.sampling.get("max_completion_tokens", given.sampling.get("max_tokens"))
    model = thaw(plain(config.model), ModelConfig)
    model.name, model.base_url = f"{SERVER}{given.name}", given.base_url
    model.temperature, model.extra_body = None, dict(given.sampling)
    model.max_tokens = longest if isinstance(longest, int) and longest > 0 else None
    refuse_in({"model": {"sampling": model.extra_body}})
    return model


def _of_spec(request: RolloutRequest) -> PreparedRollout:
    try:
        spec = msgspec.convert(request.spec, EpisodeSpec)
    except msgspec.ValidationError as error:
        raise ConfigError(f"spec: {error}") from error
    if spec.forks or not is_episode(spec.episode):
        raise ConfigError("spec: forks cannot be rollouts, and episode must be env/task/number")
    base = _composed(
        ("agent=naive", *_model_words(request.model), *RETRIES), f"{spec.game.env}/{spec.game.task}"
    )
    model = _model(request.model, base.config)
    player = msgspec.structs.replace(spec.player, model=plain(model))
    steps = request.max_steps or spec.steps
    spec = msgspec.structs.replace(spec, player=player, steps=steps)
    return PreparedRollout(_checked(spec), model, base.config.limits, base.digest)


def _checked(spec: EpisodeSpec) -> EpisodeSpec:
    kind_of(spec.game.env)
    check_game(spec.game)
    if why := agents.refusal(str(spec.player.agent.get("name")), spec.game):
        raise ConfigError(why)
    return spec


NOT_ALLOWED = "which a client may not do"


def refuse_keys(request: RolloutRequest, keys: Collection[str]) -> None:
    """Refuse a client's request for a key of this process that it was not offered."""
    model = request.model
    if isinstance(model, str):
        if model != "scripted":
            raise ConfigError("model: a client has to name an endpoint, by base_url and name")
    elif is_reference(model.api_key) and model.api_key.removeprefix("env:") not in keys:
        # Else a client could have any variable of this process sent to an address of its own.
        raise ConfigError(
            "model.api_key: this variable is not offered; start the service with --key-env NAME"
        )


def refuse_files(request: RolloutRequest, spec: EpisodeSpec | None = None) -> None:
    """Refuse a request from a client that would read files or run programs of this machine."""
    for word in (f"agent={request.agent}", *request.overrides):
        key, _, value = word.partition("=")
        # Before anything is composed, which reads the files that overrides name.
        path = any(mark in value for mark in "/\\~") and not key.startswith("agent.prompts.")
        if path or key == "conf_dir" or "@" in value or ".py" in value:
            raise ConfigError(f"{key[:60]}: names a file, {NOT_ALLOWED}; use a registered name or a text")
    if spec is None:
        return
    agent, knowledge = spec.player.agent, spec.player.knowledge
    name = str(agent.get("name"))
    if agents.runs_own_file(name) or (plays(name) and program_of(name).foreign):
        raise ConfigError(f"agent={name}: runs a program of the server's machine, {NOT_ALLOWED}")
    if agent.get("demonstrations"):
        raise ConfigError(f"agent.demonstrations: names files, {NOT_ALLOWED}")
    if _retrieves(agent) and (
        knowledge.get("corpus") not in registry.corpora.names() or knowledge.get("folder")
    ):
        raise ConfigError(f"knowledge: names a file, {NOT_ALLOWED}; use a registered corpus")


def _retrieves(agent: Mapping[str, Any]) -> bool:
    retrieval = agent.get("retrieval")
    return isinstance(retrieval, Mapping) and bool(retrieval.get("enabled"))
