"""Play runs from Python and read their results."""

import asyncio
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from balrog_rag.config.own_files import quoted
from balrog_rag.config.plain_secrets import refuse_in_words
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.registry import nearest
from balrog_rag.episode import journal as journal_file
from balrog_rag.results import run_folder as folders
from balrog_rag.results.runs import load
from balrog_rag.results.summary import summarise, write_all
from balrog_rag.util.wording import many

if TYPE_CHECKING:
    from pandas import DataFrame

    from balrog_rag.api.given_objects import AgentLike, EnvLike, ModelLike
    from balrog_rag.api.run_pages import HtmlPage
    from balrog_rag.contracts.events import Event
    from balrog_rag.run.plan import PlannedRun as Begun
    from balrog_rag.run.user_watchers import WatcherLike

Place = str | os.PathLike[str]


def evaluate(
    *overrides: str,
    agent: "AgentLike | None" = None,
    env: "EnvLike | None" = None,
    model: "ModelLike | None" = None,
    episodes: int | None = None,
    folder: Place | None = None,
    watch: "Sequence[WatcherLike] | WatcherLike" = (),
    trust: bool = False,
) -> "Run":
    """Play a run, or resume one with the override `resume=RUN`, and return it.

    >>> run = evaluate(agent="naive", model="scripted", env="corridor", episodes=2)
    >>> run = evaluate("limits.steps=50", "run.seed=7", agent=MyAgent, model=MyModel(), watch=[print])
    >>> run = evaluate("resume=results/naive")

    Args:
        overrides: settings as `KEY=VALUE` or `GROUP=OPTION`, the same as for `balrog-rag run`.
        agent: a name, as in agent=NAME; a class or factory called with (config, view, llm, knowledge) for
            every episode; an object with `act` and `recall`, copied for every episode; or a ProgramKind.
        env: a preset such as "corridor"; a task as "ENV/TASK"; a list of tasks; or an
            EnvironmentKind, of which every task is played.
        model: a preset or registered name; a class or factory called with a ModelConfig; or an object with
            `complete(request)`, which is shared by all episodes and not closed.
        episodes: episodes per task.
        folder: the run folder to create; without it run.folder and run.name decide.
        watch: functions of one argument, or objects or classes with `see(event)`, that receive every event
            (balrog_rag.contracts.events); all are delivered before this returns.
        trust: resume a folder made by somebody else although its settings reach outside.

    Raises a ConfigError for what cannot begin. What keeps an episode from ending is not raised: it is in the
    run's `troubles`, and a warning. Where an event loop is running, as in a notebook, use `aevaluate`.
    """
    refuse_running_loop()
    playing = aevaluate(
        *overrides,
        agent=agent,
        env=env,
        model=model,
        episodes=episodes,
        folder=folder,
        watch=watch,
        trust=trust,
    )
    return asyncio.run(playing)


async def aevaluate(
    *overrides: str,
    agent: "AgentLike | None" = None,
    env: "EnvLike | None" = None,
    model: "ModelLike | None" = None,
    episodes: int | None = None,
    folder: Place | None = None,
    watch: "Sequence[WatcherLike] | WatcherLike" = (),
    trust: bool = False,
) -> "Run":
    """Play a run like `evaluate`, where an event loop is running already, as in a notebook.

    >>> run = await aevaluate(agent="naive", model="scripted", env="corridor", episodes=2)

    The arguments are those of `evaluate`.
    """
    from balrog_rag.api.given_objects import overrides_of, refuse_repeated

    keyword = [*overrides_of(agent, env, model, episodes), *placed(folder)]
    refuse_repeated(overrides, keyword)
    return await play(lambda: begin([*overrides, *keyword], trust), watch)


async def play(beginning: "Callable[[], Begun]", watch: "Sequence[WatcherLike] | WatcherLike" = ()) -> "Run":
    """Play the run that `beginning` creates, after checking the watchers."""
    from balrog_rag.cluster.choice import backend_of
    from balrog_rag.display.display import display
    from balrog_rag.run.attempt import attempt, play_together
    from balrog_rag.run.run import blames, troubles
    from balrog_rag.run.user_watchers import chosen_watchers

    watchers = chosen_watchers((), watch)
    begun = msgspec.structs.replace(beginning(), watch=watchers)
    with attempt(begun):
        outcome = (await play_together([begun], display, backend_of))[0]
        write_all(begun.folder)
    problems = [*troubles(outcome), *blames([outcome])]
    for line in problems:
        warnings.warn(line, stacklevel=3)
    return Run(begun.folder, problems)


def begin(words: list[str], trust: bool = False) -> "Begun":
    """Create the folder of the run that the overrides describe; several runs at once are refused."""
    from balrog_rag.results.stored_run import read_run
    from balrog_rag.run.begin import new_run, refuse_outside_player, resumed_run
    from balrog_rag.run.request import is_sweep, resumed_folder

    refuse_in_words(words)
    refuse_flags(words)
    folder, words = resumed_folder(words)
    if is_sweep(folder, words):
        raise ConfigError("these overrides mean several runs; play them with balrog_rag.sweep")
    if folder is None:
        return new_run(words)
    run = resumed_run(read_run(folder), words, trust)
    refuse_outside_player(run.config)
    return run


def refuse_flags(words: Sequence[str]) -> None:
    """Raise a ConfigError if a flag is among the overrides."""
    if flags := [word for word in words if word.startswith("-")]:
        raise ConfigError(f"{flags[0]}: a command-line flag; pass KEY=VALUE overrides")


def placed(folder: Place | None) -> list[str]:
    """Return the overrides that select a run folder."""
    if folder is None:
        return []
    path = Path(folder)
    return [f"run.folder={quoted(str(path.parent))}", f"run.name={quoted(path.name)}"]


def refuse_running_loop(instead: str = "aevaluate") -> None:
    """Raise a ConfigError with the remedy if an event loop is already running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    where = "an event loop is already running, as in a notebook"
    raise ConfigError(f"{where}; `await balrog_rag.{instead}(...)`")


class Run:
    """A run folder: results as data frames, episodes as events. It can be passed as a path."""

    def __init__(self, folder: Place, troubles: Sequence[str] = ()) -> None:
        """Open a run folder; raises RunFolderError if it is not one."""
        self.folder = Path(folder)
        self.troubles = list(troubles)
        """One line for each problem that kept an episode from ending, if this process played the run."""
        folders.frozen_config(self.folder)

    @property
    def config(self) -> dict[str, Any]:
        """The frozen configuration of the run."""
        return folders.frozen_config(self.folder).config

    @property
    def summary(self) -> dict[str, Any]:
        """The content of summary.json, recomputed from the journals."""
        return summarise(load(self.folder)).overall

    @property
    def episodes(self) -> "DataFrame":
        """A data frame with one row per finished episode."""
        from balrog_rag.results.frames import episodes

        return episodes(self.folder)

    @property
    def complete(self) -> bool:
        """Whether every planned episode has ended with a usable journal."""
        found = load(self.folder)
        return {episode.name for episode in found.episodes} >= set(self._planned())

    def journal(self, episode: str | int = 0) -> Path:
        """Return the path of an episode's journal, by its name in `episodes` or by its row number."""
        names = [found.name for found in load(self.folder).episodes]
        if isinstance(episode, int):
            if not -len(names) <= episode < len(names):
                raise ConfigError(f"{self.folder}: {len(names)} finished episodes, counted from 0")
            return folders.journal_path(self.folder, names[episode])
        path = folders.journal_path(self.folder, episode) if folders.is_episode(episode) else None
        if path is None or not journal_file.exists(path):
            raise ConfigError(f"{self.folder}: unknown episode {episode!r}{nearest(episode, names)}")
        return path

    def events(self, episode: str | int = 0) -> "Iterator[Event]":
        """Yield every event of an episode, by replaying it."""
        from balrog_rag.api.event_stream import events

        return events(self.journal(episode))

    def steps(self, episode: str | int = 0) -> "DataFrame":
        """Return a data frame with one row per step of an episode."""
        from balrog_rag.results.frames import steps

        return steps(self.journal(episode))

    def resume(self, *overrides: str, watch: "Sequence[WatcherLike] | WatcherLike" = ()) -> "Run":
        """Resume it, with the changes that a resume allows; in a notebook `await run.aresume()`."""
        return evaluate(f"resume={self.folder}", *overrides, watch=watch)

    async def aresume(self, *overrides: str, watch: "Sequence[WatcherLike] | WatcherLike" = ()) -> "Run":
        """Resume it where an event loop is running already."""
        return await aevaluate(f"resume={self.folder}", *overrides, watch=watch)

    def fork(
        self,
        at: int,
        *overrides: str,
        folder: Place,
        episode: str | int = 0,
        watch: "Sequence[WatcherLike] | WatcherLike" = (),
        trust: bool = False,
    ) -> "Run":
        """Play an episode again from step `at` on, with another agent or model, as a new run.

        >>> other = run.fork(12, "agent=robust_cot", folder="results/forked")

        Args:
            at: the first step that the new player decides.
            overrides: what the new player departs in; the game cannot change.
            folder: the run folder to create.
            episode: its name in `episodes`, or its row number.
            watch: what `evaluate` takes.
            trust: accept a run folder made by somebody else.

        In a notebook `await run.afork(...)`.
        """
        refuse_running_loop("Run.afork")
        forking = self.afork(at, *overrides, folder=folder, episode=episode, watch=watch, trust=trust)
        return asyncio.run(forking)

    async def afork(
        self,
        at: int,
        *overrides: str,
        folder: Place,
        episode: str | int = 0,
        watch: "Sequence[WatcherLike] | WatcherLike" = (),
        trust: bool = False,
    ) -> "Run":
        """Fork an episode where an event loop is running already; the arguments are those of `fork`."""
        from balrog_rag.run.fork_plan import planned_fork

        refuse_in_words(overrides)
        refuse_flags(overrides)
        journal = self.journal(episode)
        return await play(lambda: planned_fork(journal, at, Path(folder), [*overrides], trust), watch)

    def report(
        self,
        *others: Place,
        out: Place | None = None,
        title: str | None = None,
        baseline: str | None = None,
        partial: bool = False,
    ) -> "HtmlPage":
        """Write a report on this run and others, verdicts first; the result shows itself in a notebook.

        >>> run.report("results/other").notes    # the verdicts

        Args:
            others: further run folders, or folders of run folders.
            out: folder to write; without it reports/NAME.
            title: heading of the page.
            baseline: the arm to compare with; without it the first.
            partial: include verdicts for runs with open or missing episodes.
        """
        from balrog_rag.api.run_pages import beside, write_run_report

        folders = [self.folder, *map(Path, others)]
        name = "+".join(dict.fromkeys(folder.resolve().name for folder in folders))[:80]
        place = beside(out, Path("reports") / name)
        return write_run_report(folders, place, title or name, baseline, partial)

    def view(self, episode: str | int | None = None, out: Place | None = None) -> "HtmlPage":
        """Write the viewer's page: every episode, or one, step by step with prompts and answers.

        `out` is the file to write, without it view.html in the run folder (NAME.view.html for one episode). A
        notebook shows the result in place.
        """
        from balrog_rag.api.run_pages import beside, write_view

        if episode is None:
            return write_view([self.folder], beside(out, self.folder / "view.html"))
        journal = self.journal(episode)
        return write_view([journal], beside(out, self.folder / f"{journal.name.partition('.')[0]}.view.html"))

    def verify(self) -> list[str]:
        """Replay every episode without a model and compare each prompt and screen with the journal.

        Returns one line for each journal that differs; an empty list if all are equal.
        """
        from balrog_rag.api.run_pages import differences

        return differences(folders.journals(self.folder))

    def _planned(self) -> list[str]:
        from balrog_rag.results.stored_run import read_run
        from balrog_rag.run.resume import specs_of

        return [spec.episode for spec in specs_of(read_run(self.folder))]

    def __fspath__(self) -> str:
        return str(self.folder)

    def _repr_html_(self) -> str:
        """The results as a table, in a notebook."""
        from balrog_rag.api.run_pages import summary_html

        return summary_html(self.folder, self.troubles)

    def __repr__(self) -> str:
        found = load(self.folder)
        summary = summarise(found).overall
        around = f", {found.partial}" if found.partial else f" ± {summary['standard_error']:.2f}"
        figure = f"progression {summary['average_progress']:.2f} %{around}"
        return f"<Run {self.folder}: {many(len(found.episodes), 'episodes')} ended, {figure}>"
