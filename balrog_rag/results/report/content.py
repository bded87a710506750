"""The content of a report: a summary and verdicts first, then scores and details."""

from collections.abc import Mapping, Sequence

import msgspec

from balrog_rag.results.arms import Arm, departures
from balrog_rag.results.comparing import against_baseline, duel_parts
from balrog_rag.results.report.captions import captions
from balrog_rag.results.report.contrast_section import contrasts_section
from balrog_rag.results.report.details import (
    cost_section,
    ends_section,
    protocol_section,
    retrieval_section,
)
from balrog_rag.results.report.document import Cell, FigureCell, ReportPage, Section, Table, VerdictBox
from balrog_rag.results.report.episode_pages import EpisodePages
from balrog_rag.results.report.floors import floors_section
from balrog_rag.results.report.methods import methods_section
from balrog_rag.results.report.origins import episodes_section, provenance_section, settings_section
from balrog_rag.results.report.pooled_lines import METHOD, pooled_boxes
from balrog_rag.results.report.score_tables import scores_section
from balrog_rag.results.report.summary_card import summary_card
from balrog_rag.results.scoring import arm_outlook
from balrog_rag.results.served import served_difference
from balrog_rag.results.statistics.comparison import Comparison
from balrog_rag.results.statistics.sentence import between, p_text, signed
from balrog_rag.util.wording import joined_names

VERDICTS = ("on", "difference", "p", "test", "p (more often)", "effect g", "P(beats baseline)")
WITH_SCORES = ("scores", "progress", "survival")
"""Prefixes of the names of the figures shown beside the scores."""
VERDICT_CAPTION = (
    "Differences from {}, in points of progression, with 95 % intervals. Test: {}.{} P(beats baseline): the "
    "probability that an episode of the arm beats one of the baseline of the same task, ties counted half."
)
HOLM = (
    " p of each arm's first row is corrected by Holm's method over {} arms; its parts' p are not corrected."
)


class Findings(msgspec.Struct):
    """The arms, the baseline, and the verdicts on the others."""

    arms: list[Arm]
    baseline: Arm
    verdicts: list[Comparison]
    parts: list[dict[str, Comparison]] = []
    """For each verdict: the same comparison by environment and by task, where there are several."""

    @property
    def others(self) -> list[Arm]:
        """The arms with a verdict."""
        return [arm for arm in self.arms if arm is not self.baseline]


def judge(arms: list[Arm], baseline: Arm, wanted: float | None = None) -> Findings:
    """Compare every arm with the baseline."""
    parts = [duel_parts(arm, baseline) for arm in arms if arm is not baseline]
    return Findings(arms, baseline, against_baseline(arms, baseline, wanted), parts)


def page(found: Findings, title: str, pages: EpisodePages, figures: Sequence[str]) -> ReportPage:
    """Build the whole report, whose episodes link to `pages`."""
    sections = [
        contrasts_section(found.arms),
        floors_section(found.arms),
        verdict_section(found, [name for name in figures if name == "forest"]),
        scores_section(found.arms, [name for name in figures if name.startswith(WITH_SCORES)]),
        protocol_section(found.arms),
        cost_section(found.arms),
        ends_section(found.arms, found.baseline, [name for name in figures if name == "outcomes"]),
        retrieval_section(found.arms, [name for name in figures if name == "retrieval"]),
        methods_section(found.arms, found.verdicts),
        settings_section(found.arms),
        provenance_section(found.arms),
        episodes_section(found.arms, pages),
    ]
    shown = [section for section in sections if not section.empty]
    about = found.arms, found.baseline, found.verdicts
    return ReportPage(title, shown, summary_card(*about), captions(*about))


def verdict_section(found: Findings, figures: Sequence[str] = ()) -> Section:
    """Can the arms be distinguished, and could this design have done so?"""
    section = Section("Verdicts", [f"{departed}." for departed in departures(found.arms)], first=[*figures])
    if served := served_difference(found.arms):
        section.sentences.append(f"{served[0].upper()}{served[1:]}.")
    section.boxes += [box(verdict) for verdict in found.verdicts]
    if lines := pooled_boxes(found.verdicts, found.parts, found.arms):
        section.boxes += lines
        section.sentences.append(METHOD)
    notes = {note: [verdict.ours for verdict in found.verdicts if note in verdict.notes]
             for verdict in found.verdicts for note in verdict.notes}  # fmt: skip
    for note, names in notes.items():
        who = "all of these" if len(names) == len(found.verdicts) else ", ".join(names)
        section.sentences.append(f"Note on {who}: {note}.")
    if any(verdict.made for verdict in found.verdicts):
        section.tables.append(verdict_table(found))
    design = design_table(found.arms)
    if design.rows:
        section.tables.append(design)
    else:
        section.sentences.append(design.note)
    return section


def box(made: Comparison) -> VerdictBox:
    """The verdict as a box."""
    return VerdictBox(f"{made.ours} against {made.theirs}", made.word, made.sentence)


def verdict_table(found: Findings) -> Table:
    """Each arm against the baseline: on average, and by environment and task if there are several."""
    rows: list[list[Cell]] = []
    shown: list[Comparison] = []
    for verdict, parts in zip(found.verdicts, found.parts, strict=True):
        if verdict.made:
            each = {("average" if parts else _only_environment(found, verdict)): verdict} | parts
            rows += [_verdict_row(made, on) for on, made in each.items() if made.made]
            shown += [made for made in each.values() if made.made]
    tests = list(dict.fromkeys(made.test.method for made in shown))
    family = max((verdict.family for verdict in found.verdicts), default=1)
    caption = VERDICT_CAPTION.format(
        found.baseline.name, joined_names(tests), HOLM.format(family) if family > 1 else ""
    )
    if len(tests) == 1:  # the caption names it; an empty column is left out
        rows = [["" if cell in tests else cell for cell in row] for row in rows]
    return Table([f"against {found.baseline.name}", *VERDICTS], rows, caption=caption)


def _only_environment(found: Findings, verdict: Comparison) -> str:
    """Where a comparison without parts was made: the environment that both arms played."""
    ours = next(arm for arm in found.arms if arm.name == verdict.ours)
    shared = [env for env in ours.by_env() if env in found.baseline.by_env()]
    return shared[0] if len(shared) == 1 else "progression"


def _verdict_row(made: Comparison, on: str) -> list[Cell]:
    return [
        made.ours,
        on,
        FigureCell(signed(made.difference, made), between(made)),
        FigureCell(_bare(made.test.p), "" if made.adjusted is None else f"Holm {_bare(made.adjusted)}"),
        made.test.method,
        _bare(made.order_p),
        "" if made.effect is None else f"{made.effect:+.2f}",
        f"{made.superiority:.0%}",
    ]


def _bare(p: float) -> str:
    return p_text(p).removeprefix("p = ").removeprefix("p ")


DESIGN = (
    "What a run of this size can show: the difference that a comparison with another arm of the same size "
    "detects in 80 % of cases at p = 0.05, and the episodes per arm that would detect the difference that "
    "matters in this game."
)
UNPLANNED = "Cannot be planned, because the episodes are too few or too much alike: {}."


def design_table(arms: Sequence[Arm]) -> Table:
    """What each arm has shown, and could show."""
    rows: list[list[Cell]] = []
    notes: list[str] = []
    unplanned: list[str] = []
    for arm in arms:
        found = _design_rows(arm, notes)
        rows += [[arm.name, env, *cells] for env, cells in found.items() if cells[2:] != ["–", "–"]]
        if left := [env for env, cells in found.items() if "–" in cells[2:]]:
            unplanned.append(f"{arm.name} on {joined_names(left)}")
        if not arm.episodes:
            rows.append([arm.name, "", "no finished episode, no verdict.", "", "", ""])
    if unplanned:
        notes.append(UNPLANNED.format("; ".join(unplanned)))
    headings = ["arm", "on", "n", "progression, %", "detects, points", "episodes for"]
    return Table(headings, rows, " ".join(dict.fromkeys(notes)), caption=DESIGN)


def _design_rows(arm: Arm, notes: list[str]) -> Mapping[str, list[Cell]]:
    found: dict[str, list[Cell]] = {}
    for env, played in arm.by_env().items():
        seen = arm_outlook(played, arm.partial if arm.withheld else "")
        around = f"{seen.low:.2f} to {seen.high:.2f}" if seen.known else "of ended episodes"
        needed = "–" if seen.needed is None else f"{seen.needed:,} for {seen.aim:g}"
        found[env] = [
            f"{seen.count} {seen.things}",
            FigureCell(f"{seen.mean:.2f}", around),
            "–" if seen.detects is None else f"{seen.detects:.1f}",
            needed,
        ]
        if seen.note:
            notes.append(f"{arm.name}, {env}: {seen.note}")
    return found
