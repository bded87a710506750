"""What a run needs and this machine lacks: extras, keys, levels, texts. Nothing is fetched or built."""

from collections.abc import Iterator
from functools import partial

from balrog_rag.config.checks import check_together
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import BalrogError
from balrog_rag.run.plan import plan
from balrog_rag.run.preflight import Check, failed, game_checks, service_checks
from balrog_rag.run.services import player_spec
from balrog_rag.util import extras


def unmet(config: Config) -> list[str]:
    """Every need that is not met, each in one line that says how to meet it."""
    return list(dict.fromkeys(map(str, failed(_checks(config)))))


def _checks(config: Config) -> Iterator[Check]:
    """The checks of a run, of its configuration and of each of its games."""
    yield partial(check_together, config)
    yield from service_checks(config)
    if config.runner.backend == "ray":
        yield partial(extras.require, "ray", "ray", "runner=ray")
    try:
        specs = plan(config, player_spec(config))
    except BalrogError:
        yield lambda: plan(config, player_spec(config))  # without a plan, that is what is wrong
        return
    yield from game_checks(specs)
