"""`--dry-run`: what the overrides would play and the maximum cost; nothing is played or written."""

from collections.abc import Sequence

from balrog_rag import agents
from balrog_rag.cli.sweep_plan import checked
from balrog_rag.config.frozen import leaf_items, plain
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results import terminal
from balrog_rag.results.experiments import departure, grouped
from balrog_rag.run.backend import PlannedRun
from balrog_rag.run.begin import checked_run, composed, is_sweep
from balrog_rag.run.new_folder import who_plays
from balrog_rag.run.plan import steps_of
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.util.wording import many

SHOWN_SEEDS = 3
HEADINGS = ("run", "player", "episodes", "max steps", "max dollars")


def dry_run(words: list[str], multirun: bool) -> int:
    """Make all checks of a real run and print the plan; return the exit code."""
    if any(word.startswith("resume=") for word in words):
        raise ConfigError("--dry-run: only valid for a new run; remove resume=")
    if multirun or is_sweep(None, words):
        _, runs = checked(words)
        title = str(runs[0].folder.parent)
    else:
        runs = [checked_run(composed(words))]
        title = str(runs[0].folder)
    print_plan(title, runs)
    return 0


def print_plan(title: str, runs: Sequence[PlannedRun]) -> None:
    """Print the runs as a table, then their games, limits and departures, and the maximum cost."""
    console = terminal.console()
    terminal.show_table(console, f"not played: {title}", HEADINGS, [cells(run) for run in runs], (0, 1))
    for line in [*_notes(runs), *costs(runs)]:
        terminal.say(console, terminal_safe(line))


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
    """The limits that are set."""
    found = [
        f"limits.{key}={value}" for key, value in leaf_items(plain(run.config.limits)) if value is not None
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
