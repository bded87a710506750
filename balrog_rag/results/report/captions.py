"""What each figure of a report shows: quantity, test, number of episodes, interval."""

from collections.abc import Sequence

from balrog_rag.results.arms import Arm
from balrog_rag.results.report.figures import POINTS
from balrog_rag.results.statistics.comparison import Comparison
from balrog_rag.util.wording import joined_names


def captions(arms: Sequence[Arm], baseline: Arm, verdicts: Sequence[Comparison]) -> dict[str, str]:
    """The captions by the figures' names."""
    counts = ", ".join(f"{arm.name} {len(arm.episodes):,}" for arm in arms if arm.episodes)
    many = f"n episodes: {counts}."
    tests = joined_names(list(dict.fromkeys(made.test.method for made in verdicts if made.made)) or ["none"])
    return {
        "forest": (
            f"Difference of mean progression from {baseline.name} in points, with 95 % intervals, by arm "
            f"and, where there are several, by environment and task. Tests of arms: {tests}. Filled "
            "triangles: the difference of means is claimed; hollow ones: only that one arm scores higher "
            "more often; circles: undecided. A dotted line is an interval as wide as the scale."
        ),
        "scores": (
            f"Means (bars) with 95 % intervals, and episodes (points, at most {POINTS} per arm). {many}"
        ),
        "progress_over_steps": f"Mean progression over steps; ended episodes keep their last value. {many}",
        "progress_over_dollars": f"Mean progression over dollars; ended episodes keep their last. {many}",
        "scores_over_dollars": f"Mean progression with 95 % intervals over dollars per episode. {many}",
        "survival": (
            "Games alive (Kaplan and Meier; a game that a limit ended counts until then), and mean depth "
            f"reached, over game time. {many}"
        ),
        "outcomes": f"How episodes ended, in percent of episodes. {many}",
        "retrieval": f"Tokens by purpose of the call, and how often retrieval was used. {many}",
    }
