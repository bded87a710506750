"""Find where two episodes of the same game first differ."""

from itertools import zip_longest
from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import JournalError
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Step
from balrog_rag.results.arms import Arm
from balrog_rag.results.episodes import Episode


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


def partings(ours: Arm, theirs: Arm) -> list[Divergence]:
    """Compare all pairs of episodes of the same game, in order; pairs with a missing journal are skipped."""
    theirs_by_game: dict[tuple[str, str, str], list[tuple[Path, Episode]]] = {}
    for path, episode in _journals(theirs):
        theirs_by_game.setdefault(_game(episode), []).append((path, episode))
    found = []
    for path, episode in _journals(ours):
        partners = theirs_by_game.get(_game(episode), [])
        if partners:
            their_path, partner = partners.pop(0)
            found.append((episode.name, partner.name, path, their_path))
    return [parting for names in found if (parting := _first_difference(*names))]


def _journals(arm: Arm) -> list[tuple[Path, Episode]]:
    return [(run.journal(episode.name), episode) for run in arm.runs for episode in run.episodes]


def _game(episode: Episode) -> tuple[str, str, str]:
    return episode.env, episode.task, episode.game_name


def _first_difference(ours: str, theirs: str, our_path: Path, their_path: Path) -> Divergence | None:
    try:
        steps = [journal.read(path).steps for path in (our_path, their_path)]
    except JournalError:
        return None
    for n, (mine, yours) in enumerate(zip_longest(*steps)):
        if what := _difference(mine, yours):
            return Divergence(ours, theirs, n, mine.taken if mine else "", yours.taken if yours else "", what)
    return Divergence(ours, theirs, None)


def _difference(mine: Step | None, yours: Step | None) -> str:
    if mine is None or yours is None:
        return "ended"
    if mine.taken != yours.taken:
        return "action"
    return "screen" if mine.obs != yours.obs else ""
