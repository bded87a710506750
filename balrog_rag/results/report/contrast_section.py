"""The headline of an experiment with contrasts, such as an interaction, and the effects behind it."""

from collections.abc import Mapping, Sequence

from balrog_rag.results.arms import Arm
from balrog_rag.results.comparing import duel
from balrog_rag.results.contrasts import ContrastResult, contrast_results
from balrog_rag.results.experiments import ExperimentContrast
from balrog_rag.results.report.document import Cell, FigureCell, Section, Table, VerdictBox
from balrog_rag.results.report.floors import experiment_of
from balrog_rag.results.statistics.sentence import between, signed

CAPTION = (
    "The effects that the interaction compares, in points of progression with 95 % intervals, over the games "
    "that both arms played."
)
LEFT_OUT = (
    "Contrasts of arms with open or missing episodes are left out; finish these runs, or pass --partial."
)


def contrasts_section(arms: Sequence[Arm]) -> Section:
    """Return the experiment's contrasts, the headline first; an empty section for others."""
    section = Section("What the experiment asks")
    experiment = experiment_of(arms, lambda found: bool(found.contrasts))
    if experiment is None:
        return section
    named = {run.name: arm for arm in arms for run in arm.runs}
    told = {run.name: run.episodes for arm in arms if not arm.withheld for run in arm.runs}
    found = contrast_results(experiment, told)
    if experiment.question:
        section.sentences.append(experiment.question)
    section.boxes += [contrast_box(result) for result in found]
    for result in found:
        contrast = experiment.contrasts[result.name]
        if len(contrast.plus) == len(contrast.minus) == 2:
            section.tables.append(_effects(contrast, named))
    if len(told) < len(named):
        section.sentences.append(LEFT_OUT)
    return section


def contrast_box(found: ContrastResult) -> VerdictBox:
    """A contrast as a verdict."""
    return VerdictBox(f"{found.name} ({found.says})", found.word, found.sentence)


def _effects(contrast: ExperimentContrast, named: Mapping[str, Arm]) -> Table:
    """The two differences whose difference is the interaction: (d - b) - (c - a)."""
    (d, a), (b, c) = contrast.plus, contrast.minus
    rows: list[list[Cell]] = []
    for ours, theirs in ((d, b), (c, a)):
        made = duel(named[ours], named[theirs]).whole
        rows.append(
            [
                f"{ours} minus {theirs}",
                f"{made.their_mean:.2f}",
                f"{made.our_mean:.2f}",
                FigureCell(signed(made.difference, made), between(made)),
                f"{made.paired or made.our_draws}",
            ]
        )
    return Table(["effect", "without, %", "with, %", "difference", "n"], rows, caption=CAPTION)
