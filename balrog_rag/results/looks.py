"""Count how often two arms were compared while their episodes came in.

Testing at 5 % at every look finds false differences far more often than one time in twenty. So `compare`
records each look in the folder of the first run, if that folder belongs to this user, and the next sentence
states the number. Comparing the same episodes again is not a new look.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from balrog_rag.contracts.data import digest
from balrog_rag.results import run_folder
from balrog_rag.results.arms import Arm
from balrog_rag.results.run_seal import is_local_run
from balrog_rag.results.statistics.comparison import Comparison
from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.files import read_file

LOOKS = ".looks"
MOST = 1_000
"""Maximum number of looks kept in a folder; older ones are dropped."""
LARGEST = 1_000_000


class Look(msgspec.Struct, frozen=True):
    """A comparison that was made."""

    of: str
    """Digest of both arms' settings and of the measure."""
    ours: int
    theirs: int


def noted(arms: Sequence[Arm], made: Comparison) -> Comparison:
    """Add earlier looks to the comparison, and record this one."""
    home = arms[0].runs[0].folder
    if not made.made or not is_local_run(home):
        return made
    settings = msgspec.json.encode([made.measure, *(arm.settings for arm in arms)], order="sorted")
    this = Look(digest(settings), made.our_count, made.their_count)
    before = _read(home)
    earlier = tuple(look.ours for look in before if look.of == this.of and look != this)
    if this not in before:
        _write(home, [*before, this][-MOST:])
    return msgspec.structs.replace(made, earlier=earlier)


def _read(home: Path) -> list[Look]:
    try:
        return decoded_json(read_file(home / LOOKS, LARGEST), list[Look])
    except (OSError, msgspec.MsgspecError):
        return []


def _write(home: Path, looks: Sequence[Look]) -> None:
    try:
        run_folder.write_json(home / LOOKS, looks)
    except OSError:  # read-only folders can still be compared
        return
