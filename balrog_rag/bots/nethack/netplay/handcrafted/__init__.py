"""NetPlay's handcrafted player: seven rules over its skills, without a model."""

from collections.abc import Mapping
from typing import Any

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.programs import Begin, Program, ProgramKind
from balrog_rag.envs.nethack import WHOLE

OPTION = "paper_bug"


def bug_of(options: Mapping[str, Any]) -> bool:
    """Whether it prays by the paper's rule: agent.options.paper_bug."""
    unknown = [name for name in options if name != OPTION]
    if unknown:
        raise ConfigError(f"agent.options: handcrafted has no {unknown[0]!r}; it has {OPTION}")
    value = options.get(OPTION, False)
    if not isinstance(value, bool):
        raise ConfigError(f"agent.options.{OPTION}: {value!r} is neither true nor false")
    return value


def make(begin: Begin) -> Program:
    """Create the player as a program."""
    from balrog_rag.bots.nethack.netplay.handcrafted.bot import play  # loaded with the first game

    return play(begin.screen, bug_of(begin.options))


def check(options: Mapping[str, Any]) -> None:
    """Refuse other options, before a game begins."""
    bug_of(options)


HANDCRAFTED = ProgramKind(name="handcrafted", make=make, games=(*WHOLE, "netplay"), plays=True, check=check)
