"""Facts about a game that is over: NetHack's own words, its log line, kills, achievements."""

import ctypes
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from balrog_rag.contracts.outcome import Outcome
from balrog_rag.envs.nethack.actions import ESC, SPACE
from balrog_rag.envs.nethack.held_progression import ACHIEVEMENTS
from balrog_rag.envs.nethack.observe import numbers_of

_GAME_OVER = 0
_IN_QUESTION = 1
_QUIT, _YES = ord("q") | 0x80, ord("y")
_PATIENCE = 100
"""Maximum number of pages at the end of a game."""
_TRIES = 5
"""Number of attempts to quit a game; a prompt may swallow the first ones."""

_NUMBERS = frozenset(
    (
        *("points", "deathdnum", "deathlev", "maxlvl", "hp", "maxhp", "deaths", "deathdate", "birthdate"),
        *("uid", "turns", "realtime", "starttime", "endtime"),
    )
)

CONDUCTS = (
    "foodless",
    "vegan",
    "vegetarian",
    "atheist",
    "weaponless",
    "pacifist",
    "illiterate",
    "never polymorphed an object",
    "never changed form",
    "wishless",
    "never wished for an artifact",
    "genocideless",
)
"""Conducts that were kept, by the bits of the log's `conduct`."""


def outcome_of(game: Any) -> Outcome:
    """The outcome of a game that is over, according to NetHack."""
    from nle import nethack

    how = game.how_done()
    special = {
        nethack.QUIT: Outcome.QUIT,
        nethack.ESCAPED: Outcome.ESCAPED,
        nethack.ASCENDED: Outcome.ASCENDED,
    }
    return special.get(how, Outcome.DIED)


def press_through_end(game: Any, arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Dismiss the last pages of a game that is over; return whether the end was reached."""
    for _ in range(_PATIENCE):
        _, done = game.step(ESC if arrays["internal"][_IN_QUESTION] else SPACE)
        if done:
            return True
    return False


def quit_game(game: Any, arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Quit a game that a limit ended, so that NetHack writes its log line; return whether it did."""
    for key in (ESC, ESC, ESC, _QUIT, _YES) * _TRIES:
        _, done = game.step(key)
        if done:
            return True
        if arrays["program_state"][_GAME_OVER]:
            return press_through_end(game, arrays)
    return False


def end_facts(
    game: Any, log: Path, live: NDArray[Any], outcome: Outcome | str, pinned: bool
) -> dict[str, Any]:
    """Return the facts of an end; call it before the game is closed."""
    line = read_log(log)
    fields = line or stand_in(live)
    if line and pinned:  # NetHack writes dates in the machine's time zone
        fields |= {"birthdate": _date(fields["starttime"]), "deathdate": _date(fields["endtime"])}
    dead = outcome == Outcome.DIED
    return {
        "death": str(fields["death"]) if dead else "",
        "xlogfile": fields,
        "xlogfile_from": "game" if line else "stats",
        "achievements": _named(ACHIEVEMENTS, fields.get("achieve")),
        "conducts": _named(CONDUCTS, fields.get("conduct")),
        "kills": kills(game),
        "clock_pinned": pinned,
    }


def read_log(path: Path) -> dict[str, Any]:
    """Read the newest line of NetHack's xlogfile; empty if there is none."""
    try:
        lines = path.read_text("latin-1").splitlines()
    except OSError:
        return {}
    return parse_log_line(lines[-1]) if lines else {}


def parse_log_line(line: str) -> dict[str, Any]:
    """Parse a line of NetHack's xlogfile; the activity of the dead is appended to the death."""
    fields: dict[str, Any] = {}
    for entry in line.split("\t"):
        name, _, value = entry.partition("=")
        fields[name] = int(value) if name in _NUMBERS else value
    fields.pop("ttyrecname", None)
    doing = fields.pop("while", "")
    if doing:
        fields["death"] = f"{fields.get('death', '')}, while {doing}"
    return fields


def stand_in(live: NDArray[Any]) -> dict[str, Any]:
    """Approximate the log line from the bottom lines."""
    numbers = numbers_of(live)
    return {
        "points": numbers["score"],
        "deathdnum": numbers["branch"],
        "deathlev": numbers["depth"],
        "hp": numbers["hp"],
        "maxhp": numbers["max_hp"],
        "turns": numbers["turn"],
        "death": "aborted",
    }


def _date(seconds: int) -> int:
    return int(time.strftime("%Y%m%d", time.gmtime(seconds)))


def _named(names: tuple[str, ...], bits: str | None) -> list[str]:
    value = int(bits, 16) if bits else 0
    return [name for place, name in enumerate(names) if value >> place & 1]


def kills(game: Any) -> dict[str, int]:
    """Count the monsters that died in this game, whoever killed them, as NetHack lists them at the end."""
    from nle import nethack

    class Vital(ctypes.Structure):
        _fields_ = (("born", ctypes.c_ubyte), ("died", ctypes.c_ubyte), ("flags", ctypes.c_ubyte))

    vitals = read_symbol(game, "mvitals", Vital * nethack.NUMMONS)
    if vitals is None:
        return {}
    return {nethack.permonst(n).mname: vital.died for n, vital in enumerate(vitals) if vital.died}


def read_symbol(game: Any, name: str, kind: Any) -> Any:
    """Copy a variable of a running game's library; None if there is no such symbol."""
    import _ctypes

    try:
        library = ctypes.CDLL(game.dlpath)
    except OSError:
        return None
    try:
        return kind.from_buffer_copy(kind.in_dll(library, name))
    except ValueError:
        return None
    finally:
        _ctypes.dlclose(library._handle)
