"""Scores of NetHack under the rules of other publications, for comparison with their figures."""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, median, pstdev, stdev

import msgspec

from balrog_rag.contracts.kinds import PlayedEpisode, Rules
from balrog_rag.contracts.measures import numbers_of
from balrog_rag.contracts.outcome import Outcome

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


class MeanAndDeviation(msgspec.Struct, frozen=True):
    """A mean and the sample standard deviation around it."""

    mean: float
    deviation: float


class NetPlayScore(msgspec.Struct, frozen=True):
    """NetPlay's: mean ± sample standard deviation over episodes of the highest value that each reached."""

    score: MeanAndDeviation
    depth: MeanAndDeviation
    experience_level: MeanAndDeviation
    turns: MeanAndDeviation


def paper_score(runs: Sequence[Sequence[PlayedEpisode]]) -> PaperScore | None:
    """Compute the paper's score: batches of five in order, of which the first three complete ones count."""
    batches = [batch for episodes in runs for batch in _batches(episodes)][:BATCHES]
    if not batches:
        return None
    best = max(batches, key=lambda batch: fmean(episode.percent for episode in batch))
    values = [episode.percent for episode in best]
    return PaperScore(
        tuple(fmean(episode.percent for episode in batch) for batch in batches),
        fmean(values),
        pstdev(values),
        pstdev(values) / sqrt(len(values)),
        max(episode.most.get("depth", 0) for episode in best),
        max(episode.most.get("experience_level", 0) for episode in best),
        fmean(episode.percent for batch in batches for episode in batch),
    )


def _batches(episodes: Sequence[PlayedEpisode]) -> list[Sequence[PlayedEpisode]]:
    starts = range(0, len(episodes) - BATCH + 1, BATCH)[:BATCHES]
    return [episodes[start : start + BATCH] for start in starts]


def challenge_score(episodes: Sequence[PlayedEpisode]) -> ChallengeScore | None:
    """Compute the NetHack Challenge's score."""
    if not episodes:
        return None
    points = list(map(float, numbers_of(episodes, "last", "score")))
    won = sum(episode.outcome == Outcome.ASCENDED for episode in episodes)
    return ChallengeScore(won, median(points), fmean(points))


def netplay_score(episodes: Sequence[PlayedEpisode]) -> NetPlayScore | None:
    """Compute NetPlay's score."""
    if not episodes:
        return None
    best = [numbers_of(episodes, "most", name) for name in ("score", "depth", "experience_level")]
    score, depth, level = map(_spread, best)
    return NetPlayScore(score, depth, level, _spread(numbers_of(episodes, "last", "turn")))


def _spread(values: Sequence[int]) -> MeanAndDeviation:
    return MeanAndDeviation(fmean(values), stdev(values) if len(values) > 1 else 0.0)


def _paper_words(runs: Sequence[Sequence[PlayedEpisode]]) -> tuple[str]:
    paper = paper_score(runs)
    if paper is None:
        return ("needs five episodes",)
    return (
        f"{paper.mean:.2f} ± {paper.standard_error:.2f} SE ({paper.deviation:.2f} sd), "
        f"Dlvl {paper.max_depth}, Xp {paper.max_experience_level}; "
        f"best of {len(paper.batch_means)}, all: {paper.all_mean:.2f}",
    )


def _pooled(runs: Sequence[Sequence[PlayedEpisode]]) -> Sequence[PlayedEpisode]:
    return runs[0] if len(runs) == 1 else [episode for episodes in runs for episode in episodes]


def _challenge_words(runs: Sequence[Sequence[PlayedEpisode]]) -> tuple[str]:
    found = challenge_score(_pooled(runs))
    return (f"{found.ascensions} / {found.median:,.0f} / {found.mean:,.0f}" if found else "",)


def _netplay_words(runs: Sequence[Sequence[PlayedEpisode]]) -> list[str]:
    found = netplay_score(_pooled(runs))
    parts = (found.score, found.depth, found.experience_level, found.turns) if found else ()
    return [f"{part.mean:,.2f} ± {part.deviation:,.2f}" for part in parts]


def _dataset_words(runs: Sequence[Sequence[PlayedEpisode]]) -> tuple[str]:
    found = challenge_score(_pooled(runs))
    return (f"{found.mean:,.1f}" if found else "",)


RULES = (
    Rules(
        "wiki-BALROG",
        ("wiki-BALROG: best batch of five out of three, %",),
        _paper_words,
        "The best of several batches is a lucky choice: the figure over all of them is the fair one.",
    ),
    Rules(
        "NetHack Challenge",
        ("NetHack Challenge: ascensions / median / mean score",),
        _challenge_words,
        "The Challenge's scores are the game's own at the end.",
    ),
    Rules(
        "NetPlay",
        ("NetPlay: score", "depth", "experience level", "turns"),
        _netplay_words,
        "NetPlay's figures are means of each episode's highest value ± sample standard deviation; it plays "
        "Valkyries only.",
        "netplay",
        ("score", "depth", "experience_level", "turns"),
    ),
    Rules(
        "NetHack Learning Dataset",
        ("NLD: mean score",),
        _dataset_words,
        "NLD's figures are means over 10 trainings of 1,024 episodes each ± the standard deviation between "
        "trainings, with a fixed number of episodes from each of the games played side by side: the first "
        "ones to finish would favour short games. A run here plays the games that were planned.",
        "nld",
        ("score",),
    ),
)
