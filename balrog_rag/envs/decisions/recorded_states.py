"""The recorded states: a game's seeds and the keys that lead to the state, in eval/decisions/."""

from functools import cache
from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.paths import data


class RecordedState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A state of a recorded game."""

    core: int
    disp: int
    keys: str
    """The keys pressed up to the state, as characters."""
    screen: str
    """Digest of the screen that they lead to."""
    turn: int
    prayed: int = -1
    """The turn of the last prayer; -1: none."""
    player: str = ""
    """Who played until then."""


class RecordedStates(msgspec.Struct, frozen=True):
    """A file of states of one kind."""

    found: int
    """Games in which such a state was found."""
    searched: int
    """Games that were searched."""
    states: tuple[RecordedState, ...]


def path_of(task: str) -> Path:
    """Return the path of a kind's file."""
    return data("eval") / "decisions" / f"{task}.json"


@cache
def recorded(task: str) -> RecordedStates:
    """Read a kind's states."""
    try:
        return msgspec.json.decode(path_of(task).read_bytes(), type=RecordedStates)
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError(f"{path_of(task)}: cannot be read ({error}); restore the file") from error
