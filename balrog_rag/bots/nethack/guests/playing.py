"""Play a game with a program in a separate process."""

import contextlib
from collections.abc import Generator, Mapping
from typing import Any

from balrog_rag.bots.nethack.guests.guest_process import GuestProcess
from balrog_rag.bots.nethack.guests.program_folder import GuestOptions
from balrog_rag.contracts.programs import Begin, Program
from balrog_rag.envs.nethack import WHOLE
from balrog_rag.envs.nethack.world.keys import AUTOPICKUP
from balrog_rag.envs.nethackers import board

SHOWN = (
    *("glyphs", "chars", "colors", "specials", "blstats", "message"),
    *("inv_glyphs", "inv_strs", "inv_letters", "inv_oclasses"),
    *("tty_chars", "tty_colors", "tty_cursor", "misc"),
)
"""NLE's public arrays, which an observation contains."""
_MISC = slice(1, 4)


def play(begin: Begin, options: GuestOptions) -> Program:
    """Press the program's keys until the game or the program ends."""
    from nle import nethack

    keys = [int(action) for action in nethack.ACTIONS]
    screen, seed = begin.screen, begin.seed
    if begin.view.env == board.KIND:  # its rules switch autopickup off, and define a program's seed
        seed = board.dice(seed).program
    elif begin.view.env in WHOLE:
        screen = yield from autopickup_off(screen)
    with contextlib.closing(GuestProcess(options, seed, len(keys), begin.heartbeat)) as guest:
        guest.reset(_shown(screen))
        while True:
            screen = yield keys[guest.act(_shown(screen))]


def autopickup_off(screen: Any) -> Generator[int, Any, Any]:
    """Switch autopickup off, as these programs expect; return the screen after that."""
    for _ in range(2):
        screen = yield AUTOPICKUP
        if b"OFF" in bytes(screen["message"].tobytes()):
            break
    return screen


def _shown(screen: Mapping[str, Any]) -> dict[str, Any]:
    if "misc" not in screen:  # MiniHack does not ask for it; its values are part of another array
        screen = {**screen, "misc": screen["internal"][_MISC]}
    return {name: screen[name] for name in SHOWN}
