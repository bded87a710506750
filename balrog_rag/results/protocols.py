"""The scores that others report, by their own rules, so that figures can stand beside theirs."""

from collections.abc import Sequence
from statistics import fmean, median, pstdev, stdev

import msgspec

from balrog_rag.episode.outcome import Outcome
from balrog_rag.results.episodes import Episode
from balrog_rag.results.summary import mean_and_error

BATCH = 5
BATCHES = 3


class PaperScore(msgspec.Struct, frozen=True):
    """wiki-BALROG's: of three batches of five episodes of NetHack the one with the best mean progression.

    The paper's caption calls its ± a standard deviation; its published files show that it is BALROG's
    standard error. Both are here. Taking the best of three favours whoever is luckier: `all_mean` is the
    figure without that choice.
    """

    batch_means: tuple[float, ...]
    mean: float
    deviation: float
    standard_error: float
    max_depth: int
    max_experience_level: int
    all_mean: float


class ChallengeScore(msgspec.Struct, frozen=True):
    """The NetHack Challenge's (NeurIPS 2021): wins, then the median, then the mean in-game score."""

    ascensions: int
    median: float
    mean: float


class Spread(msgspec.Struct, frozen=True):
    """A mean and the sample standard deviation around it."""

    mean: float
    deviation: float


class NetPlayScore(msgspec.Struct, frozen=True):
    """NetPlay's: over episodes the mean ± sample standard deviation of the highest value each reached."""

    score: Spread
    depth: Spread
    experience_level: Spread
    turns: Spread


def nethack(episodes: Sequence[Episode]) -> list[Episode]:
    """Those of NetHack itself."""
    return [episode for episode in episodes if episode.env == "nle"]


def paper_score(runs: Sequence[Sequence[Episode]]) -> PaperScore | None:
    """By the paper's protocol: runs cut into batches of five in order, the first three whole ones count."""
    batches = [batch for episodes in runs for batch in _batches(nethack(episodes))][:BATCHES]
    if not batches:
        return None
    best = max(batches, key=lambda batch: fmean(episode.percent for episode in batch))
    mean, error = mean_and_error([episode.progression for episode in best])
    return PaperScore(
        tuple(fmean(episode.percent for episode in batch) for batch in batches),
        100 * mean,
        pstdev(episode.percent for episode in best),
        100 * error,
        max(episode.most.get("depth", 0) for episode in best),
        max(episode.most.get("experience_level", 0) for episode in best),
        fmean(episode.percent for batch in batches for episode in batch),
    )


def _batches(episodes: Sequence[Episode]) -> list[Sequence[Episode]]:
    return [episodes[start : start + BATCH] for start in range(0, len(episodes) - BATCH + 1, BATCH)]


def challenge_score(episodes: Sequence[Episode]) -> ChallengeScore | None:
    """By the NetHack Challenge's protocol."""
    played = nethack(episodes)
    if not played:
        return None
    points = [float(episode.last.get("score", 0)) for episode in played]
    won = sum(episode.outcome == Outcome.ASCENDED for episode in played)
    return ChallengeScore(won, median(points), fmean(points))


def netplay_score(episodes: Sequence[Episode]) -> NetPlayScore | None:
    """By NetPlay's protocol."""
    played = nethack(episodes)
    if not played:
        return None
    return NetPlayScore(
        _spread([episode.most.get("score", 0) for episode in played]),
        _spread([episode.most.get("depth", 0) for episode in played]),
        _spread([episode.most.get("experience_level", 0) for episode in played]),
        _spread([episode.last.get("turn", 0) for episode in played]),
    )


def _spread(values: Sequence[int]) -> Spread:
    return Spread(fmean(values), stdev(values) if len(values) > 1 else 0.0)
