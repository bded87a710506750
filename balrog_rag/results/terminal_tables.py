"""A run's results on the terminal: scores with intervals, detectable differences, omissions."""

from collections.abc import Mapping, Sequence
from math import isnan
from statistics import fmean
from typing import TYPE_CHECKING, Any

from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.outcome import in_words
from balrog_rag.results.breakdown import never_searched, outcome_counts, retrieval_share
from balrog_rag.results.coded_values import summed
from balrog_rag.results.episode_arrays import arrays_of
from balrog_rag.results.episodes import Calls, Episode
from balrog_rag.results.experiments import departure
from balrog_rag.results.run_folder import resume_with
from balrog_rag.results.runs import LoadedRun
from balrog_rag.results.scoring import (
    count_lacking,
    figures_of,
    interval,
    measures_of,
    outlook,
    overall_interval,
)
from balrog_rag.results.statistics.estimate import NOTHING, Interval
from balrog_rag.results.summary import Summary, overall_summary
from balrog_rag.results.terminal import say, show_table
from balrog_rag.results.user_statistics import across_episodes, of_episodes
from balrog_rag.util.wording import many, short_number

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_PROBLEMS = 10


def print_summary(summary: Summary, console: "Console") -> None:
    """Print a run's summary; text from journals is printed literally, never as markup."""
    title = f"{summary.run.name} ({summary.run.partial})" if summary.run.partial else summary.run.name
    show_table(console, title, HEADINGS, score_rows(summary))
    if note := departure(summary.run.config):
        say(console, f"note: {note}.")
    for env in oracle_envs(summary.run):
        say(console, f"note: {env}: this player is an oracle: it is given what no other player sees.")
    for env, episodes in summary.run.by_env().items():
        say(console, f"{env}: {outlook(episodes, summary.run.partial)}")
        say(console, f"{env}: ends: {counted(outcome_counts(episodes))}")
        for note in _followed(env, episodes, not summary.run.partial):
            say(console, f"{env}: {note}")
    if warning := never_searched(summary.run.episodes):
        say(console, f"warning: {warning}.")
    elif share := retrieval_share(summary.run.episodes):
        say(
            console,
            f"retrieval: searched at {share.asked:.0%} of steps, {share.hit:.0%} of searches hit, "
            f"reference text in {share.used:.0%} of prompts; the calls made for it alone took "
            f"{share.token_share:.0%} of all tokens",
        )
    if not summary.run.episodes:
        say(console, "no finished episode yet.")
    _left_out(summary, console)


def _followed(env: str, episodes: Sequence[Episode], whole: bool) -> list[str]:
    """Other measures of the kind, or the number of journals that lack them."""
    notes = []
    for measure in measures_of([env]):
        if not measure.needs:
            continue
        if lacking := count_lacking(episodes, measure):
            notes.append(
                f"{measure.title}: unknown for {lacking:,} of {many(len(episodes), 'journals')}; "
                f"it needs {measure.needs}."
            )
        elif whole:
            mean, found = fmean(figures_of(episodes, measure).tolist()), interval(episodes, measure)
            around = f" ({found.low:.2f} to {found.high:.2f})" if found.known else ""
            notes.append(f"{measure.title}: {mean:.2f}{around}.")
    for one in across_episodes([env]) if whole else ():
        if not isnan(figure := of_episodes(one, episodes)):
            notes.append(f"{one.title or one.name}: {figure:.2f}.")
    return notes


HEADINGS = ("task", "n", "progress %\n± SE", "95 %\ninterval", "steps", "tokens", "dollars")


def score_rows(summary: Summary) -> list[list[str] | None]:
    """One row per environment and their average; for a single environment also one row per task."""
    rows: list[list[str] | None] = []
    by_env, whole = summary.run.by_env(), not summary.run.partial
    for env, episodes in by_env.items():
        scored, name = summary.environments[env], env
        if len(by_env) == 1:
            rows += _tasks(episodes, scored["tasks"], whole)
            name = env if rows else episodes[0].task.removesuffix("-v0")
        rows.append([name, *_cells(episodes, scored, whole)])
    if len(by_env) > 1:
        rows += [None, ["average", *_average(summary.run, by_env)]]
    oracles = oracle_envs(summary.run)
    if oracles and len(by_env) > len(oracles):
        rest = {env: episodes for env, episodes in by_env.items() if env not in oracles}
        rows.append([f"  without {', '.join(oracles)}", *_average(summary.run, rest)])
    return rows


def oracle_envs(run: LoadedRun) -> list[str]:
    """Return the environments in which the run's player is given what no other player sees."""
    player = str(run.config["agent"].get("name"))
    return [env for env in run.by_env() if player in kind_of(env).scoring.oracles]


def _tasks(episodes: Sequence[Episode], tasks: Mapping[str, Any], whole: bool) -> list[list[str]]:
    """One row per task, if there are several."""
    rows = []
    for task, scored in tasks.items() if len(tasks) > 1 else ():
        played = [episode for episode in episodes if episode.task == task]
        rows.append([f"  {task.removesuffix('-v0')}", *_cells(played, scored, whole)])
    return rows


def _average(run: LoadedRun, by_env: Mapping[str, Sequence[Episode]]) -> list[str]:
    overall = overall_summary(by_env)
    found = NOTHING if run.partial else overall_interval(by_env)
    episodes = [episode for own in by_env.values() for episode in own]
    return [
        str(len(episodes)),
        *estimated(overall["average_progress"], overall["standard_error"], found, not run.partial),
        *costs(episodes),
    ]


def estimated(mean: float, error: float, found: Interval, whole: bool = True) -> tuple[str, str]:
    """A mean and its interval as two cells; only the mean for an incomplete run."""
    if not whole:
        return f"{mean:.2f}", "–"
    return f"{mean:.2f} ± {error:.2f}", f"{found.low:.2f} to {found.high:.2f}"


def _cells(episodes: Sequence[Episode], scored: Mapping[str, Any], whole: bool) -> list[str]:
    found = interval(episodes) if whole else NOTHING
    mean, error = scored["progression_percentage"], scored["standard_error"]
    return [str(len(episodes)), *estimated(mean, error, found, whole), *costs(episodes)]


def costs(episodes: Sequence[Episode]) -> list[str]:
    """Steps, tokens and dollars of these episodes, as short texts."""
    arrays = arrays_of(episodes)
    whole = Calls(*(summed(arrays.total(field)) for field in Calls.__struct_fields__))
    return [f"{arrays.numbers('steps').sum():,}", tokens_of(whole), dollars_of(whole)]


def tokens_of(calls: Calls) -> str:
    """The tokens of these calls as a short text."""
    return "unknown" if calls.unseen else short_number(calls.tokens)


def dollars_of(calls: Calls) -> str:
    """What these calls cost as a short text; the mark means that some calls have no known price."""
    if calls.unseen and calls.unpriced == calls.count:
        return "unknown"
    return f"{calls.dollars:,.2f}" + ("+?" if calls.unpriced else "")


def counted(counts: Sequence[tuple[str, int]]) -> str:
    """Format counts as 'died 3, step limit 2'."""
    return ", ".join(f"{in_words(outcome)} {count}" for outcome, count in counts)


def _resuming(run: LoadedRun) -> str:
    return "resume its shards" if run.homes else f"resume: {resume_with(run.folder)}"


def _left_out(summary: Summary, console: "Console") -> None:
    run = summary.run
    if run.unfinished:
        say(
            console,
            f"{many(len(run.unfinished), 'episodes')} unfinished; {_resuming(run)}",
        )
    if run.cut:
        cut = f"{many(len(run.cut), 'episodes')} cut off by a cap of the run"
        say(console, f"{cut}; raise limits.run and {_resuming(run)}")
    if run.problems:
        say(console, f"{many(len(run.problems), 'journals')} left out:")
    for problem in run.problems[:SHOWN_PROBLEMS]:
        say(console, f"  {problem.path}: {problem.what}")
    if len(run.problems) > SHOWN_PROBLEMS:
        say(console, f"  and {len(run.problems) - SHOWN_PROBLEMS} more")
