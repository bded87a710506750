"""Runs in one process: their shared services, their episodes and their outcomes."""

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from typing import TextIO

import msgspec

from balrog_rag.config.schema import RunnerConfig
from balrog_rag.contracts.behaviour import Watcher
from balrog_rag.contracts.errors import BalrogError, DatasetError, PlayerFailed, RunFolderError
from balrog_rag.contracts.events import WatchedRun
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.episode import journal
from balrog_rag.models.budget import RunBudget, Spending
from balrog_rag.models.pace import Pace
from balrog_rag.models.prices import Prices
from balrog_rag.results.run_folder import frozen_config, journal_path
from balrog_rag.run.backend import Backend
from balrog_rag.run.capacity import capacity_notes, most_at_once
from balrog_rag.run.csv_log import CsvLog
from balrog_rag.run.episode_runner import JournaledPlayer
from balrog_rag.run.eval_log import EvalLog, silences
from balrog_rag.run.interrupts import NAMES, Interrupts
from balrog_rag.run.object_store import uploading
from balrog_rag.run.plan import PlannedRun, tasks_in
from balrog_rag.run.scheduler import EpisodeSlots, Tally, play_all
from balrog_rag.run.services import LiveServices
from balrog_rag.run.sharding import shard_notes, shards_in, shared_limits
from balrog_rag.run.shared_prefix import all_forked
from balrog_rag.run.user_watchers import chosen_watchers, isolated
from balrog_rag.run.verdict_design import VERDICT, VerdictDesign, design_of
from balrog_rag.run.watchers import CompositeWatcher, LabelledWatcher
from balrog_rag.util.garbage_collection import rare_collections
from balrog_rag.util.secrets import redact
from balrog_rag.util.terminal_safe import terminal_safe
from balrog_rag.util.wording import many


class InPlay:
    """The state of running runs that a display reads beside the events, without changing anything."""

    def __init__(
        self, runs: Sequence[PlannedRun], gate: EpisodeSlots, interrupts: Interrupts, backend: Backend
    ) -> None:
        self.runs, self.gate, self.interrupts = runs, gate, interrupts
        self.out: TextIO = sys.stdout
        """The real stdout: prints may be redirected meanwhile."""
        self.notes: list[str] = []
        """What the user should know about the models, e.g. that a price is unknown."""
        self.budgets: list[RunBudget] = []
        self.model_troubles: Callable[[], list[str]] = backend.troubles
        """Returns why models do not answer now."""
        self.live_retries: Callable[[], int] = backend.retried
        """Returns the number of retried attempts, including calls still without an answer."""
        self.paces: Callable[[], Sequence[Pace]] = backend.paces
        """Returns what limits the rate of calls."""
        self.watchers_off: list[str] = []
        """A line for each of the user's watchers that was switched off or missed events."""


Display = Callable[[InPlay], AbstractAsyncContextManager[Watcher]]
"""Shows runs while the body plays them; its watcher receives every event."""
BackendOf = Callable[[RunnerConfig, LiveServices], Backend]
"""Makes the back end that the runner settings choose."""


class RunOutcome(msgspec.Struct):
    """The outcome of a run."""

    tally: Tally
    signal: int | None = None
    notes: list[str] = []
    """What the user should know about the models, e.g. that a price is unknown."""
    stopped_by: str = ""
    """The signal or key by which the user stopped it."""
    spent: Spending | None = msgspec.field(default_factory=Spending)
    """Cost of all answers, including earlier attempts'; None: another process played the run."""
    not_counted: int = 0
    """Episodes of earlier attempts that this one did not reach: their calls are not in `spent`."""
    cut_off: int = 0
    """Calls without an answer that an immediate stop cancelled."""

    @property
    def exit_code(self) -> int:
        """0: every episode ended; 1: an error; 128 + n: stopped by signal n."""
        if self.signal is not None and not self.tally.complete:
            return 128 + self.signal
        return 0 if self.tally.complete and not self.all_crashed else 1

    @property
    def all_crashed(self) -> bool:
        """Whether a program crashed in every game, of a kind that scores crashed games."""
        ends = self.tally.ended.values()
        return bool(ends) and all(end.outcome == Outcome.CRASHED for end in ends)


async def play_runs(
    runs: Sequence[PlannedRun], services: LiveServices, display: Display, backend_of: BackendOf
) -> list[RunOutcome]:
    """Play runs concurrently, earlier runs' episodes first, all by the first run's runner settings."""
    runner = runs[0].config.runner
    if not any(run.specs for run in runs):  # shards of a short run: nothing is started for them
        return [RunOutcome(Tally(), notes=_shard_notes(run)) for run in runs]
    gate = EpisodeSlots(runner.concurrency, most_at_once())
    services.hold, services.shards = gate.hold, shards_in(runner)
    tallies = [Tally() for _ in runs]
    budgets = [
        RunBudget(shared_limits(run.config), prices=Prices.of_config(run.config.model)) for run in runs
    ]
    notes: list[list[str]] = [[] for _ in runs]
    with Interrupts(gate) as interrupts:
        backend = backend_of(runner, services)
        # Created before Ray starts, which redirects stdout: the display must keep the real one.
        playing = InPlay(runs, gate, interrupts, backend)
        playing.budgets.extend(budgets)
        try:
            async with AsyncExitStack() as stack:
                stack.push_async_callback(backend.close)
                # Before the display starts: downloads and index builds print progress to the free screen.
                notes = await backend.start(runs)
                notes[0] = [*_shard_notes(runs[0]), *capacity_notes(runner, runs, gate), *notes[0]]
                playing.notes.extend(dict.fromkeys(note for own in notes for note in own))
                watcher = await stack.enter_async_context(display(playing))
                interrupts.playing = True
                # Hundreds of episodes keep many objects alive: each full collection would stall all of them.
                stack.enter_context(rare_collections())
                design = design_of(runs)
                if design is None and runs[0].config.limits.until == VERDICT:
                    notes[0].append(
                        "limits.until=verdict: these runs play all their episodes, since they have other "
                        "runner settings than the baseline or are optional"
                    )
                async with asyncio.TaskGroup() as group:
                    for rank, (run, tally) in enumerate(zip(runs, tallies, strict=True)):
                        group.create_task(_play(run, rank, tally, backend, playing, watcher, design))
                if design is not None:
                    notes = [[*own, *design.notes[run.label]] for own, run in zip(notes, runs, strict=True)]
        # Our own second stop cancels this task; a cancellation from outside must propagate.
        except asyncio.CancelledError:
            if interrupts.signal is None:
                raise
            for run, tally in zip(runs, tallies, strict=True):
                _leave_open(run, tally)
        finally:  # only now: a dashboard would have covered these lines
            for line in playing.watchers_off:
                print(line, file=sys.stderr)
        interrupts.over()
        return [
            outcome(run, tally, budget, interrupts, [*own, *tally.notes, *recorded(run)])
            for run, tally, budget, own in zip(runs, tallies, budgets, notes, strict=True)
        ]


def _shard_notes(run: PlannedRun) -> list[str]:
    return shard_notes(run.config, len(run.specs), sum(task.episodes for task in tasks_in(run.config)))


def outcome(
    run: PlannedRun, tally: Tally, budget: RunBudget, interrupts: Interrupts, notes: list[str]
) -> RunOutcome:
    """Return the outcome of a run and what it cost."""
    # Their journals were not read, so what earlier attempts paid for them is unknown here.
    unread = [episode for episode in tally.open if not budget.knows(episode)]
    not_counted = sum(journal.exists(journal_path(run.folder, episode)) for episode in unread)
    return RunOutcome(
        tally,
        interrupts.signal,
        notes,
        interrupts.stopped_by,
        budget.total,
        not_counted,
        budget.cut_off if interrupts.signal is not None else 0,
    )


def recorded(run: PlannedRun) -> list[str]:
    """Put a run's recordings into their database; return notes on it."""
    if not run.config.run.ttyrec:
        return []
    from balrog_rag.run.episode_recordings import database_of

    try:
        return database_of(run.folder)
    except DatasetError as error:
        return [f"recordings: {error}"]


async def _play(
    run: PlannedRun,
    rank: int,
    tally: Tally,
    backend: Backend,
    playing: InPlay,
    watcher: Watcher,
    design: VerdictDesign | None,
) -> None:
    """Play one of the runs, with its own budget and files."""
    budget = playing.budgets[rank]
    try:
        with EvalLog(run.folder) as log, CsvLog(run.folder) as csv:

            def switched_off(line: str, trace: str) -> None:
                log.watcher_off(line, trace)
                playing.watchers_off.append(
                    terminal_safe(redact(f"{run.label}: {line}" if run.label else line))
                )

            chosen = chosen_watchers(run.config.run.watch, run.watch)
            async with isolated(chosen, switched_off, watched(run) if chosen else None) as theirs:
                # The run's own files come first: an answer is on disk before a display can fail.
                files = run.config.run
                own: list[Watcher] = [log, csv] if files.csv and not files.pack else [log]
                shown = LabelledWatcher(run.label, watcher) if run.label else watcher
                every = CompositeWatcher([*own, shown, *theirs])
                player = backend.player(run, budget, every, stopping(playing.gate, tally))
                playing.interrupts.on_terminal_closed(log.terminal_closed)
                async with (
                    uploading(run, tally.notes) as uploads,
                    silences(log, lambda: backend.trouble(run)),
                ):
                    if isinstance(player, JournaledPlayer):
                        player.keep(files.pack, uploads)
                        await player.report_ended(run.specs, tally.ended)
                    order = None if all_forked(run.specs) else rank
                    play = partial(
                        play_all, player=player, gate=playing.gate, tally=tally, watcher=every, rank=order
                    )
                    await (design.play(run, play, tally) if design is not None else play(run.specs))
    except RunFolderError as error:  # its own files cannot be opened; the other runs continue
        tally.fatal = error
        _leave_open(run, tally)


def watched(run: PlannedRun) -> WatchedRun:
    """Return what watchers are told about a run."""
    frozen = frozen_config(run.folder)
    planned = {spec.episode: spec.digest for spec in run.specs}
    return WatchedRun(run.folder, frozen.config, frozen.digest, planned, run.label)


def stopping(gate: EpisodeSlots, tally: Tally) -> Callable[[], bool]:
    """Return a callback that is true once all runs stop, or this one."""
    return lambda: gate.stopping or tally.fatal is not None


def _leave_open(run: PlannedRun, tally: Tally) -> None:
    """Count the episodes of a run that were cut off."""
    known = {*tally.ended, *tally.failed, *tally.open}
    tally.open.extend(spec.episode for spec in run.specs if spec.episode not in known)


def not_played(
    run: PlannedRun, number: int | None = signal.SIGINT, by: str = NAMES[signal.SIGINT]
) -> RunOutcome:
    """Return the outcome of a run that was stopped before it could start."""
    episodes = [spec.episode for spec in run.specs]
    written = sum(journal.exists(journal_path(run.folder, episode)) for episode in episodes)
    return RunOutcome(Tally(open=episodes), number, stopped_by=by, not_counted=written)


def could_not_begin(run: PlannedRun, error: BalrogError) -> RunOutcome:
    """Return the outcome of a run whose model or index could not be started."""
    planned = not_played(run, None, "")
    planned.tally.fatal = error
    return planned


def troubles(outcome: RunOutcome) -> list[str]:
    """Return one line for each problem that kept an episode from ending."""
    tally = outcome.tally
    lines = [f"note: {note}" for note in outcome.notes]
    failed = sorted(tally.failed.items())
    lines += [f"error: {name}: {error}" for name, error in failed if not isinstance(error, PlayerFailed)]
    if by_player := sum(isinstance(error, PlayerFailed) for _, error in failed):
        lines.append(
            f"{by_player} of {many(len(tally.ended) + len(failed), 'episodes')} failed in the agent's code "
            "and have no score; eval.log in the run folder has the tracebacks"
        )
    if outcome.all_crashed:
        lines.append(
            "error: the program crashed in every game; eval.log in the run folder has the exceptions"
        )
    if tally.fatal is not None:
        lines.append(f"error: the run was stopped: {tally.fatal}")
    if outcome.stopped_by:
        lines.append(f"stopped by {outcome.stopped_by}; every answer received is saved")
    if tally.open:
        verb = "is" if len(tally.open) == 1 else "are"
        lines.append(f"{many(len(tally.open), 'episodes')} {verb} not finished")
    return [redact(line) for line in lines]


def blames(outcomes: Sequence[RunOutcome]) -> list[str]:
    """Return one line for each place where agent code failed, shown last on the terminal."""
    errors = [error for outcome in outcomes for _, error in sorted(outcome.tally.failed.items())]
    lines = dict.fromkeys(f"error: {error.blame}" for error in errors if isinstance(error, PlayerFailed))
    return [redact(line) for line in list(lines)[:MOST_BLAMES]]


MOST_BLAMES = 10
"""Places in agent code that a terminal shows; the log has all of them."""


def costs(outcomes: Sequence[RunOutcome]) -> str:
    """Describe what runs have spent in total."""
    spent = Spending()
    for one in outcomes:
        spent.add(one.spent or Spending())
    not_counted, cut_off = sum(one.not_counted for one in outcomes), sum(one.cut_off for one in outcomes)
    line = spent.in_words()
    if not_counted:
        line += f"; without {many(not_counted, 'episodes')} of earlier attempts that were not reached"
    if cut_off:
        calls = "1 call that was" if cut_off == 1 else f"up to {cut_off:,} calls that were"
        line += f"; the provider may also bill {calls} cut off"
    return line
