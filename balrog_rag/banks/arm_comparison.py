"""Compare a bank's arms: every state is a pair, since both arms begin at the same one."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from balrog_rag.banks.bank_arms import ARMS
from balrog_rag.banks.stored_bank import StoredBank
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.contracts.programs import plays
from balrog_rag.contracts.registry import nearest
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results.arms import run_folders
from balrog_rag.results.episodes import Episode
from balrog_rag.results.run_folder import resume_with
from balrog_rag.results.runs import LoadedRun, load
from balrog_rag.results.scoring import (
    PROGRESSION,
    Scale,
    bounds_by_env,
    count_lacking,
    figures_of,
    measures_of,
)
from balrog_rag.results.statistics.pairing import Pairs, match
from balrog_rag.results.statistics.pairing_gain import Pairing, pairings
from balrog_rag.results.statistics.units import Bounds, Score
from balrog_rag.results.statistics.verdict import Comparison, adjust, compare

SURVIVED = Scale(
    "survived",
    "survived",
    "points",
    lambda episode: 0.0 if episode.outcome == Outcome.DIED else 100.0,
    bounds=Bounds(binary=True),
)
"""100 for an episode that did not end in the player's death."""


class Horizon(NamedTuple):
    """How far an arm was played from each state."""

    steps: int | None
    unit: str

    def __str__(self) -> str:
        return "to the end" if self.steps is None else f"{self.steps:,} {self.unit}"


def loaded(stored: StoredBank, names: Sequence[str]) -> list[LoadedRun]:
    """Load the arms of these names, or all arms; refuse unfinished ones, and those played differently far."""
    top = stored.folder / ARMS
    if not top.is_dir():
        raise ConfigError(f"{stored.name}: has no arms; play some: {stored.command('play', '--arms', 'a,b')}")
    known = {folder.name: folder for folder in run_folders(top)}
    for name in names:
        if name not in known:
            raise ConfigError(f"{stored.name}: has no arm {name!r:.80}{nearest(name, known)}")
    arms = [load(known[name]) for name in names or known]
    if len(arms) < 2:
        raise ConfigError(f"{stored.name}: has one arm ({arms[0].name}); play another to compare it with")
    for arm in arms:
        _refuse_unfinished(arm)
    _refuse_mixed(arms)
    return arms


def _refuse_unfinished(arm: LoadedRun) -> None:
    if arm.partial or arm.problems:
        what = arm.partial or f"{len(arm.problems)} damaged journals"
        raise ConfigError(f"{arm.folder}: {what}; finish it first: {resume_with(arm.folder.parent)}")


def _refuse_mixed(arms: Sequence[LoadedRun]) -> None:
    """Refuse arms whose episodes ended at different horizons: which ends later would decide."""
    horizons = {arm.name: {horizon(spec) for spec in arm.forked} for arm in arms}
    if len(set.union(*horizons.values())) > 1:
        said = "; ".join(
            f"{name}: {', '.join(map(str, sorted(own, key=str)))}" for name, own in horizons.items()
        )
        raise ConfigError(
            f"arms were played differently far ({said}); compare arms with the same --steps in the same unit"
        )


def horizon(spec: EpisodeSpec) -> Horizon:
    """Return how far an episode of an arm is played from its state."""
    if spec.turns is not msgspec.UNSET:
        return Horizon(spec.turns, "turns")
    if spec.steps is None:
        return Horizon(None, "")
    unit = "key presses" if plays(str(spec.last_player.agent.get("name"))) else "agent steps"
    return Horizon(spec.steps - max((fork.at for fork in spec.forks), default=0), unit)


def compared(
    arms: Sequence[LoadedRun], measures: Sequence[Scale]
) -> list[tuple[str, Comparison, list[Pairing]]]:
    """Compare every further arm with the first one in each measure, corrected for their number."""
    first, *others = arms
    found = []
    for measure in measures:
        made = [_duel(other, first, measure, len(others)) for other in others]
        family = adjust([each for each, _ in made])
        names = [f"{other.name} against {first.name}" for other in others]
        found += [(name, each, gains) for name, each, (_, gains) in zip(names, family, made, strict=True)]
    return found


def _duel(
    ours: LoadedRun, theirs: LoadedRun, measure: Scale, family: int
) -> tuple[Comparison, list[Pairing]]:
    mine, yours = (_scores(arm.episodes, measure) for arm in (ours, theirs))
    bounds = bounds_by_env(sorted({score.env for score in mine}), measure)
    made = compare(mine, yours, (ours.name, theirs.name), measure.name, measure.unit, bounds, family=family)
    matched = match(mine, yours)
    return made, pairings(matched, bounds) if isinstance(matched, Pairs) else []


def _scores(episodes: Sequence[Episode], measure: Scale) -> list[Score]:
    """Pair by state; states of one game or world are one draw."""
    return [
        Score(value, each.env, each.task, each.number, each.world_name or each.game_name)
        for each, value in zip(episodes, figures_of(episodes, measure).tolist(), strict=True)
    ]


def chosen_measures(arms: Sequence[LoadedRun], name: str) -> list[Scale]:
    """Return the measure of that name; without one, progression and survival."""
    envs = sorted({episode.env for arm in arms for episode in arm.episodes})
    dying = [env for env in envs if not kind_of(env).scoring.solved_or_not]
    if not name:
        return [PROGRESSION, *([SURVIVED] if dying else [])]
    known = {each.name: each for each in [*measures_of(envs), SURVIVED]}
    if name not in known:
        raise ConfigError(f"--measure {name}: unknown measure{nearest(name, known)}")
    if any(count_lacking(arm.episodes, known[name]) for arm in arms):
        raise ConfigError(f"--measure {name}: some journals do not contain it; it needs {known[name].needs}")
    return [known[name]]
