"""Isolate NetHack from the environment variables of the user.

On the Rogue level a ghost is named after ROGUEOPTS, and random numbers are drawn only if it is not set. NLE
also prints a warning whenever such a variable is read. Here every variable appears unset, and nothing is
printed.
"""

from typing import Any

from balrog_rag.envs.nethack.library import answer

_NOTHING = b"\x31\xc0\xc3"
"""xor eax, eax; ret"""


def hide_variables(game: Any) -> None:
    """Hide all environment variables from an `nle.nethack.Nethack` that has not started, if possible."""
    for function in (b"getenv", b"nh_getenv"):
        answer(game, function, _NOTHING)
