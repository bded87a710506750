"""Looks of `limits.until=verdict`: the episodes of each block, and what each look found (RUN/looks.json).

A run that its own design stopped is incomplete by rule: it has whole blocks, and the look that stopped it
kept the 5 %. The one comparison that this look made can be read back without `--partial`; means of the run
alone, and comparisons with other arms, cannot.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from balrog_rag.results.episodes import Episode
from balrog_rag.results.runs import LoadedRun
from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.files import read_file

if TYPE_CHECKING:
    from balrog_rag.results.arms import Arm

LOOKS = 4
"""With more, the first could spend less than the smallest p of a random test."""
FILE = "looks.json"
LARGEST = 1_000_000


class RecordedLook(msgspec.Struct, frozen=True):
    """One comparison with the baseline."""

    episodes: int
    """Episodes of this run that were compared."""
    planned: int
    p: float
    allowed: float
    decided: bool
    sentence: str
    against: str = ""
    """Digest of the baseline's configuration; empty in looks of earlier versions."""
    family: int = 1
    """The number of comparisons that share the 5 %."""


class DecidedLook(NamedTuple):
    """The look that stopped a run, with the episodes that it compared, and the baseline's."""

    ours: Sequence[Episode]
    theirs: Sequence[Episode]
    allowed: float
    """What p may be at most, so that all looks together are wrong in at most 5 % of cases."""
    family: int
    note: str


def blocks(names: Sequence[str]) -> Iterator[list[str]]:
    """Split the planned episodes into equal shares of every task."""
    by_task: dict[str, list[str]] = {}
    for name in names:
        by_task.setdefault(name.rpartition("/")[0], []).append(name)
    for number in range(LOOKS):
        yield [
            name
            for own in by_task.values()
            for name in own[len(own) * number // LOOKS : len(own) * (number + 1) // LOOKS]
        ]


def shared(ours: Sequence[Episode], theirs: Sequence[Episode]) -> list[Episode]:
    """Their episodes of the same games, or all of them if the runs do not share their games."""
    games = {(episode.env, episode.task, episode.game_name) for episode in ours}
    same = [one for one in theirs if (one.env, one.task, one.game_name) in games]
    return same if len(same) >= len(ours) else list(theirs)


def recorded(folder: Path) -> list[RecordedLook]:
    """The looks that a run's folder records; none if the file is missing or damaged."""
    try:
        return decoded_json(read_file(folder / FILE, LARGEST), list[RecordedLook])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return []


def stopped_by_verdict(run: LoadedRun) -> RecordedLook | None:
    """The look that stopped this run; None if it was not stopped so, or has other episodes than that look."""
    looks = recorded(run.folder)
    if not looks or not looks[-1].decided or len(looks) >= LOOKS:
        return None
    if run.unfinished or run.problems or run.cut:
        return None
    played = [name for block in list(blocks(run.asked_for))[: len(looks)] for name in block]
    return looks[-1] if {episode.name for episode in run.episodes} == set(played) else None


def decided_look(ours: "Arm", theirs: "Arm") -> DecidedLook | None:
    """The look at these two arms that stopped one of them; None if there was none."""
    found = _look_of(ours, theirs)
    if found is None and (found := _look_of(theirs, ours)) is not None:
        return found._replace(ours=found.theirs, theirs=found.ours)
    return found


def _look_of(stopped: "Arm", baseline: "Arm") -> DecidedLook | None:
    from balrog_rag.results.statistics.sequential import look  # loads numpy, which most runs do without

    if len(stopped.runs) != 1 or len(baseline.runs) != 1:
        return None
    run, other = stopped.runs[0], baseline.runs[0]
    said = stopped_by_verdict(run)
    if said is None or said.against != other.digest or said.family < 1:
        return None
    theirs = shared(run.episodes, other.episodes)
    if other.partial and len(theirs) > len(run.episodes):
        return None  # the baseline lacks some of these games, and the rest of it is not a sample
    number = len(recorded(run.folder))
    level = None
    for counted in range(1, number + 1):  # again, since the file may be anybody's
        level = look(1.0, counted, LOOKS, level, said.family)
    allowed = level.allowed if level else 0.0
    note = (
        f"{stopped.name} was stopped by this verdict, at look {number} of {LOOKS}, after "
        f"{len(run.episodes):,} of {run.planned:,} episodes, where p may be at most {allowed:.2g}; the "
        "difference was measured when it was large, so it is overstated"
    )
    return DecidedLook(run.episodes, theirs, allowed, said.family, note)
