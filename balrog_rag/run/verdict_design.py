"""`limits.until=verdict`: play runs in equal blocks, and stop one when its comparison is decided.

After each block, which must have ended completely, every run is compared with the baseline. A look may spend
only a part of the 5 % (`results.statistics.sequential`), divided by the number of comparisons. Looks happen
only between blocks: episodes that happen to end first are not a random sample.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results import experiments, planned_looks, run_folder, sweeps
from balrog_rag.results.episodes import Episode
from balrog_rag.results.planned_looks import FILE, LOOKS, RecordedLook
from balrog_rag.results.run_folder import journal_path, resume_with
from balrog_rag.results.runs import load
from balrog_rag.results.tally import read_episode
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.scheduler import Tally

if TYPE_CHECKING:
    from balrog_rag.results.statistics.sequential import PlannedLook

VERDICT = "verdict"
FEWEST = LOOKS
"""Fewest episodes per task, so that each block has one."""


class VerdictDesign:
    """Decides after each block which runs play on. Every run calls `blocks` and ends by `leave`."""

    def __init__(self, runs: Sequence[PlannedRun], baseline: PlannedRun | None, against: Path | None) -> None:
        """The baseline is one of the runs, or the folder of a finished run."""
        self._runs = {run.label: run for run in runs}
        self._baseline = baseline
        self._theirs = load(against).episodes if against is not None else []
        home = baseline.folder if baseline is not None else against
        self._digest = run_folder.frozen_config(home).digest if home is not None else ""
        self._family = len(runs) - (baseline is not None)
        self._playing = set(self._runs)
        self._waiting: dict[str, asyncio.Future[bool]] = {}
        self._complete: dict[str, bool] = {}
        self._before: PlannedLook | None = None
        self._block = 0
        self.notes: dict[str, list[str]] = {label: [] for label in self._runs}

    async def play(
        self, run: PlannedRun, play: Callable[[Sequence[EpisodeSpec]], Awaitable[None]], tally: Tally
    ) -> None:
        """Play the run's blocks until its comparison is decided."""
        try:
            for block in blocks(run.specs):
                await play(block)
                ended = all(spec.episode in tally.ended for spec in block)
                if not await self._continues(run.label, ended):
                    return
        finally:
            await self._leave(run.label, complete=tally.complete)

    async def _continues(self, label: str, complete: bool) -> bool:
        """Wait until all runs have played this block; return whether this one plays on."""
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[label], self._complete[label] = turn, complete
        await self._look_if_all()
        return await turn

    async def _leave(self, label: str, complete: bool) -> None:
        """Do not wait for this run any longer."""
        self._playing.discard(label)
        self._waiting.pop(label, None)
        self._complete[label] = complete
        await self._look_if_all()

    async def _look_if_all(self) -> None:
        if not self._waiting or self._playing - self._waiting.keys():
            return
        waiting, self._waiting = self._waiting, {}
        self._block += 1
        decided: set[str] = set()
        # A failed or stopped episode would make the others a sample of those that did not fail.
        if all(self._complete.values()):
            decided = await asyncio.to_thread(self._decided)
        open_arms = self._playing - decided
        if self._baseline is not None:
            open_arms.discard(self._baseline.label)
        for label, turn in waiting.items():
            turn.set_result(bool(open_arms) and label not in decided)

    def _decided(self) -> set[str]:
        """Compare every run that plays with the baseline; return those whose comparison is decided."""
        from balrog_rag.results.comparing import judged  # loads numpy, which most runs do without
        from balrog_rag.results.statistics.sequential import look

        theirs = self._episodes(self._baseline) if self._baseline else self._theirs
        arms = [run for label, run in self._runs.items() if label in self._playing and run != self._baseline]
        found, now = set(), self._before
        for run in arms:
            ours = self._episodes(run)
            names = run.label or run.folder.name, self._baseline.label if self._baseline else "baseline"
            made = judged(ours, planned_looks.shared(ours, theirs), names, family=self._family)
            now = look(made.claim_p, self._block, LOOKS, self._before, self._family)
            if now.clear:
                found.add(run.label)
            if now.clear or self._block == LOOKS:
                word = "decided" if now.clear else "undecided"
                self.notes[run.label].append(
                    f"{word} at look {self._block} of {LOOKS}, after {len(ours):,} of {len(run.specs):,} "
                    f"episodes; {made.sentence}"
                )
            said = RecordedLook(
                len(ours), len(run.specs), made.claim_p, now.allowed, now.clear, made.sentence,
                self._digest, self._family,
            )  # fmt: skip
            self._write(run, said)
        self._before = now
        return found

    def _episodes(self, run: PlannedRun) -> list[Episode]:
        """The episodes of the blocks played so far."""
        specs = [spec for block in list(blocks(run.specs))[: self._block] for spec in block]
        read = [read_episode(journal_path(run.folder, spec.episode)) for spec in specs]
        return [episode for episode in read if episode is not None]

    def _write(self, run: PlannedRun, said: RecordedLook) -> None:
        earlier = planned_looks.recorded(run.folder) if self._block > 1 else []
        run_folder.write_json(run.folder / FILE, [*earlier[: self._block - 1], said])


def blocks(specs: Sequence[EpisodeSpec]) -> Iterator[list[EpisodeSpec]]:
    """Split the plan into equal shares of every task."""
    named = {spec.episode: spec for spec in specs}
    for block in planned_looks.blocks(list(named)):
        yield [named[name] for name in block]


def design_of(runs: Sequence[PlannedRun]) -> VerdictDesign | None:
    """The design of runs that are played together; None if they play all their episodes.

    That includes runs whose baseline is played in another group, by other runner settings.
    """
    if runs[0].config.limits.until != VERDICT:
        return None
    against = runs[0].config.limits.against
    if against is not None:
        return VerdictDesign(runs, None, _finished(Path(against).expanduser()))
    top = runs[0].folder.parent
    experiment, sweep = experiments.of_sweep(top), sweeps.read(top)
    wanted = experiment.baseline if experiment is not None else ""
    if runs[0].label and not wanted and sweep.runs:
        wanted = sweep.runs[0].name
    baseline = next((run for run in runs if run.label and run.label == wanted), None)
    return VerdictDesign(runs, baseline, None) if baseline is not None and len(runs) > 1 else None


def check_design(runs: Sequence[PlannedRun]) -> None:
    """Refuse runs that cannot be compared with their baseline block by block; nothing is written."""
    for run in runs:
        limits = run.config.limits
        if limits.against is not None and limits.until != VERDICT:
            raise ConfigError("limits.against: only used with limits.until=verdict; add it, or leave it out")
    if not runs or runs[0].config.limits.until != VERDICT:
        return
    if runs[0].config.limits.against is None and len(runs) < 2:
        raise ConfigError(
            "limits.until=verdict: nothing to compare with; add limits.against=RUN, the folder of a finished "
            "run, or play a sweep or an experiment"
        )
    if runs[0].config.limits.against is not None:
        _finished(Path(runs[0].config.limits.against).expanduser())
    plans = [[(spec.episode, spec.game.env) for spec in run.specs] for run in runs]
    if any(plan != plans[0] for plan in plans):
        raise ConfigError("limits.until=verdict: the runs play different games, so no verdict is possible")
    tasks = {spec.episode.rpartition("/")[0] for spec in runs[0].specs}
    if len(runs[0].specs) < FEWEST * len(tasks):
        raise ConfigError(
            f"env.episodes: limits.until=verdict looks {LOOKS} times; plan at least {FEWEST} per task"
        )


def _finished(folder: Path) -> Path:
    """The folder of a run without open episodes."""
    if not (folder / run_folder.CONFIG).exists():
        raise RunFolderError(f"limits.against={folder}: not a run folder (no config.json)")
    if partial := load(folder).partial:
        raise RunFolderError(f"limits.against={folder}: {partial}; finish it with `{resume_with(folder)}`")
    return folder
