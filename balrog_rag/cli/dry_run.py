"""`--dry-run`: what the overrides would play and cost; no model is called, nothing fetched or written."""

import asyncio
from collections.abc import Iterable, Sequence

from balrog_rag import agents
from balrog_rag.cli.estimate_lines import all_estimated, estimates
from balrog_rag.cli.sweep import print_arm_notes
from balrog_rag.config.frozen import leaf_items, plain
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results import terminal
from balrog_rag.results.experiments import departure, grouped
from balrog_rag.run.begin import composed, previewed, previewed_run
from balrog_rag.run.needs import unmet_by_services
from balrog_rag.run.new_folder import who_plays
from balrog_rag.run.plan import PlannedRun, steps_of
from balrog_rag.run.request import is_sweep
from balrog_rag.run.sweep_plan import checked_sweep
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.util.wording import many

SHOWN_SEEDS = 3
HEADINGS = ("run", "player", "episodes", "max steps", "max dollars")


def dry_run(words: list[str], multirun: bool) -> int:
    """Print the plan and what it would cost; return the exit code. Keys, extras and texts may be missing."""
    if any(word.startswith("resume=") for word in words):
        raise ConfigError("--dry-run: only valid for a new run; remove resume=")
    if multirun or is_sweep(None, words):
        print_arm_notes(words)
        _, runs = checked_sweep(words, previewed)
        title = str(runs[0].folder.parent)
    else:
        runs = [previewed_run(composed(words))]
        title = str(runs[0].folder)
    print_plan(title, runs)
    print_lines([*estimates(runs, asyncio.run(all_estimated(runs))), *costs(runs), *lacking(runs)])
    return 0


def print_plan(title: str, runs: Sequence[PlannedRun]) -> None:
    """Print the runs as a table, then their games, limits and departures."""
    console = terminal.console()
    terminal.show_table(console, f"not played: {title}", HEADINGS, [cells(run) for run in runs], (0, 1))
    print_lines(_notes(runs))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines without cutting them to the terminal's width."""
    console = terminal.console()
    for line in lines:
        terminal.say(console, terminal_safe(line))


def lacking(runs: Sequence[PlannedRun]) -> list[str]:
    """What must be set, installed or fetched before the runs can be played, each need once."""
    needs = dict.fromkeys(need for run in runs for need in unmet_by_services(run.config))
    return [f"before it can be played: {need}" for need in needs]


def _notes(runs: Sequence[PlannedRun]) -> list[str]:
    """Notes on the runs, with the names of the runs concerned unless it is all of them."""
    found = []
    for what in (games, limits, departures):
        said = [what(run) for run in runs]
        together = len(set(said)) == 1
        found += said[:1] if together else grouped(zip([run.label for run in runs], said, strict=True))
    return [line for line in found if line]


def cells(run: PlannedRun) -> list[str]:
    """One row of the table."""
    bound = most_dollars(run)
    return [
        run.label or run.folder.name,
        who_plays(run.config),
        f"{len(run.specs):,}",
        f"{sum(map(steps_of, run.specs)):,}",
        "no cap" if bound is None else f"{bound:,.2f}",
    ]


def games(run: PlannedRun) -> str:
    """Number of episodes per task, with the first seeds."""
    seeds: dict[str, list[int]] = {}
    for spec in run.specs:
        seeds.setdefault(spec.episode.rpartition("/")[0], []).append(spec.game.seeds.core)
    return "; ".join(
        f"{many(len(own), 'episodes')} of {task}, {'seed' if len(own) == 1 else 'seeds'} "
        + ", ".join(map(str, own[:SHOWN_SEEDS]))
        + (", ..." if len(own) > SHOWN_SEEDS else "")
        for task, own in seeds.items()
    )


def limits(run: PlannedRun) -> str:
    """The limits that are set; `until=plan` is none."""
    unset = (None, "plan")
    found = [
        f"limits.{key}={value}" for key, value in leaf_items(plain(run.config.limits)) if value not in unset
    ]
    return " ".join(found)


def departures(run: PlannedRun) -> str:
    """How a run of an experiment departs from that experiment."""
    return departure(plain(run.config))


def most_dollars(run: PlannedRun) -> float | None:
    """Maximum cost of the run by its caps; None if it is unbounded."""
    config = run.config
    if not agents.asks_model(config.agent) or config.model.backend != "litellm":
        return 0.0
    caps = (config.limits.run.dollars, config.limits.episode.dollars)
    bounds = [cap * times for cap, times in zip(caps, (1, len(run.specs)), strict=True) if cap is not None]
    return min(bounds) if bounds else None


def costs(runs: Sequence[PlannedRun]) -> list[str]:
    """Notes on the maximum cost."""
    bounds = [most_dollars(run) for run in runs]
    if None in bounds:
        return ["dollars: no cap; set one per run with limits.run.dollars=..."]
    if any(bounds):
        total = sum(bound for bound in bounds if bound is not None)
        return [f"at most ${total:,.2f} in total, plus the calls in flight when a cap is reached"]
    return ["no paid model is called"]
