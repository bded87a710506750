"""Find where two episodes of the same game first differ."""

from itertools import zip_longest

import msgspec

from balrog_rag.contracts.errors import JournalError
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Step
from balrog_rag.results.arms import Arm
from balrog_rag.results.episodes import Episode
from balrog_rag.results.runs import LoadedRun


class Divergence(msgspec.Struct, frozen=True):
    """Two episodes of one game, and their first step with different actions or screens."""

    ours: str
    theirs: str
    step: int | None
    """None: they are identical."""
    our_action: str = ""
    their_action: str = ""
    difference: str = ""
    """What differs: action, screen, or that one has ended."""


MOST_READ = 2_000
"""Pairs whose journals are read; of more, a run of a million episodes would take hours."""


def partings(ours: Arm, theirs: Arm) -> tuple[list[Divergence], int]:
    """Compare the first pairs of episodes of the same game, in order; also return how many pairs there are.

    Pairs with a missing journal are skipped.
    """
    mine, yours = (arm.episodes.arrays.games for arm in (ours, theirs))
    waiting: dict[tuple[str, str, str], list[int]] = {}
    for place in range(len(yours.codes) - 1, -1, -1):
        waiting.setdefault(yours.values[yours.codes[place]], []).append(place)
    partners = [waiting.get(game, []) for game in mine.values]
    found = [
        (place, of_game.pop())
        for place, code in enumerate(mine.codes.tolist())
        if (of_game := partners[code])
    ]
    read = [(_at(ours, place), _at(theirs, other)) for place, other in found[:MOST_READ]]
    return [parting for pair in read if (parting := _first_difference(*pair))], len(found)


def _at(arm: Arm, place: int) -> tuple[LoadedRun, Episode]:
    """An episode of an arm, with its run."""
    for run in arm.runs:
        if place < len(run.episodes):
            return run, run.episodes[place]
        place -= len(run.episodes)
    raise IndexError(place)


def _first_difference(mine: tuple[LoadedRun, Episode], yours: tuple[LoadedRun, Episode]) -> Divergence | None:
    ours, theirs = mine[1].name, yours[1].name
    try:
        steps = [journal.read(run.journal(episode.name)).steps for run, episode in (mine, yours)]
    except JournalError:
        return None
    for n, (one, other) in enumerate(zip_longest(*steps)):
        if what := _difference(one, other):
            return Divergence(ours, theirs, n, one.taken if one else "", other.taken if other else "", what)
    return Divergence(ours, theirs, None)


def _difference(mine: Step | None, yours: Step | None) -> str:
    if mine is None or yours is None:
        return "ended"
    if mine.taken != yours.taken:
        return "action"
    return "screen" if mine.obs != yours.obs else ""
