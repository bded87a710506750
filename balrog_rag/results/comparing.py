"""Arms against each other: one verdict on the average, one for each environment, one for each task."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest
from balrog_rag.results.arms import Arm, in_order, load_arms
from balrog_rag.results.episodes import Episode
from balrog_rag.results.scoring import PROGRESSION, Measure, bounds_by_env, measures_of, scores
from balrog_rag.results.statistics.verdict import Comparison, adjust, compare


class Duel(msgspec.Struct, frozen=True):
    """One arm against another: the verdict on their average, then by environment and by task."""

    whole: Comparison
    environments: dict[str, Comparison]
    tasks: dict[str, Comparison]

    @property
    def sentence(self) -> str:
        """The verdict on the average, in words."""
        return self.whole.sentence


def compared(paths: Sequence[Path], measure: str, wanted: float | None) -> tuple[list[Arm], Duel]:
    """The arms in two folders, and the verdict on them; a ConfigError where they cannot be compared."""
    arms = [one_arm(path) for path in paths]
    refuse_strangers(arms)
    envs = in_order(env for arm in arms for env in arm.by_env())
    measures = {each.name: each for each in measures_of(envs)}
    if measure not in measures:
        raise ConfigError(f"--measure {measure}: no such measure{nearest(measure, measures)}")
    return arms, duel(arms[0], arms[1], measures[measure], wanted)


def one_arm(path: Path) -> Arm:
    """The runs in this folder as one arm."""
    arms = load_arms([path])
    if len(arms) > 1:
        raise ConfigError(
            f"{path}: holds runs of {len(arms)} kinds; compare two, or use balrog_rag.report for all"
        )
    arms[0].name = arms[0].marked(path.resolve().name)
    return arms[0]


def refuse_strangers(arms: Sequence[Arm]) -> None:
    """Two arms without a task in common have nothing that could be compared."""
    ours, theirs = ({f"{episode.env}/{episode.task}" for episode in arm.episodes} for arm in arms)
    if ours and theirs and not ours & theirs:
        raise ConfigError(
            f"{arms[0].name} and {arms[1].name} share no task, so nothing can be compared: "
            f"{few(ours)} against {few(theirs)}"
        )


def few(tasks: set[str]) -> str:
    """Some of the names, and how many more there are."""
    named = sorted(tasks)
    return ", ".join(named[:2]) + (f" and {len(named) - 2} more" if len(named) > 2 else "")


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
