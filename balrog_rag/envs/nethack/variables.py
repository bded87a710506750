"""Keeps the environment variables of whoever plays out of NetHack.

On the Rogue level a ghost is named after ROGUEOPTS, and dice are thrown only where that is not set; NLE also
prints a warning whenever such a variable is asked for. A game is told that none is set, and prints nothing.
"""

from typing import Any

from balrog_rag.envs.nethack.library import answer

_NOTHING = b"\x31\xc0\xc3"
"""xor eax, eax; ret"""


def hide_variables(game: Any) -> None:
    """Let an `nle.nethack.Nethack` that was not yet started find no environment variable, where possible."""
    for function in (b"getenv", b"nh_getenv"):
        answer(game, function, _NOTHING)
