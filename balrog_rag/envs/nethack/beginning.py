"""Handle the first pages of a game, and questions before its first move."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from balrog_rag.contracts.errors import EnvironmentFailure
from balrog_rag.envs.nethack.actions import ESC, SPACE

_IN_MOVES = 3
_IN_TEXT, _AT_PAGE = 2, 3
_FIRST_PAGES = 1000


def turn_first_pages(game: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Press keys until the game accepts moves.

    A scroll of scare monster under the hero turns to dust when it is picked up, and the game then asks for a
    name for such scrolls: a space would only become part of that name.
    """
    state, asking = arrays["program_state"], arrays["internal"]
    for _ in range(_FIRST_PAGES):
        if state[_IN_MOVES]:
            return
        game.step(ESC if asking[_IN_TEXT] and not asking[_AT_PAGE] else SPACE)
    raise EnvironmentFailure(f"NetHack did not begin within {_FIRST_PAGES} key presses")
