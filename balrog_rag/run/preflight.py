"""What is checked before a run plays: names, keys, extras, options and prices. Nothing is written here."""

from collections.abc import Sequence

from balrog_rag import agents, knowledge
from balrog_rag import models as llm
from balrog_rag.agents import demonstration_choice
from balrog_rag.agents.lookup_worth import check_gate
from balrog_rag.config.checks import check_together
from balrog_rag.config.frozen import plain, thaw
from balrog_rag.config.plain_secrets import refuse_in
from balrog_rag.config.schema import AgentConfig, Config
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import check_game
from balrog_rag.contracts.programs import plays, program_of
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.models.api_keys import refuse_unanswerable
from balrog_rag.models.budget import capped_in_dollars, unpriced
from balrog_rag.run.user_watchers import chosen_watchers
from balrog_rag.util import extras


def check_new(config: Config) -> None:
    """Check what only a new run needs: a resumed one may have no calls left to make."""
    check_together(config)
    check_gate(config.agent.retrieval.gate)
    if config.runner.backend == "local":  # cluster nodes have their own keys and extras
        check_services(config)


def check_services(config: Config) -> None:
    """Refuse a missing API key or extra of the model or the knowledge base, before any slow work."""
    if agents.asks_model(config.agent):
        extras.require_of(registry.models.get(config.model.backend), f"model.backend={config.model.backend}")
        refuse_unanswerable(config.model)
    if agents.retrieves(config.agent):
        knowledge.require_extras(config.knowledge)


def check_config(config: Config) -> None:
    """Refuse secrets in plain text, wrong model options, and a dollar cap without a known price."""
    refuse_in(plain(config))
    chosen_watchers(config.run.watch)
    if config.runner.backend == "ray":
        extras.require("ray", "ray", "runner=ray")
    model = llm.build(config.model)  # checks its options; nothing is loaded or reached yet
    if capped_in_dollars(config.limits) and agents.asks_model(config.agent) and not llm.price_known(model):
        raise unpriced("limits", config.model.name)


def check_episodes(specs: Sequence[EpisodeSpec]) -> None:
    """Refuse games that do not exist, and players that cannot play one of them or have wrong options."""
    by_task = {(spec.game.env, spec.game.task): spec for spec in specs}
    for spec in by_task.values():
        check_game(spec.game)
    for spec in by_task.values():
        if why := agents.refusal(str(spec.player.agent["name"]), spec.game):
            raise ConfigError(why)
    if specs and specs[0].player.agent["demonstrations"]:
        demonstration_choice.check(thaw(specs[0].player.agent, AgentConfig), [spec.game for spec in specs])
    for player in {spec.last_player.agent["name"]: spec.last_player for spec in specs}.values():
        if plays(name := str(player.agent["name"])):
            program_of(name).check(player.agent["options"])
