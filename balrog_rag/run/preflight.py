"""What is checked before a run plays: names, keys, extras, options and prices. Nothing is written here."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from balrog_rag import agents, knowledge
from balrog_rag import models as llm
from balrog_rag.agents import own_class
from balrog_rag.agents.demonstration_choice import check_demonstrations
from balrog_rag.agents.lookup_worth import check_gate
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.config.checks import check_together
from balrog_rag.config.frozen import thaw
from balrog_rag.config.schema import Config
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.contracts.kinds import check_game
from balrog_rag.contracts.programs import plays, program_of
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.models.api_keys import refuse_unanswerable
from balrog_rag.models.budget import capped_in_dollars, unpriced
from balrog_rag.run.object_store import check_store
from balrog_rag.run.user_watchers import chosen_watchers
from balrog_rag.util import extras

Check: TypeAlias = Callable[[], object]
"""Raises an error if something is missing or wrong."""


def check_settings(config: Config) -> None:
    """Check what only a new run needs of its settings: a resumed one may have no calls left to make."""
    check_together(config)
    check_gate(config.agent.retrieval.gate)


def service_checks(config: Config) -> Iterator[Check]:
    """One check for each key or extra that the model and the knowledge base need."""
    needs = agents.needs(config.agent)
    if needs.model:
        backend = config.model.backend
        yield lambda: extras.require_of(registry.models.get(backend), f"model.backend={backend}")
        yield lambda: refuse_unanswerable(config.model)
    if needs.knowledge:
        yield lambda: knowledge.require_extras(config.knowledge)


def game_checks(specs: Sequence[EpisodeSpec]) -> Iterator[Check]:
    """One check for each task: unknown names, missing levels and extras."""
    for game in {(spec.game.env, spec.game.task): spec.game for spec in specs}.values():
        yield partial(check_game, game)


def refuse_together(checks: Iterable[Check]) -> None:
    """Make every check, so that one error names everything that is wrong."""
    failures = failed(checks)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise ConfigError("; and ".join(dict.fromkeys(map(str, failures))))


def failed(checks: Iterable[Check]) -> list[BalrogError]:
    """The errors of the checks that fail."""
    failures = []
    for check in checks:
        try:
            check()
        except BalrogError as error:
            failures.append(error)
    return failures


def check_config(config: Config) -> None:
    """Refuse unknown watchers, wrong model options, and a dollar cap without a known price."""
    chosen_watchers(config.run.watch)
    check_store(config)
    if config.runner.backend == "ray":
        extras.require("ray", "ray", "runner=ray")
    # Building checks the options but loads and contacts nothing, so it is cheap enough for every start.
    model = llm.build(config.model)
    if capped_in_dollars(config.limits) and not llm.price_known(model) and agents.asks_model(config.agent):
        raise unpriced("limits", config.model.name)


def check_episodes(specs: Sequence[EpisodeSpec]) -> None:
    """Refuse games that do not exist, and players that cannot play one of them or have wrong options."""
    by_task = {(spec.game.env, spec.game.task): spec for spec in specs}
    refuse_together(game_checks(specs))
    for spec in by_task.values():
        if why := agents.refusal(str(spec.player.agent["name"]), spec.game):
            raise ConfigError(why)
    if specs and specs[0].player.agent["demonstrations"]:
        check_demonstrations(thaw(specs[0].player.agent, AgentConfig), [spec.game for spec in specs])
    for player in {spec.last_player.agent["name"]: spec.last_player for spec in specs}.values():
        if plays(name := str(player.agent["name"])):
            program_of(name).check(player.agent["options"])
        elif agents.runs_own_file(name):
            own_class.load(player.agent["options"])
