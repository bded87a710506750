"""Write a report's folder: page, figures, and the data behind them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest
from balrog_rag.results import run_folder
from balrog_rag.results.arms import Arm
from balrog_rag.results.coded_values import Coded
from balrog_rag.results.episode_table import (
    TableColumn,
    kinds_of,
    plain,
    require_parquet,
    tables_of,
    write_tables,
)
from balrog_rag.results.report.content import Findings, judge, page
from balrog_rag.results.report.document import Section
from balrog_rag.results.report.episode_pages import EpisodePages
from balrog_rag.results.report.figures import FORMATS, draw_all, saved
from balrog_rag.results.report.forest import forest_figure, forest_rows
from balrog_rag.results.report.html import html
from balrog_rag.results.report.latex import bibtex, latex
from balrog_rag.results.report.markdown import markdown
from balrog_rag.results.statistics.comparison import Comparison
from balrog_rag.results.stored_sequence import together


class ReportExtras(msgspec.Struct):
    """Additional sections of a report, and the figures that they use."""

    sections: list[Section] = []
    figures: dict[str, Any] = {}


KINDS = ("html", "md", "tex", *FORMATS, "csv", "parquet")


def write_report(
    arms: list[Arm], out: Path, title: str, baseline: str | None = None,
    kinds: Sequence[str] = KINDS, wanted: float | None = None, beside: ReportExtras | None = None,
    pages: EpisodePages | None = None,
) -> Findings:  # fmt: skip
    """Write a report on these arms into the folder `out`; return the findings."""
    if "parquet" in kinds:
        require_parquet()
    found = judge(arms, pick(arms, baseline), wanted)
    beside = beside or ReportExtras()
    shown = {"html", "md", *FORMATS} & set(kinds)
    figures = figures_of(found) | beside.figures if shown else {}
    pictures = [kind for kind in FORMATS if kind in kinds or (kind == "png" and "md" in kinds)]
    embedded = ["svg"] if "html" in kinds else []
    encoded = {name: encode(figure, {*pictures, *embedded}) for name, figure in figures.items()}
    files = write_figures(encoded, out, pictures)
    made = page(found, title, pages or EpisodePages(out), list(figures))
    made.sections += beside.sections
    if "html" in kinds:
        svgs = {name: formats["svg"] for name, formats in encoded.items()}
        run_folder.write_bytes(out / "report.html", html(made, svgs).encode("utf-8", "replace"))
    if "md" in kinds:
        run_folder.write_bytes(out / "report.md", markdown(made, files).encode("utf-8", "replace"))
    if "tex" in kinds:
        run_folder.write_bytes(out / "tables.tex", latex(made).encode("utf-8", "replace"))
        envs = [env for arm in arms for env in arm.by_env()]
        run_folder.write_bytes(out / "references.bib", bibtex(envs).encode("utf-8"))
    write_data(found, out, kinds)
    return found


def figures_of(found: Findings) -> dict[str, Any]:
    """Every figure that there are data for, by name."""
    forest = forest_figure(forest_rows(found.verdicts, found.parts), found.baseline.name)
    return ({} if forest is None else {"forest": forest}) | draw_all(found.arms)


def pick(arms: Sequence[Arm], name: str | None) -> Arm:
    """Return the named arm, or the first one, as the baseline."""
    if not arms:
        raise ConfigError("no runs to report on; pass a run folder")
    for arm in arms:
        if name in (None, arm.name, arm.plain):
            return arm
    raise ConfigError(f"--baseline {name}: unknown arm{nearest(str(name), [arm.name for arm in arms])}")


def encode(figure: Any, kinds: Iterable[str]) -> dict[str, bytes]:
    """Return a figure in these formats, each made once: a figure takes longer than the page."""
    return {kind: saved(figure, kind) for kind in kinds}


def write_figures(encoded: dict[str, dict[str, bytes]], out: Path, kinds: Sequence[str]) -> dict[str, str]:
    """Write every figure in every requested format; return the PNG of each, relative to `out`."""
    for name, formats in encoded.items():
        for kind in kinds:
            run_folder.write_bytes(out / "figures" / f"{name}.{kind}", formats[kind])
    return {name: f"figures/{name}.png" for name in encoded}


def write_data(found: Findings, out: Path, kinds: Sequence[str]) -> None:
    """Write every episode and every verdict as rows."""
    verdicts = [verdict_row(made) for made in found.verdicts]
    tables: dict[str, Iterable[Mapping[str, TableColumn]]] = {
        "episodes": episode_tables(found.arms),
        "verdicts": [{name: [each[name] for each in verdicts] for name in verdicts[0]}] if verdicts else [],
    }
    for name, made in tables.items():
        write_tables(out / name, made, kinds)


def episode_tables(arms: Sequence[Arm]) -> Iterator[dict[str, TableColumn]]:
    """The episodes of these arms, run by run."""
    kinds = kinds_of(together([arm.episodes for arm in arms]))
    for arm in arms:
        for run in arm.runs:
            for table in tables_of(run.episodes, kinds):
                alike = np.zeros(len(plain(table["episode"])), dtype=np.int64)
                yield {"arm": Coded(alike, [arm.name]), "run": Coded(alike, [run.name]), **table}


def verdict_row(made: Comparison) -> dict[str, Any]:
    """A verdict's numbers by name."""
    return {
        "arm": made.ours,
        "baseline": made.theirs,
        "measure": made.measure,
        "mean": made.our_mean,
        "baseline_mean": made.their_mean,
        "episodes": made.our_count,
        "baseline_episodes": made.their_count,
        "pairs": made.paired,
        "difference": made.difference,
        "low": made.interval.low,
        "high": made.interval.high,
        "interval_method": made.interval.method,
        "p": made.test.p,
        "p_holm": made.adjusted,
        "p_interval": made.doubt,
        "verdict": made.word,
        "test": made.test.method,
        "p_order": made.order_p,
        "order_test": made.order.method,
        "hedges_g": made.effect,
        "superiority": made.superiority,
        "detectable": made.detectable,
        "planned_difference": made.wanted,
        "episodes_needed": made.needed,
        "sentence": made.sentence,
    }
