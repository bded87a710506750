"""What a model adds to its actions: arms of an experiment against the floors that have the same actions."""

from collections.abc import Callable, Mapping, Sequence
from math import fsum

from balrog_rag.results.arms import Arm
from balrog_rag.results.comparing import duel
from balrog_rag.results.experiments import Experiment, find
from balrog_rag.results.report.document import Cell, Section, Table
from balrog_rag.results.statistics.comparison import Comparison
from balrog_rag.results.statistics.sentence import between, signed

HEADINGS = ("arm", "actions", "without a model", "with it", "the model adds", "95 % interval", "n")
NOTE = (
    "In points of progression. The floor is the better of the players without a model that have the same "
    "actions. It is chosen in the same games, so it is rather too high, and what the model adds too low."
)


def floors_section(arms: Sequence[Arm]) -> Section:
    """Return the headline of an experiment with floors; an empty section for others."""
    section = Section("What the model adds")
    experiment = experiment_of(arms, lambda found: bool(found.floors))
    if experiment is None:
        return section
    named = {run.name: arm for arm in arms for run in arm.runs}
    rows: list[list[Cell]] = []
    for column in experiment.floors:
        floor = _best(experiment, column, named)
        if floor is None:
            continue
        played = f"{floor.name}, n = {len(floor.episodes)}"
        alone = f'the actions "{column}" alone reach {_mean(floor):.2f} % ({played})'
        added = [
            duel(named[name], floor).whole
            for name in experiment.column(column)
            if name in named and named[name].episodes
        ]
        made = [each for each in added if each.made]
        section.sentences.append("; ".join([_capital(alone), *map(_adds, made)]) + ".")
        rows += [_row(each, column) for each in made]
    if rows:
        section.tables.append(Table(list(HEADINGS), rows, NOTE))
    return section


def experiment_of(arms: Sequence[Arm], wanted: Callable[[Experiment], bool]) -> Experiment | None:
    """Return the wanted experiment that these arms belong to, if there is one."""
    names = {str((run.config.get("run") or {}).get("experiment") or "") for arm in arms for run in arm.runs}
    described = [
        found for name in sorted(names - {""}) if (found := find(name)) is not None and wanted(found)
    ]
    return described[0] if described else None


def _best(experiment: Experiment, column: str, named: Mapping[str, Arm]) -> Arm | None:
    played = [named[name] for name in experiment.floors[column] if name in named and named[name].episodes]
    return max(played, key=_mean, default=None)


def _mean(arm: Arm) -> float:
    values = arm.episodes.arrays.numbers("progression").tolist()
    return 100 * fsum(values) / len(values)


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _adds(made: Comparison) -> str:
    return f"{made.ours} adds {signed(made.difference, made)} ({between(made)})"


def _row(made: Comparison, column: str) -> list[Cell]:
    return [
        *(made.ours, column, f"{made.their_mean:.2f}", f"{made.our_mean:.2f}"),
        *(signed(made.difference, made), between(made), str(made.our_count)),
    ]
