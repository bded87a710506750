"""A run's results on the terminal: scores with intervals, what they can show, what was left out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from balrog_rag.results.breakdown import outcome_counts, retrieval_share
from balrog_rag.results.episodes import Episode
from balrog_rag.results.scoring import interval, outlook, overall_interval
from balrog_rag.results.summary import Summary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SHOWN_PROBLEMS = 10


def print_summary(summary: Summary, console: "Console") -> None:
    """Show a run's summary; words from journals are printed as they are, never as markup."""
    console.print(_scores(summary))
    for env, episodes in summary.run.by_env().items():
        _line(console, f"{env}: {outlook(episodes)}")
        _line(console, f"{env}: ended by {counted(outcome_counts(episodes))}")
    if share := retrieval_share(summary.run.episodes):
        _line(
            console,
            f"retrieval: searched at {share.asked:.0%} of steps, {share.hit:.0%} of searches hit, "
            f"reference text in {share.used:.0%} of prompts; the calls made for it alone took "
            f"{share.token_share:.0%} of all tokens",
        )
    if not summary.run.episodes:
        _line(console, "no finished episode yet.")
    _left_out(summary, console)


def _scores(summary: Summary) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(printable(summary.run.name)),
        title_justify="left",
        box=SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1),
    )
    table.add_column("task", overflow="fold")
    for heading in ("n", "progress %\n± SE", "95 %\ninterval", "steps", "tokens", "dollars"):
        table.add_column(heading, justify="right", no_wrap=True)
    by_env = summary.run.by_env()
    for env, episodes in by_env.items():
        tasks = summary.environments[env]["tasks"]
        for task, scored in tasks.items() if len(tasks) > 1 else ():
            played = [episode for episode in episodes if episode.task == task]
            table.add_row(
                f"  {task.removesuffix('-v0')}",
                *_cells(played, scored["progression_percentage"], scored["standard_error"]),
            )
        whole = summary.environments[env]
        name = env if len(tasks) > 1 else next(iter(tasks)).removesuffix("-v0")
        table.add_row(name, *_cells(episodes, whole["progression_percentage"], whole["standard_error"]))
    if len(by_env) > 1:
        table.add_section()
        found = overall_interval(by_env)
        table.add_row(
            "average",
            str(len(summary.run.episodes)),
            f"{summary.overall['average_progress']:.2f} ± {summary.overall['standard_error']:.2f}",
            f"{found.low:.2f} to {found.high:.2f}",
            *costs(summary.run.episodes),
        )
    return table


def _cells(episodes: Sequence[Episode], mean: float, error: float) -> list[str]:
    found = interval(episodes)
    return [
        str(len(episodes)),
        f"{mean:.2f} ± {error:.2f}",
        f"{found.low:.2f} to {found.high:.2f}",
        *costs(episodes),
    ]


def costs(episodes: Sequence[Episode]) -> list[str]:
    """Steps, tokens and dollars of these episodes, as short texts."""
    totals = [episode.total for episode in episodes]
    tokens = sum(total.input + total.output for total in totals)
    unpriced = sum(total.unpriced for total in totals)
    dollars = sum(total.dollars for total in totals)
    return [
        f"{sum(episode.steps for episode in episodes):,}",
        short_number(tokens),
        f"{dollars:,.2f}" + ("+?" if unpriced else ""),
    ]


def short_number(value: float) -> str:
    """1234567 as 1.2M."""
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}{sign}"
    return f"{value:.0f}"


def counted(counts: Sequence[tuple[str, int]]) -> str:
    """'died 3, steps 2'."""
    return ", ".join(f"{word} {count}" for word, count in counts)


def _left_out(summary: Summary, console: "Console") -> None:
    run = summary.run
    if run.unfinished:
        _line(console, f"{len(run.unfinished)} episodes unfinished; go on with resume={run.folder}")
    if run.problems:
        _line(console, f"{len(run.problems)} journals left out:")
    for problem in run.problems[:SHOWN_PROBLEMS]:
        _line(console, f"  {problem.path}: {problem.what}")
    if len(run.problems) > SHOWN_PROBLEMS:
        _line(console, f"  and {len(run.problems) - SHOWN_PROBLEMS} more")


def _line(console: "Console", text: str) -> None:
    console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def printable(text: str) -> str:
    """The text without control characters, which a terminal might obey."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "?" for sign in text)
