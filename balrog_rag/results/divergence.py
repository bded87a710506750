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
    theirs_by_game: dict[tuple[str, str, str], list[tuple[LoadedRun, Episode]]] = {}
    for run, episode in reversed(_episodes(theirs)):
        theirs_by_game.setdefault(_game(episode), []).append((run, episode))
    found = []
    for run, episode in _episodes(ours):
        if partners := theirs_by_game.get(_game(episode)):
            found.append(((run, episode), partners.pop()))
    return [parting for pair in found[:MOST_READ] if (parting := _first_difference(*pair))], len(found)


def _episodes(arm: Arm) -> list[tuple[LoadedRun, Episode]]:
    return [(run, episode) for run in arm.runs for episode in run.episodes]


def _game(episode: Episode) -> tuple[str, str, str]:
    return episode.env, episode.task, episode.game_name


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
