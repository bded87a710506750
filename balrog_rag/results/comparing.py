"""Compare arms: one verdict on the average, one per environment, one per task."""

from collections.abc import Collection, Sequence
from math import inf, isnan
from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest
from balrog_rag.results.arms import Arm, by_env, differences, in_order, load_arms
from balrog_rag.results.breakdown import never_searched
from balrog_rag.results.comparability import different_conditions
from balrog_rag.results.episode_arrays import arrays_of
from balrog_rag.results.episodes import Episode, EpisodeSequence
from balrog_rag.results.planned_looks import decided_look, stopped_by_verdict
from balrog_rag.results.recorded_provenance import different_packages
from balrog_rag.results.scoring import PROGRESSION, Scale, bounds_by_env, count_lacking, measures_of, scores
from balrog_rag.results.statistics.sentence import between, signed
from balrog_rag.results.statistics.verdict import Comparison, adjust, compare
from balrog_rag.results.user_statistics import across_episodes, of_episodes
from balrog_rag.util.shell_commands import command

LEAST_DIFFERENCE = 1e-6
"""The smallest difference that episodes are planned for."""


class ArmComparison(msgspec.Struct, frozen=True):
    """A comparison of two arms: the verdict on their average, then by environment and by task."""

    whole: Comparison
    environments: dict[str, Comparison]
    tasks: dict[str, Comparison]
    different_packages: list[str] = []
    """Packages of which the two arms used other versions, such as `numpy 1.26.4 against 2.1.0`."""

    @property
    def sentence(self) -> str:
        """The verdict on the average, in words."""
        return self.whole.sentence


def compared(
    paths: Sequence[Path], measure: str, wanted: float | None, partial: bool = False
) -> tuple[list[Arm], ArmComparison]:
    """Load the arms in two folders and compare them; raises ConfigError if they cannot be compared."""
    refuse_difference(wanted)
    arms = [one_arm(path, partial) for path in paths]
    refuse_disjoint_tasks(arms)
    envs = in_order(env for arm in arms for env in arm.by_env())
    measures = {each.name: each for each in measures_of(envs)}
    if measure in [one.name for one in across_episodes(envs)]:
        raise ConfigError(
            f"--measure {measure}: one figure of all episodes, which cannot be tested; leave --measure "
            "out to see it in the table of statistics"
        )
    if measure not in measures:
        raise ConfigError(f"--measure {measure}: unknown measure{nearest(measure, measures)}")
    for arm in arms:
        if lacking := count_lacking(arm.episodes, measures[measure]):
            raise ConfigError(
                f"--measure {measure}: {lacking} of {len(arm.episodes)} journals of {arm.name} "
                f"do not contain it; it needs {measures[measure].needs}"
            )
    verdict = duel(arms[0], arms[1], measures[measure], wanted)
    different = different_packages(*([folder for run in arm.runs for folder in run.folders] for arm in arms))
    return arms, msgspec.structs.replace(verdict, different_packages=different)


def refuse_difference(wanted: float | None) -> None:
    """Reject a difference that no number of episodes can be planned for; None means that none was given."""
    if wanted is not None and not (LEAST_DIFFERENCE <= wanted < inf):
        raise ConfigError(
            f"--detect {wanted:g}: expected a number of at least {LEAST_DIFFERENCE:f}; "
            "pass the difference to plan episodes for, e.g. 5"
        )


def one_arm(path: Path, partial: bool = False) -> Arm:
    """Load the runs in a folder, which must form a single arm."""
    arms = load_arms([path], partial=partial)
    if len(arms) > 1:
        keys = [key for key, _ in differences([arm.settings for arm in arms])]
        raise ConfigError(
            f"{path}: contains {len(arms)} arms, which differ in {few(keys)}; pass the folder of one, "
            f"or compare them with {command('report', path)}"
        )
    arms[0].name = arms[0].marked(path.resolve().name)
    return arms[0]


def refuse_disjoint_tasks(arms: Sequence[Arm]) -> None:
    """Raise an error if two arms have no task in common."""
    ours, theirs = (
        {
            f"{env}/{task}"
            for env, episodes in arm.by_env().items()
            for task, _ in episodes.arrays.task.counted()
        }
        for arm in arms
    )
    if ours and theirs and not ours & theirs:
        raise ConfigError(
            f"{arms[0].name} and {arms[1].name} share no task, so nothing can be compared: "
            f"{few(ours)} against {few(theirs)}"
        )


def few(tasks: Collection[str]) -> str:
    """List some of the names, and the number of the others."""
    named = sorted(tasks)
    return ", ".join(named[:2]) + (f" and {len(named) - 2} more" if len(named) > 2 else "")


def duel(ours: Arm, theirs: Arm, measure: Scale = PROGRESSION, wanted: float | None = None) -> ArmComparison:
    """Compare two arms; differences are ours minus theirs."""
    names = (ours.name, theirs.name)
    if ours.withheld or theirs.withheld:
        return ArmComparison(_without_partial(ours, theirs, measure, wanted), {}, {})
    our_episodes, their_episodes = comparable(ours, theirs)
    our_envs, their_envs = by_env(our_episodes), by_env(their_episodes)
    shared = [env for env in our_envs if env in their_envs]
    known: dict[tuple[int, int], Comparison] = {}

    def verdict(mine: Sequence[Episode], yours: Sequence[Episode]) -> Comparison:
        """The verdict on a part of the episodes; a part as large as the whole is the whole."""
        sizes = len(mine), len(yours)
        if sizes == (len(our_episodes), len(their_episodes)) and sizes in known:
            return known[sizes]
        known[sizes] = judged(mine, yours, names, measure, wanted)
        return known[sizes]

    whole = verdict(our_episodes, their_episodes)
    environments = {env: verdict(our_envs[env], their_envs[env]) for env in shared}
    tasks = {
        f"{env}/{task}": verdict(mine, yours)
        for env in shared
        for task, mine, yours in _by_task(our_envs[env], their_envs[env])
    }
    return ArmComparison(noting_conditions(whole, ours, theirs), environments, tasks)


def duel_parts(ours: Arm, theirs: Arm) -> dict[str, Comparison]:
    """Compare two arms by environment and by task, where there are several."""
    if ours.withheld or theirs.withheld:
        return {}
    mine, yours = map(by_env, comparable(ours, theirs))
    names, shared = (ours.name, theirs.name), [env for env in mine if env in yours]
    found: dict[str, Comparison] = {}
    for env in shared:
        if len(shared) > 1:
            found[env] = judged(mine[env], yours[env], names, plan=False)
        tasks = _by_task(mine[env], yours[env])
        for task, one, other in tasks if len(tasks) > 1 else ():
            found[f"{env}/{task}"] = judged(one, other, names, plan=False)
    return found


def noting_conditions(made: Comparison, ours: Arm, theirs: Arm) -> Comparison:
    """Add a note on the conditions in which the arms differ."""
    note = different_conditions(ours.runs, theirs.runs)
    return msgspec.structs.replace(made, notes=(note, *made.notes)) if note else made


def _without_partial(ours: Arm, theirs: Arm, measure: Scale, wanted: float | None) -> Comparison:
    """The verdict on arms with open or missing episodes: only one that stopped its run by design is made."""
    names = (ours.name, theirs.name)
    stop = decided_look(ours, theirs) if measure.name == PROGRESSION.name else None
    if stop is not None:
        made = judged(stop.ours, stop.theirs, names, wanted=wanted, family=stop.family)
        if made.claim_p <= stop.allowed:
            noted = msgspec.structs.replace(made, notes=(stop.note, *made.notes))
            return noting_conditions(noted, ours, theirs)
    stopped = any(stopped_by_verdict(run) for arm in (ours, theirs) for run in arm.runs)
    why = WITHHELD.format("balrog-rag resume RUN limits.until=plan" if stopped else "balrog-rag resume RUN")
    return msgspec.structs.replace(compare([], [], names, measure.name, measure.unit), why=why, notes=())


WITHHELD = (
    "the ended episodes are not a random sample of those planned; finish the run with {}, or pass --partial"
)


def comparable(ours: Arm, theirs: Arm) -> tuple[Sequence[Episode], Sequence[Episode]]:
    """Select comparable episodes; if either arm is partial, only games that both have finished."""
    mine, yours = all_comparable((ours, theirs))
    return mine, yours


def all_comparable(arms: Sequence[Arm]) -> list[EpisodeSequence]:
    """Select comparable episodes of any number of arms."""
    if not any(arm.partial for arm in arms):
        return [arm.episodes for arm in arms]
    played = [arm.episodes.arrays.games for arm in arms]
    finished = set.intersection(*({*games.values} for games in played))
    kept = finished.difference(*(run.open_games() for arm in arms for run in arm.runs))
    return [
        arm.episodes.take(games.mapped(kept.__contains__).array().nonzero()[0])
        for arm, games in zip(arms, played, strict=True)
    ]


def judged(
    ours: Sequence[Episode], theirs: Sequence[Episode], names: tuple[str, str],
    measure: Scale = PROGRESSION, wanted: float | None = None, family: int = 1, plan: bool = True,
) -> Comparison:  # fmt: skip
    """The verdict on two sets of episodes, in a family of `family` comparisons."""
    envs = sorted({env for arm in (ours, theirs) for env, _ in arrays_of(arm).env.counted()})
    bounds = bounds_by_env(envs, measure)
    mine, yours = scores(ours, measure), scores(theirs, measure)
    made = compare(mine, yours, names, measure.name, measure.unit, bounds, wanted, family=family, plan=plan)
    warned = [
        f"{name}: {note}"
        for name, arm in zip(names, (ours, theirs), strict=True)
        if (note := never_searched(arm))
    ]
    return msgspec.structs.replace(made, notes=(*made.notes, *warned))


def compared_statistics(ours: Arm, theirs: Arm) -> list[list[str]]:
    """One row per user-defined statistic and kind of game: figures, difference, interval, p."""
    if ours.withheld or theirs.withheld:
        return []
    mine, yours = map(by_env, comparable(ours, theirs))
    rows = []
    for env in (env for env in mine if env in yours):
        for measure in (each for each in measures_of([env]) if each.of_user):
            rows.append([env, measure.title, *_tested(mine[env], yours[env], measure)])
        for one in across_episodes([env]):
            rows.append(
                [
                    env,
                    one.title or one.name,
                    *_untested(of_episodes(one, mine[env]), of_episodes(one, yours[env])),
                ]
            )
    return rows


def _tested(ours: Sequence[Episode], theirs: Sequence[Episode], measure: Scale) -> list[str]:
    if count_lacking([*ours, *theirs], measure):
        return ["unknown"] * 2 + [""] * 3
    made = judged(ours, theirs, ("A", "B"), measure)
    figures = [f"{made.our_mean:.2f}", f"{made.their_mean:.2f}", signed(made.difference, made)]
    return [*figures, between(made), f"{made.test.p:.2g}"]


def _untested(ours: float, theirs: float) -> list[str]:
    figures = ["unknown" if isnan(each) else f"{each:.2f}" for each in (ours, theirs)]
    return [*figures, "" if isnan(ours - theirs) else f"{ours - theirs:+.2f}", "no test", ""]


def _by_task(
    ours: EpisodeSequence, theirs: EpisodeSequence
) -> list[tuple[str, EpisodeSequence, EpisodeSequence]]:
    mine, yours = ours.arrays.task, theirs.arrays.task
    tasks = sorted({task for task, _ in mine.counted()} & {task for task, _ in yours.counted()})
    return [(task, ours.take(mine.where(task)), theirs.take(yours.where(task))) for task in tasks]


def against_baseline(arms: Sequence[Arm], baseline: Arm, wanted: float | None = None) -> list[Comparison]:
    """Compare every other arm with the baseline, with Holm's correction for their number."""
    others = [arm for arm in arms if arm is not baseline]
    return adjust([_whole(arm, baseline, wanted, len(others)) for arm in others])


def _whole(ours: Arm, theirs: Arm, wanted: float | None, family: int) -> Comparison:
    names = (ours.name, theirs.name)
    if ours.withheld or theirs.withheld:
        return _without_partial(ours, theirs, PROGRESSION, wanted)
    made = judged(*comparable(ours, theirs), names, wanted=wanted, family=family)
    return noting_conditions(made, ours, theirs)
