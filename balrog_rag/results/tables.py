"""A run's results on the terminal: scores with intervals, what they can show, what was left out."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from balrog_rag.results.breakdown import outcome_counts, retrieval_share
from balrog_rag.results.episodes import Episode
from balrog_rag.results.experiments import departure
from balrog_rag.results.scoring import interval, outlook, overall_interval
from balrog_rag.results.summary import Summary
from balrog_rag.results.terminal import say, show_table
from balrog_rag.util.wording import many

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_PROBLEMS = 10


def print_summary(summary: Summary, console: "Console") -> None:
    """Show a run's summary; words from journals are printed as they are, never as markup."""
    show_table(console, summary.run.name, HEADINGS, _scores(summary))
    if told := departure(summary.run.config):
        say(console, f"note: {told}.")
    for env, episodes in summary.run.by_env().items():
        say(console, f"{env}: {outlook(episodes)}")
        say(console, f"{env}: ended by {counted(outcome_counts(episodes))}")
    if share := retrieval_share(summary.run.episodes):
        say(
            console,
            f"retrieval: searched at {share.asked:.0%} of steps, {share.hit:.0%} of searches hit, "
            f"reference text in {share.used:.0%} of prompts; the calls made for it alone took "
            f"{share.token_share:.0%} of all tokens",
        )
    if not summary.run.episodes:
        say(console, "no finished episode yet.")
    _left_out(summary, console)


HEADINGS = ("task", "n", "progress %\n± SE", "95 %\ninterval", "steps", "tokens", "dollars")


def _scores(summary: Summary) -> list[list[str] | None]:
    rows: list[list[str] | None] = []
    by_env = summary.run.by_env()
    for env, episodes in by_env.items():
        tasks = summary.environments[env]["tasks"]
        for task, scored in tasks.items() if len(tasks) > 1 else ():
            played = [episode for episode in episodes if episode.task == task]
            rows.append([f"  {task.removesuffix('-v0')}", *_cells(played, scored)])
        alone = len(tasks) == 1 and len(summary.environments) == 1
        name = next(iter(tasks)).removesuffix("-v0") if alone else env
        rows.append([name, *_cells(episodes, summary.environments[env])])
    if len(by_env) > 1:
        rows += [None, ["average", *_average(summary)]]
    return rows


def _average(summary: Summary) -> list[str]:
    found, overall = overall_interval(summary.run.by_env()), summary.overall
    return [
        str(len(summary.run.episodes)),
        f"{overall['average_progress']:.2f} ± {overall['standard_error']:.2f}",
        f"{found.low:.2f} to {found.high:.2f}",
        *costs(summary.run.episodes),
    ]


def _cells(episodes: Sequence[Episode], scored: Mapping[str, Any]) -> list[str]:
    found = interval(episodes)
    return [
        str(len(episodes)),
        f"{scored['progression_percentage']:.2f} ± {scored['standard_error']:.2f}",
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
        say(
            console,
            f"{many(len(run.unfinished), 'episodes')} begun and not ended; go on with resume={run.folder}",
        )
    if run.problems:
        say(console, f"{many(len(run.problems), 'journals')} left out:")
    for problem in run.problems[:SHOWN_PROBLEMS]:
        say(console, f"  {problem.path}: {problem.what}")
    if len(run.problems) > SHOWN_PROBLEMS:
        say(console, f"  and {len(run.problems) - SHOWN_PROBLEMS} more")
