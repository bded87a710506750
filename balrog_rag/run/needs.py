"""What a run needs and this machine lacks: extras, keys, levels, texts. Nothing is fetched or built."""

from collections.abc import Iterator
from functools import partial

from balrog_rag import agents, knowledge
from balrog_rag.config.checks import check_together
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import BalrogError
from balrog_rag.run.plan import plan
from balrog_rag.run.preflight import (
    Check,
    check_settings,
    failed,
    game_checks,
    refuse_together,
    service_checks,
)
from balrog_rag.run.services import player_spec, unread
from balrog_rag.util import extras


def check_new(config: Config) -> None:
    """Check all that a new run needs, before anything slow; one error names everything that it lacks."""
    check_settings(config)
    refuse_together([*_service_needs(config), *_runner_needs(config), *_game_needs(config)])


def unmet(config: Config) -> list[str]:
    """Every need that is not met, each in one line that says how to meet it."""
    settings: Check = partial(check_together, config)
    checks = [settings, *_service_needs(config), *_runner_needs(config), *_game_needs(config)]
    return list(dict.fromkeys(map(str, failed(checks))))


def unmet_by_services(config: Config) -> list[str]:
    """The same without the games: keys, extras and texts, which an estimate of the costs can do without."""
    return list(dict.fromkeys(map(str, failed([*_service_needs(config), *_runner_needs(config)]))))


def _service_needs(config: Config) -> Iterator[Check]:
    """The checks of the model and of the knowledge base; cluster nodes have their own keys and texts."""
    if config.runner.backend == "ray":
        return
    yield from service_checks(config)
    if agents.retrieves(config.agent):
        yield partial(knowledge.check_corpus, config.knowledge)


def _runner_needs(config: Config) -> Iterator[Check]:
    if config.runner.backend == "ray":
        yield partial(extras.require, "ray", "ray", "runner=ray")


def _game_needs(config: Config) -> Iterator[Check]:
    """The checks of the games, whose plan needs no text of the knowledge base."""
    try:
        specs = plan(config, player_spec(unread(config)))
    except BalrogError as error:
        # Without a plan no game can be checked, so the error itself is the finding.
        yield partial(_refuse, error)
        return
    yield from game_checks(specs)


def _refuse(error: BalrogError) -> None:
    raise error
