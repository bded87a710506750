"""Find what a run needs and this machine lacks: extras, keys, levels, texts. Fetches and builds nothing."""

from collections.abc import Callable, Iterator

from balrog_rag import agents, knowledge
from balrog_rag.config.checks import check_together
from balrog_rag.config.schema import Config
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import BalrogError
from balrog_rag.contracts.kinds import check_game
from balrog_rag.models.api_keys import refuse_unanswerable
from balrog_rag.run.plan import plan
from balrog_rag.run.services import player_spec
from balrog_rag.util import extras


def unmet(config: Config) -> list[str]:
    """Return one line for each unmet need, which says how to meet it."""
    found = (_refusal(check) for check in _checks(config))
    return list(dict.fromkeys(line for line in found if line))


def _checks(config: Config) -> Iterator[Callable[[], object]]:
    """Yield one check per need; a run makes the same ones, but stops at the first failure."""
    yield lambda: check_together(config)
    if agents.asks_model(config.agent):
        backend = config.model.backend
        yield lambda: extras.require_of(registry.models.get(backend), f"model.backend={backend}")
        yield lambda: refuse_unanswerable(config.model)
    if agents.retrieves(config.agent):
        yield lambda: knowledge.require_extras(config.knowledge)
    if config.runner.backend == "ray":
        yield lambda: extras.require("ray", "ray", "runner=ray")
    yield from _game_checks(config)


def _game_checks(config: Config) -> Iterator[Callable[[], object]]:
    """Yield one check per task; if planning itself fails, that is the unmet need."""
    try:
        specs = plan(config, player_spec(config))
    except BalrogError:
        yield lambda: plan(config, player_spec(config))
        return
    for game in {(spec.game.env, spec.game.task): spec.game for spec in specs}.values():
        yield lambda game=game: check_game(game)  # type: ignore[misc]


def _refusal(check: Callable[[], object]) -> str:
    try:
        check()
    except BalrogError as error:
        return str(error)
    return ""
