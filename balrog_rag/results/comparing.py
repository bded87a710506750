"""Arms against each other: one verdict on the average, one for each environment, one for each task."""

from collections.abc import Sequence

import msgspec

from balrog_rag.results.arms import Arm
from balrog_rag.results.episodes import Episode
from balrog_rag.results.scoring import PROGRESSION, Measure, bounds_by_env, scores
from balrog_rag.results.statistics.verdict import Comparison, adjust, compare


class Duel(msgspec.Struct, frozen=True):
    """One arm against another: the verdict on their average, then by environment and by task."""

    whole: Comparison
    environments: dict[str, Comparison]
    tasks: dict[str, Comparison]


def duel(ours: Arm, theirs: Arm, measure: Measure = PROGRESSION, wanted: float | None = None) -> Duel:
    """Compare two arms; differences are ours less theirs."""
    names = (ours.name, theirs.name)
    our_envs, their_envs = ours.by_env(), theirs.by_env()
    shared = [env for env in our_envs if env in their_envs]
    environments = {env: judged(our_envs[env], their_envs[env], names, measure, wanted) for env in shared}
    tasks = {
        f"{env}/{task}": judged(mine, yours, names, measure, wanted)
        for env in shared
        for task, mine, yours in _by_task(our_envs[env], their_envs[env])
    }
    return Duel(judged(ours.episodes, theirs.episodes, names, measure, wanted), environments, tasks)


def judged(
    ours: Sequence[Episode], theirs: Sequence[Episode], names: tuple[str, str],
    measure: Measure = PROGRESSION, wanted: float | None = None, family: int = 1,
) -> Comparison:  # fmt: skip
    """The verdict on two sets of episodes, one of a family of so many."""
    envs = sorted({episode.env for episode in (*ours, *theirs)})
    bounds = bounds_by_env(envs, measure)
    mine, yours = scores(ours, measure), scores(theirs, measure)
    return compare(mine, yours, names, measure.name, measure.unit, bounds, wanted, family=family)


def _by_task(
    ours: Sequence[Episode], theirs: Sequence[Episode]
) -> list[tuple[str, list[Episode], list[Episode]]]:
    tasks = sorted({episode.task for episode in ours} & {episode.task for episode in theirs})
    return [
        (
            task,
            [episode for episode in ours if episode.task == task],
            [episode for episode in theirs if episode.task == task],
        )
        for task in tasks
    ]


def against_baseline(arms: Sequence[Arm], baseline: Arm, wanted: float | None = None) -> list[Comparison]:
    """Every other arm against the baseline, corrected for their number by Holm's method."""
    others = [arm for arm in arms if arm is not baseline]
    theirs, count = baseline.episodes, len(others)
    return adjust(
        [
            judged(arm.episodes, theirs, (arm.name, baseline.name), wanted=wanted, family=count)
            for arm in others
        ]
    )
