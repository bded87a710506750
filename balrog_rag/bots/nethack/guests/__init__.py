"""External programs as players: a folder with a `bot.py` that fulfils the contract of the package nethackers.

`make_agent()` returns a bot with `reset(observation)`, `act(observation)` and optionally `close()`. An
observation contains NLE's public arrays, and an action is an index into `nle.nethack.ACTIONS`. Each bot runs
in a separate process, which may crash, hang or grow without affecting others, and starts every game with the
same random seeds.
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from functools import cache
from typing import Any

from balrog_rag.bots.nethack.guests.program_folder import GuestOptions, autoascend_folder, checked, settled
from balrog_rag.contracts.blame import as_written
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.programs import Begin, PlayerLost, Program, ProgramKind
from balrog_rag.envs.nethack import WHOLE


def make(begin: Begin) -> Program:
    """Create the program in agent.options.path."""
    from balrog_rag.bots.nethack.guests.playing import play  # every run asks which players there are

    return play(begin, checked(begin.options))


@cache
def _imports(options: GuestOptions) -> None:
    from balrog_rag.bots.nethack.guests.guest_process import GuestProcess

    with closing(GuestProcess(options, 0, 0, lambda: None)) as guest:
        try:
            guest.check()
        except PlayerLost as lost:
            raise ConfigError(as_written(lost.blame)) from lost


def check(options: Mapping[str, Any]) -> None:
    """Import the program once in a separate process, so that a broken one is rejected before any game."""
    _imports(checked(options))


def make_autoascend(begin: Begin) -> Program:
    """Create AutoAscend as included in the package nethackers."""
    return make(replace(begin, options=with_autoascend(begin.options)))


def settle_autoascend(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options with the program's digest, but without its path on this machine."""
    found = settled(with_autoascend(options), "autoascend")
    return {name: value for name, value in found.items() if name != "path"}


def with_autoascend(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with the folder in which the package keeps AutoAscend."""
    return {**options, "path": str(autoascend_folder())}


PROGRAM = ProgramKind(
    name="program",
    make=make,
    games=(*WHOLE, "minihack"),
    plays=True,
    foreign=True,
    settle=lambda options: settled(options, "program"),
    check=check,
)
POLICY = ProgramKind(
    name="policy",
    make=make,
    games=(*WHOLE, "minihack"),
    plays=True,
    foreign=True,
    settle=lambda options: settled(options, "policy"),
    check=check,
)
"""A function in a user's file: `agent=FILE.py:FUNCTION`."""
AUTOASCEND = ProgramKind(
    name="autoascend",
    make=make_autoascend,
    games=WHOLE,
    plays=True,
    settle=settle_autoascend,
)
