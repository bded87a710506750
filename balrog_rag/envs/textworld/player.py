"""A player of TextWorld without a model: it types the commands that the game itself says lead to its end.

It sees more than a model does, so it shows what a game is worth, not how well anybody plays.
"""

from collections.abc import Callable, Generator, Sequence

from balrog_rag.envs.small_engine import Moment


def play(advice: Callable[[], Sequence[str]]) -> Generator[str, Moment, None]:
    """Type what is advised, or look around if there is no advice."""
    while True:
        yield next(iter(advice()), "look")
