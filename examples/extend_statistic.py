"""Two statistics: a figure of every episode, and one figure of all episodes together.

python examples/extend_statistic.py [KEY=VALUE ...]
"""

import statistics
import sys
from collections.abc import Sequence

import balrog_rag
from balrog_rag.contracts.statistics import EpisodeResult, Statistic


def repetition(episode: EpisodeResult) -> float | None:
    """The share of the most frequent action; unknown for an episode without an action."""
    taken = sum(episode.actions.values())
    return 100 * max(episode.actions.values()) / taken if taken else None


def median_steps(episodes: Sequence[EpisodeResult]) -> float:
    """The median length of an episode."""
    return statistics.median(episode.steps for episode in episodes)


REPETITION = Statistic(
    name="repetition",
    title="share of the most frequent action",
    unit="points",
    episode=repetition,
    high=100.0,
)
MEDIAN_STEPS = Statistic(name="median_steps", title="median steps", unit="steps", episodes=median_steps)
balrog_rag.register.statistic(REPETITION)
balrog_rag.register.statistic(MEDIAN_STEPS)


def main(*overrides: str) -> None:
    """Play two agents, print both statistics of each, and compare one of them."""
    words = {word.partition("=")[0]: word for word in ("env.episodes=6", "limits.steps=20", *overrides)}
    runs = [balrog_rag.evaluate(*words.values(), agent=name, env="corridor") for name in ("random", "dummy")]
    for run in runs:
        for kind, figures in run.summary["statistics"].items():
            for figure in figures.values():
                value = figure["mean"] if "mean" in figure else figure["value"]
                print(f"{run.config['agent']['name']}, {kind}: {figure['title']}: {value:.1f}")
    print(balrog_rag.compare(*runs, measure="repetition").sentence)


if __name__ == "__main__":
    main(*sys.argv[1:])
