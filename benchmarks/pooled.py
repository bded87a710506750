"""How often the pooled intervals of a report hold the truth: `PYTHONPATH=. python benchmarks/pooled.py`.

Each repeat draws the true effects of 3 to 8 tasks, plays both arms of every task, and pools the estimates
by `results/statistics/pooled.py`. `mean` is the share of intervals that contain the true mean effect, `next`
the share of prediction intervals that contain the effect of another task. Scores are normal, or skewed
(exponential).
"""

import argparse

import numpy as np

from balrog_rag.results.statistics.pooled import pooled

TASKS = (3, 4, 5, 6, 8)
SPREADS = (0.0, 2.0, 10.0)
"""Standard deviations of the true effects, in points; a score's is 10."""
EPISODES = ((5, 5), (20, 20), (5, 50))
"""Episodes per arm of a task: drawn between these."""
EFFECT = 3.0
SCORE_SPREAD = 10.0


def drawn(luck: np.random.Generator, mean: float, count: int, skewed: bool) -> np.ndarray:
    """The scores of one arm on one task."""
    noise = luck.exponential(size=count) - 1 if skewed else luck.standard_normal(count)
    return mean + SCORE_SPREAD * noise


def coverage(
    tasks: int, spread: float, episodes: tuple[int, int], skewed: bool, repeats: int
) -> tuple[float, float]:
    """The shares of intervals of the mean, and of prediction intervals, that hold the truth."""
    luck = np.random.default_rng([tasks, int(spread), *episodes, skewed])
    held = ahead = 0
    for _ in range(repeats):
        effects, errors = [], []
        for _ in range(tasks):
            true, count = (
                EFFECT + spread * luck.standard_normal(),
                int(luck.integers(episodes[0], episodes[1] + 1)),
            )
            ours, theirs = (drawn(luck, mean, count, skewed) for mean in (true, 0.0))
            effects.append(float(ours.mean() - theirs.mean()))
            errors.append(float(np.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / count)))
        found = pooled(effects, errors)
        assert found is not None
        held += found.low <= EFFECT <= found.high
        ahead += found.next_low <= EFFECT + spread * luck.standard_normal() <= found.next_high
    return held / repeats, ahead / repeats


def main() -> None:
    """Print one line per design, and the least coverage of all."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=2000)
    repeats, least = options.parse_args().repeats, 1.0
    print("scores   episodes  spread  " + "  ".join(f"{count} tasks: mean next" for count in TASKS))
    for skewed in (False, True):
        for episodes in EPISODES:
            for spread in SPREADS:
                found = [coverage(count, spread, episodes, skewed, repeats) for count in TASKS]
                least = min(least, *(mean for mean, _ in found))
                cells = "  ".join(f"         {mean:6.1%} {ahead:5.1%}" for mean, ahead in found)
                kind = "skewed" if skewed else "normal"
                print(f"{kind}   {episodes[0]:>2} to {episodes[1]:<3} {spread:>5.0f}  {cells}", flush=True)
    print(f"least coverage of the mean: {least:.1%} (standard error {np.sqrt(0.95 * 0.05 / repeats):.1%})")


if __name__ == "__main__":
    main()
