"""NetHack and MiniHack: making, seeding, actions, observations, progression, and where games live."""

from balrog_rag.contracts.data import GameSpec


def check_game(game: GameSpec) -> None:
    """Raise a ConfigError where the game cannot be: unknown names, or levels that are not on this machine."""
    from balrog_rag.envs.tasks import check

    check(game)
